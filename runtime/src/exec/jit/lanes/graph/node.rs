//! The nodes of a graph.

use iced_x86::{Code, RoundingControl};

/// The result of a node: sixteen words, or a mask of sixteen bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

impl Value {
    /// Returns the result of the node with this index.
    pub fn of(index: usize) -> Self {
        Value(index as u32)
    }

    /// Returns the index of the node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The content of a row before a segment.
    Row(u32, usize),
    /// The same word in all lanes.
    Splat(u32),
    /// The content of a set before a segment.
    Set(u16, usize),
    /// A constant mask of lanes, and the number of nodes before it.
    Lanes(u16, usize),
    /// The lanes of a loop that are active.
    Active,
    /// Words of a window of memory at an offset, after a number of stores.
    Memory(usize, i32, usize),
    /// An instruction.
    Operation(Operation),
    /// A word of what is known of a reach of memory, the same in all lanes.
    Reach(usize, Extent),
    /// A word for each lane from a reach of memory, or, with a value, to it.
    Indexed(Indexed),
}

/// What is known of a reach of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The low word of its first address.
    Low,
    /// The high word of all of its addresses.
    High,
    /// The number of offsets at which a word is within it.
    Offsets,
}

/// An access of a word for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    /// The reach of memory.
    pub reach: usize,
    /// The offset of each lane's word in it.
    pub offset: Value,
    /// The words to store.
    pub value: Option<Value>,
    /// The lanes that access memory; without it, all do. Words of other lanes are zero.
    pub lanes: Option<Value>,
}

/// A host instruction without its registers: the result, then `arguments`, then `immediate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The instruction.
    pub code: Code,
    /// The arguments.
    pub arguments: [Option<Value>; 3],
    /// The lanes in which it is executed. For a blend, the lanes in which the second argument is taken.
    pub mask: Option<Value>,
    /// The immediate operand, which comes last.
    pub immediate: Option<u8>,
    /// The rounding mode, if not to nearest.
    pub rounding: RoundingControl,
    /// Whether the result is a mask.
    pub is_mask: bool,
}

/// How the bits of a word are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every bit matters.
    Word,
    /// A float: all NaNs are equal.
    Float,
    /// Two halves: all NaNs are equal.
    Halves,
}

/// A comparison of floats.
#[derive(Clone, Copy, Debug)]
pub enum Ordering {
    /// `a == b`.
    Equal = 0,
    /// `a != b`, or unordered.
    Different = 4,
    /// `a < b`.
    Less = 0x11,
    /// `a <= b`.
    LessOrEqual = 0x12,
    /// `a < b` or `a > b`.
    Apart = 12,
    /// At least one is a NaN.
    Unordered = 3,
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The relation.
    pub relation: Relation,
    /// Whether they are signed.
    pub signed: bool,
    /// The compared integers.
    pub sides: [Value; 2],
}

impl Comparison {
    /// Returns the comparison that holds where this one does not.
    pub fn complement(&self) -> Self {
        let ([a, b], signed) = (self.sides, self.signed);
        let (relation, sides) = match self.relation {
            Relation::Equal => (Relation::Different, [a, b]),
            Relation::Different => (Relation::Equal, [a, b]),
            Relation::Less => (Relation::LessOrEqual, [b, a]),
            Relation::LessOrEqual => (Relation::Less, [b, a]),
        };
        Comparison { relation, signed, sides }
    }

    /// Whether it holds for two words.
    pub fn holds(&self, [a, b]: [u32; 2]) -> bool {
        // With the highest bit flipped, signed words order as unsigned ones.
        let [a, b] = [a, b].map(|word| if self.signed { word ^ 1 << 31 } else { word });
        match self.relation {
            Relation::Equal => a == b,
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Different => a != b,
        }
    }
}

/// The direction of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shifted {
    /// Left.
    Left,
    /// Right, filled with zeros.
    Right,
    /// Right, filled with copies of the sign.
    Arithmetic,
}

/// A store of words to memory.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The number of nodes before it.
    pub after: usize,
    /// The window that is written.
    pub window: usize,
    /// Its offset from the address of a lane, in bytes.
    pub offset: i32,
    /// The words.
    pub value: Value,
}

impl Node {
    /// Whether the result is a mask.
    pub fn is_mask(&self) -> bool {
        matches!(
            self,
            Node::Operation(Operation { is_mask: true, .. }) | Node::Set(..) | Node::Lanes(..) | Node::Active
        )
    }

    /// Iterates over the values that it depends on.
    pub fn arguments(&self) -> impl Iterator<Item = Value> + use<> {
        let (arguments, mask) = match self {
            Node::Operation(Operation { arguments, mask, .. }) => (*arguments, *mask),
            Node::Indexed(Indexed { offset, value, lanes, .. }) => ([Some(*offset), *value, None], *lanes),
            _ => Default::default(),
        };
        arguments.into_iter().chain([mask]).flatten()
    }
}

/// Returns which nodes are the same in all warps and iterations: constants, those that are `given`, and those
/// computed from these.
pub fn fixed(nodes: &[Node], given: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut fixed: Vec<bool> =
        nodes.iter().map(|node| matches!(node, Node::Splat(_) | Node::Reach(..)) || given(node)).collect();
    for (index, node) in nodes.iter().enumerate() {
        if let Node::Operation(operation) = node {
            fixed[index] = !operation.is_mask && node.arguments().all(|argument| fixed[argument.index()]);
        }
    }
    fixed
}

/// The columns of a truth table of three bits, in the order of [`Graph::logic`](super::Graph::logic): the values of
/// each word in the eight rows.
pub const COLUMNS: [u8; 3] = [0b1111_0000, 0b1100_1100, 0b1010_1010];
