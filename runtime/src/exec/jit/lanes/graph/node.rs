//! What a graph is made of.

use iced_x86::{Code, RoundingControl};

/// The result of a node: sixteen words, or sixteen bits of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

impl Value {
    /// The result of the node with a number.
    pub fn of(index: usize) -> Self {
        Value(index as u32)
    }

    /// The number of the node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The column of a row, as it was before a segment.
    Row(u32, usize),
    /// The same word in all lanes.
    Splat(u32),
    /// A set of lanes that the machine keeps, as it was before a segment.
    Set(u16, usize),
    /// The same lanes always, and how many nodes there were before.
    Lanes(u16, usize),
    /// Words of a window of memory at an offset, after a number of stores.
    Memory(usize, i32, usize),
    /// An instruction.
    Operation(Operation),
}

/// An instruction of the host without its registers: the result, then `arguments`, then `immediate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Which.
    pub code: Code,
    /// What it reads.
    pub arguments: [Option<Value>; 3],
    /// The lanes in which it does what it does. Where there are arguments to choose from, the second is taken in these.
    pub mask: Option<Value>,
    /// The last operand.
    pub immediate: Option<u8>,
    /// Where not to the nearest.
    pub rounding: RoundingControl,
    /// Whether the result is a mask.
    pub is_mask: bool,
}

/// What the bits of a word are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of them matter.
    Word,
    /// A float: all NaNs are one.
    Float,
    /// Two halves: all NaNs are one.
    Halves,
}

/// How a float is compared.
#[derive(Clone, Copy, Debug)]
pub enum Ordering {
    /// `a == b`.
    Equal = 0,
    /// `a != b`, or a NaN.
    Different = 4,
    /// `a < b`.
    Less = 0x11,
    /// `a <= b`.
    LessOrEqual = 0x12,
    /// `a < b` or `a > b`.
    Apart = 12,
    /// A NaN.
    Unordered = 3,
}

/// How an integer is compared.
#[derive(Clone, Copy, Debug)]
pub enum Relation {
    /// `a == b`.
    Equal = 0,
    /// `a < b`.
    Less = 1,
    /// `a <= b`.
    LessOrEqual = 2,
    /// `a != b`.
    Different = 4,
}

/// A comparison of two integers.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// How they compare.
    pub relation: Relation,
    /// Whether they have signs.
    pub signed: bool,
    /// The integers.
    pub sides: [Value; 2],
}

impl Comparison {
    /// Whether it holds for two words.
    pub fn holds(&self, [a, b]: [u32; 2]) -> bool {
        // Words with signs are in the order of words without when their highest bit is flipped.
        let [a, b] = [a, b].map(|word| if self.signed { word ^ 1 << 31 } else { word });
        match self.relation {
            Relation::Equal => a == b,
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Different => a != b,
        }
    }
}

/// Which way a word is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shifted {
    /// Up.
    Left,
    /// Down, zeros coming in.
    Right,
    /// Down, copies of the sign coming in.
    Arithmetic,
}

/// Words that are stored to memory.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The number of nodes before it.
    pub behind: usize,
    /// The window that it goes to.
    pub window: usize,
    /// Its offset from the address of a lane, in bytes.
    pub offset: i32,
    /// The words.
    pub value: Value,
}

impl Node {
    /// Whether its result is a mask.
    pub fn is_mask(&self) -> bool {
        matches!(self, Node::Operation(Operation { is_mask: true, .. }) | Node::Set(..) | Node::Lanes(..))
    }

    /// What it depends on.
    pub fn arguments(&self) -> impl Iterator<Item = Value> + use<> {
        let (arguments, mask) = match self {
            Node::Operation(Operation { arguments, mask, .. }) => (*arguments, *mask),
            _ => Default::default(),
        };
        arguments.into_iter().chain([mask]).flatten()
    }
}

/// Which nodes are the same in all warps and at all times: constants, what else is `given`, and what is computed from these.
pub fn fixed(nodes: &[Node], given: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut fixed: Vec<bool> = nodes.iter().map(|node| matches!(node, Node::Splat(_)) || given(node)).collect();
    for (index, node) in nodes.iter().enumerate() {
        if let Node::Operation(operation) = node {
            fixed[index] = !operation.is_mask && node.arguments().all(|argument| fixed[argument.index()]);
        }
    }
    fixed
}

/// The columns of a table of three bits, as [`Graph::logic`](super::Graph::logic) takes it: what each word has in its eight rows.
pub const COLUMNS: [u8; 3] = [0b1111_0000, 0b1100_1100, 0b1010_1010];
