//! A run of instructions as a graph: what they compute, as vector operations on values, not on rows.
//!
//! An operation is an instruction of AVX-512 without its registers. The same operation on the same values is one node.

use std::collections::HashMap;
use std::ops::Range;

use iced_x86::{Code, RoundingControl};

use super::super::super::rules::rounding::{F16, F32};
use super::super::code::row;

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
    /// Words of a place in memory, after so many were stored.
    Memory(usize, usize),
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

impl Node {
    /// Whether its result is a mask.
    pub fn is_mask(&self) -> bool {
        matches!(self, Node::Operation(Operation { is_mask: true, .. }))
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

/// Which nodes are the same in all warps and at all times.
pub fn fixed(nodes: &[Node]) -> Vec<bool> {
    let mut fixed: Vec<bool> = nodes.iter().map(|node| matches!(node, Node::Splat(_))).collect();
    for (index, node) in nodes.iter().enumerate() {
        if let Node::Operation(operation) = node {
            fixed[index] = !operation.is_mask && node.arguments().all(|argument| fixed[argument.index()]);
        }
    }
    fixed
}

/// Nodes in an order in which they can be computed, in segments.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Value>,
    /// What is a NaN in each value may be any.
    rough: Vec<Kind>,
    /// What is as good as a value for who does not care which NaNs it holds.
    loose: HashMap<Value, Value>,
    /// What the run has written.
    rows: HashMap<u32, Value>,
    /// What is stored: behind so many nodes, to which place in memory, and what.
    stores: Vec<(usize, usize, Value)>,
    /// The number of the segment, and its first node.
    segment: usize,
    first: usize,
}

impl Graph {
    /// The nodes; a value's index is a place in them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Ends a segment: rows are read anew in the next, and only what is fixed is known there. Its nodes.
    pub fn end_segment(&mut self) -> Range<usize> {
        let Graph { nodes, known, .. } = self;
        let fixed: Vec<bool> = fixed(nodes);
        known.retain(|_, value| fixed[value.index()]);
        self.rows.clear();
        self.segment += 1;
        let first = std::mem::replace(&mut self.first, self.nodes.len());
        first..self.first
    }

    /// Whether a node is what a row was before its segment.
    pub fn is_old_row(&self, index: usize, row: u32) -> bool {
        matches!(self.nodes.get(index), Some(&Node::Row(of, _)) if of == row)
    }

    /// The rows that the segment has written, with their last values.
    pub fn written(&self) -> impl Iterator<Item = (u32, Value)> + use<'_> {
        self.rows.iter().map(|(&row, &value)| (row, value))
    }

    fn node(&mut self, node: Node) -> Value {
        let Graph { nodes, known, rough, .. } = self;
        *known.entry(node).or_insert_with(|| {
            nodes.push(node);
            rough.push(Kind::Word);
            Value::of(nodes.len() - 1)
        })
    }

    /// What a row holds now; rows behind the registers hold the `constants`.
    pub fn read(&mut self, at: u32, constants: &[u32]) -> Value {
        if let Some(value) = self.rows.get(&at) {
            return *value;
        }
        match at.checked_sub(row::CONSTANTS).and_then(|index| constants.get(index as usize)) {
            Some(&word) => self.splat(word),
            None => self.node(Node::Row(at, self.segment)),
        }
    }

    /// Writes a row.
    pub fn write(&mut self, row: u32, value: Value) {
        self.rows.insert(row, value);
    }

    /// What a place in memory holds now.
    pub fn load(&mut self, place: usize) -> Value {
        self.node(Node::Memory(place, self.stores.len()))
    }

    /// Stores to a place in memory.
    pub fn store(&mut self, place: usize, value: Value) {
        self.stores.push((self.nodes.len(), place, value));
    }

    /// What is stored to memory: behind so many nodes, to which place, and what.
    pub fn stores(&self) -> &[(usize, usize, Value)] {
        &self.stores
    }

    /// The same word in all lanes.
    pub fn splat(&mut self, word: u32) -> Value {
        self.node(Node::Splat(word))
    }

    /// The word that is the same in all lanes, if it is known.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match self.nodes.get(value.index()) {
            Some(Node::Splat(word)) => Some(*word),
            _ => None,
        }
    }

    /// Whether a value is what a row was before.
    pub fn is_row(&self, value: Value, row: u32) -> bool {
        self.is_old_row(value.index(), row)
    }

    /// A value whose NaNs may be any: they are made the one NaN when its bits matter. It must be the result of an
    /// instruction for floats, not of one that moves or chooses.
    pub fn rough(&mut self, value: Value, kind: Kind) -> Value {
        self.rough[value.index()] = kind;
        value
    }

    /// An exact value, in the place of which `rough` may be taken for a float.
    pub fn loosely(&mut self, exact: Value, rough: Value) -> Value {
        self.loose.insert(exact, rough);
        exact
    }

    /// A value as a recipe takes it: with its bits, or with any NaNs if it is of that kind.
    pub fn take(&mut self, value: Value, kind: Kind) -> Value {
        if let (Kind::Float, Some(rough)) = (kind, self.loose.get(&value)) {
            return *rough;
        }
        match self.rough[value.index()] {
            Kind::Float if kind != Kind::Float => self.canonical(value),
            Kind::Halves if kind != Kind::Halves => self.canonical_halves(value),
            _ => value,
        }
    }

    /// A float, every NaN as the one NaN.
    pub fn canonical(&mut self, value: Value) -> Value {
        let (unordered, nan) = (self.compare_floats(Ordering::Unordered, value, value), self.splat(F32.nan));
        self.select(unordered, nan, value)
    }

    /// Two halves, every NaN as the one NaN.
    fn canonical_halves(&mut self, value: Value) -> Value {
        let both = |word: u32| word | word << 16;
        let magnitude = self.splat(both(!F16.sign & 0xffff));
        let (magnitude, infinity) = (self.and(value, magnitude), self.splat(both(F16.infinity)));
        let greater = Some(6);
        let unordered = self.test(Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, &[magnitude, infinity], greater);
        let nan = self.splat(both(F16.nan));
        let operation = self.operation(Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, &[value, nan], false);
        self.node(Node::Operation(Operation { mask: Some(unordered), ..operation }))
    }

    fn operation(&mut self, code: Code, arguments: &[Value], is_mask: bool) -> Operation {
        let at = |index: usize| arguments.get(index).copied();
        let arguments = [at(0), at(1), at(2)];
        Operation { code, arguments, mask: None, immediate: None, rounding: RoundingControl::None, is_mask }
    }

    /// The result of an instruction.
    pub fn apply(&mut self, code: Code, arguments: &[Value]) -> Value {
        let operation = self.operation(code, arguments, false);
        self.node(Node::Operation(operation))
    }

    /// The result of an instruction with an immediate operand.
    pub fn apply_immediate(&mut self, code: Code, arguments: &[Value], immediate: u8) -> Value {
        let operation = self.operation(code, arguments, false);
        self.node(Node::Operation(Operation { immediate: Some(immediate), ..operation }))
    }

    /// The result of an instruction that rounds in its own way.
    pub fn apply_rounded(&mut self, code: Code, arguments: &[Value], rounding: RoundingControl) -> Value {
        let operation = self.operation(code, arguments, false);
        self.node(Node::Operation(Operation { rounding, ..operation }))
    }

    fn test(&mut self, code: Code, arguments: &[Value], immediate: Option<u8>) -> Value {
        let operation = self.operation(code, arguments, true);
        self.node(Node::Operation(Operation { immediate, ..operation }))
    }

    /// The lanes in which two floats compare as asked.
    pub fn compare_floats(&mut self, ordering: Ordering, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, &[a, b], Some(ordering as u8))
    }

    /// The lanes in which two unsigned words compare as asked.
    pub fn compare_unsigned(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, &[a, b], Some(relation as u8))
    }

    /// The lanes in which two signed words compare as asked.
    pub fn compare_signed(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, &[a, b], Some(relation as u8))
    }

    /// The lanes in which two words have ones in common.
    pub fn meets(&mut self, a: Value, b: Value) -> Value {
        // A word that a mask made is that mask, if what it puts there meets itself.
        if a == b
            && let Some(Node::Operation(operation)) = self.nodes.get(a.index()).copied()
            && let Operation { code: Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, mask: Some(mask), arguments, .. } =
                operation
            && let [Some(old), Some(new), _] = arguments
            && self.constant(old) == Some(0)
            && self.constant(new).is_some_and(|word| word != 0)
        {
            return mask;
        }
        self.test(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &[a, b], None)
    }

    /// The other lanes.
    pub fn not_mask(&mut self, mask: Value) -> Value {
        self.test(Code::VEX_Knotw_kr_kr, &[mask], None)
    }

    /// `a` in the lanes of a mask, `b` in the others.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        let operation = self.operation(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, &[b, a], false);
        self.node(Node::Operation(Operation { mask: Some(mask), ..operation }))
    }

    /// The bits of both.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(u32::MAX)] => a,
            [Some(u32::MAX), _] => b,
            _ => self.apply(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// The bits of either.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(0)] => a,
            [Some(0), _] => b,
            _ => self.apply(Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// The bits of only one.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(0)] => a,
            [Some(0), _] => b,
            _ => self.apply(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// Any function of three bits: its values for 0b000 to 0b111 from the lowest bit of `table` on, `a` being the
    /// highest.
    pub fn logic(&mut self, table: u8, a: Value, b: Value, c: Value) -> Value {
        self.apply_immediate(Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, &[a, b, c], table)
    }

    /// The complement.
    pub fn not(&mut self, a: Value) -> Value {
        self.logic(0x0f, a, a, a)
    }

    /// The sum.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.apply(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, &[a, b])
    }

    /// The difference.
    pub fn subtract(&mut self, a: Value, b: Value) -> Value {
        self.apply(Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, &[a, b])
    }

    /// A word shifted by a number of bits below 32.
    pub fn shift_by(&mut self, way: Shifted, a: Value, bits: u32) -> Value {
        let code = match way {
            _ if bits == 0 => return a,
            Shifted::Left => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            Shifted::Right => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            Shifted::Arithmetic => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
        };
        self.apply_immediate(code, &[a], bits as u8)
    }

    /// A word shifted by the low five bits of another.
    pub fn shift(&mut self, way: Shifted, a: Value, count: Value) -> Value {
        if let Some(bits) = self.constant(count) {
            return self.shift_by(way, a, bits & 31);
        }
        let low = self.splat(31);
        let count = self.and(count, low);
        let code = match way {
            Shifted::Left => Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
            Shifted::Right => Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
            Shifted::Arithmetic => Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        };
        self.apply(code, &[a, count])
    }
}
