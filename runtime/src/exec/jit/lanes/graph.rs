//! A run of instructions as a graph of vector operations on values.
//!
//! An operation is an instruction of AVX-512 without its registers. Where there is no AVX-512, it is one that AVX2 has too, or
//! what [`avx2`](super::avx2) has in its place. The same operation on the same values is one node.

use std::ops::Range;

use iced_x86::{Code, RoundingControl};
use isaforge_core::semantics::Semantics;
use rustc_hash::FxHashMap;

use super::host::Host;
use crate::level::Level;

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
        matches!(self, Node::Operation(Operation { is_mask: true, .. }) | Node::Set(..))
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

/// The columns of a table of three bits, as [`Graph::logic`] takes it: what each word has in its eight rows.
pub const COLUMNS: [u8; 3] = [0b1111_0000, 0b1100_1100, 0b1010_1010];

/// What is known of the NaNs in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nans {
    /// They are what they are.
    Exact,
    /// Each is the one NaN, or there are none.
    Canonical,
    /// Their payloads are unspecified: each stands for the one NaN.
    Unspecified(Kind),
}

/// Nodes in an order in which they can be computed, in segments.
#[derive(Debug, Default)]
pub struct Graph {
    host: Host,
    /// Whether the host has instructions on halves.
    halves: bool,
    /// Whether something was to be computed that the host has no operation for.
    lacks: bool,
    nodes: Vec<Node>,
    known: FxHashMap<Node, Value>,
    /// The one NaN of halves and of floats; without one, payloads have to be what operations make of them.
    nans: [Option<u32>; 2],
    /// For each value whether the payloads of its NaNs are unspecified.
    nans_of: Vec<Nans>,
    /// Values that may stand for another where NaN payloads do not matter, for each kind of reader.
    agnostic: FxHashMap<Value, (Kind, Value)>,
    /// Masks that say how integers compare.
    compared: FxHashMap<Value, Comparison>,
    /// Sums with a constant.
    sums: FxHashMap<Value, (Value, u32)>,
    /// What the run has written.
    rows: FxHashMap<u32, Value>,
    sets: FxHashMap<u16, Value>,
    stores: Vec<Stored>,
    /// The instruction that is added, and the first node of each.
    origins: Vec<(usize, u64)>,
    /// The number of the segment, and its first node.
    segment: usize,
    first: usize,
}

impl Graph {
    /// Nothing yet, of an instruction set with these NaNs, for a level.
    pub fn new(semantics: &Semantics, level: Level) -> Self {
        let nans = [16, 32].map(|bits| semantics.nan(bits).map(|nan| nan as u32));
        let halves = level.computes_halves();
        Graph { host: Host::of(level).unwrap_or_default(), halves, nans, ..Graph::default() }
    }

    /// What it is for.
    pub fn host(&self) -> Host {
        self.host
    }

    /// Whether it has instructions on halves.
    pub fn has_halves(&self) -> bool {
        self.halves
    }

    /// Whether something was to be computed that the host has no operation for, since the last time that this was asked.
    pub fn lacks(&mut self) -> bool {
        std::mem::take(&mut self.lacks)
    }

    /// Forgets all of it, but not the memory that it had.
    pub fn clear(&mut self) {
        let Graph {
            nodes, known, nans_of, agnostic, compared, sums, rows, sets, stores, origins, segment, first, ..
        } = self;
        nodes.clear();
        nans_of.clear();
        stores.clear();
        origins.clear();
        known.clear();
        agnostic.clear();
        compared.clear();
        sums.clear();
        rows.clear();
        sets.clear();
        (*segment, *first) = (0, 0);
        self.lacks = false;
    }

    /// The nodes; a value's index is a place in them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Nodes from here on belong to an instruction of the program.
    pub fn begin(&mut self, pc: u64) {
        self.origins.push((self.nodes.len(), pc));
    }

    /// The instruction that a node belongs to.
    pub fn origin(&self, index: usize) -> Option<u64> {
        let after = self.origins.partition_point(|(first, _)| *first <= index);
        Some(self.origins.get(after.checked_sub(1)?)?.1)
    }

    /// Ends a segment: rows are read anew in the next, and only what is fixed is known there. Its nodes.
    pub fn end_segment(&mut self) -> Range<usize> {
        let Graph { nodes, known, .. } = self;
        let fixed: Vec<bool> = fixed(nodes, |_| false);
        known.retain(|_, value| fixed[value.index()]);
        self.rows.clear();
        self.sets.clear();
        self.segment += 1;
        let first = std::mem::replace(&mut self.first, self.nodes.len());
        first..self.first
    }

    /// Ends a segment that the next one continues: all that is known stays known. Its nodes.
    pub fn end_part(&mut self) -> Range<usize> {
        let first = std::mem::replace(&mut self.first, self.nodes.len());
        first..self.first
    }

    /// The row whose value before its segment a node is.
    pub fn old_row(&self, value: Value) -> Option<u32> {
        match self.nodes.get(value.index())? {
            Node::Row(row, _) => Some(*row),
            _ => None,
        }
    }

    /// Whether a node is what a row was before its segment.
    pub fn is_old_row(&self, index: usize, row: u32) -> bool {
        self.old_row(Value::of(index)) == Some(row)
    }

    /// The rows that the segment has written, with their last values.
    pub fn written(&self) -> impl Iterator<Item = (u32, Value)> + use<'_> {
        self.rows.iter().map(|(&row, &value)| (row, value))
    }

    pub(super) fn node(&mut self, node: Node) -> Value {
        let Graph { nodes, known, nans_of, .. } = self;
        *known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nans_of.push(Nans::Exact);
            Value::of(nodes.len() - 1)
        })
    }

    /// What a row holds now.
    pub fn read(&mut self, row: u32) -> Value {
        match self.rows.get(&row) {
            Some(value) => *value,
            None => self.node(Node::Row(row, self.segment)),
        }
    }

    /// Writes a row.
    pub fn write(&mut self, row: u32, value: Value) {
        self.rows.insert(row, value);
    }

    /// The lanes that are in a set now.
    pub fn read_set(&mut self, set: u16) -> Value {
        match self.sets.get(&set) {
            Some(value) => *value,
            None => self.node(Node::Set(set, self.segment)),
        }
    }

    /// Changes a set.
    pub fn write_set(&mut self, set: u16, lanes: Value) {
        self.sets.insert(set, lanes);
    }

    /// The sets that the segment has changed.
    pub fn changed_sets(&self) -> impl Iterator<Item = (u16, Value)> + use<'_> {
        self.sets.iter().map(|(&set, &value)| (set, value))
    }

    /// The words that a window of memory holds now, at an offset.
    pub fn load(&mut self, window: usize, offset: i32) -> Value {
        self.node(Node::Memory(window, offset, self.stores.len()))
    }

    /// Stores to a window of memory, at an offset.
    pub fn store(&mut self, window: usize, offset: i32, value: Value) {
        self.stores.push(Stored { behind: self.nodes.len(), window, offset, value });
    }

    /// What is stored to memory, in order.
    pub fn stores(&self) -> &[Stored] {
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

    /// The operation that a value is the result of.
    pub fn operation_of(&self, value: Value) -> Option<&Operation> {
        match self.nodes.get(value.index())? {
            Node::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    /// Whether a value is what a row was before.
    pub fn is_row(&self, value: Value, row: u32) -> bool {
        self.is_old_row(value.index(), row)
    }

    /// The canonical NaN of floats of a width in bits.
    pub fn nan(&self, bits: u8) -> Option<u32> {
        self.nans[usize::from(bits != 16)]
    }

    /// Marks the result of a float instruction, which is no copy and no choice: the payloads of its NaNs are unspecified,
    /// each stands for the one NaN.
    pub fn nan_agnostic(&mut self, value: Value, kind: Kind) -> Value {
        if self.nans_of[value.index()] == Nans::Exact {
            self.nans_of[value.index()] = Nans::Unspecified(kind);
        }
        value
    }

    /// Whether a value is a float whose NaNs may be any, each standing for the one NaN that there is.
    pub fn is_loose_float(&self, value: Value) -> bool {
        self.nans_of[value.index()] == Nans::Unspecified(Kind::Float) && self.nan(32).is_some()
    }

    /// The parts that a value was put together from, its low and its high half, if it was.
    pub fn joined_from(&self, value: Value) -> Option<[Value; 2]> {
        match self.nodes.get(value.index())? {
            Node::Operation(Operation {
                code: Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8,
                arguments: [Some(below), Some(above), _],
                immediate: Some(1),
                ..
            }) => Some([*below, *above]),
            _ => None,
        }
    }

    /// Marks a value whose NaNs, if any, are canonical.
    pub fn settled(&mut self, value: Value) -> Value {
        self.nans_of[value.index()] = Nans::Canonical;
        value
    }

    /// An exact value; readers of a kind to whom NaN payloads do not matter may take another in its place.
    pub fn loosely(&mut self, exact: Value, kind: Kind, agnostic: Value) -> Value {
        if exact != agnostic {
            self.agnostic.insert(exact, (kind, agnostic));
        }
        exact
    }

    /// A value for a reader of a kind: with its bits, or with any NaN payloads if the reader does not see them.
    pub fn read_as(&mut self, value: Value, kind: Kind) -> Value {
        if let Some(&(agnostic, other)) = self.agnostic.get(&value)
            && agnostic == kind
        {
            return other;
        }
        match self.nans_of[value.index()] {
            Nans::Unspecified(of) if of != kind => match of {
                Kind::Halves => self.canonical_halves(value),
                _ => self.canonical_float(value),
            },
            _ => value,
        }
    }

    /// A float or halves, every NaN as the one NaN. Where there is no such NaN it stays as it is.
    pub fn canonical(&mut self, value: Value, kind: Kind) -> Value {
        let value = self.read_as(value, kind);
        if self.nans_of[value.index()] != Nans::Exact {
            return value;
        }
        let exact = if kind == Kind::Halves { self.canonical_halves(value) } else { self.canonical_float(value) };
        self.loosely(exact, kind, value)
    }

    /// A float, every NaN as the one NaN.
    fn canonical_float(&mut self, value: Value) -> Value {
        let Some(nan) = self.nan(32) else { return value };
        // Before the mask, for the next node is to use that.
        let nan = self.splat(nan);
        let unordered = self.compare_floats(Ordering::Unordered, value, value);
        let exact = self.select(unordered, nan, value);
        self.settled(exact)
    }

    /// Two halves, every NaN as the one NaN.
    fn canonical_halves(&mut self, value: Value) -> Value {
        let Some(nan) = self.nan(16) else { return value };
        let both = |word: u32| word | word << 16;
        let nan = self.splat(both(nan));
        let unordered = if self.halves {
            let code = Code::EVEX_Vcmpph_kr_k1_zmm_zmmm512b16_imm8_sae;
            self.test(code, &[value, value], Some(Ordering::Unordered as u8))
        } else {
            let [magnitude, infinity] = [0x7fff, 0x7c00].map(|word| self.splat(both(word)));
            let magnitude = self.and(value, magnitude);
            self.test(Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, &[magnitude, infinity], Some(6))
        };
        let exact = self.blend(Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512, unordered, nan, value);
        self.settled(exact)
    }

    /// `a` in the components of a mask, `b` in the others, by an instruction that does it.
    pub fn blend(&mut self, code: Code, mask: Value, a: Value, b: Value) -> Value {
        let operation = self.operation(code, &[b, a], false);
        self.operate(Operation { mask: Some(mask), ..operation })
    }

    /// The value of an operation, in operations of the host.
    fn operate(&mut self, operation: Operation) -> Value {
        match self.host {
            Host::Avx512 => self.node(Node::Operation(operation)),
            Host::Avx2 => self.for_avx2(operation),
        }
    }

    /// Notes that the host has nothing for an operation. The value stands for what is never asked for.
    pub(super) fn lacking(&mut self) -> Value {
        self.lacks = true;
        self.splat(0)
    }

    pub(super) fn operation(&mut self, code: Code, arguments: &[Value], is_mask: bool) -> Operation {
        let at = |index: usize| arguments.get(index).copied();
        let arguments = [at(0), at(1), at(2)];
        Operation { code, arguments, mask: None, immediate: None, rounding: RoundingControl::None, is_mask }
    }

    /// The result of an instruction.
    pub fn apply(&mut self, code: Code, arguments: &[Value]) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(operation)
    }

    /// The result of an instruction with an immediate operand.
    pub fn apply_immediate(&mut self, code: Code, arguments: &[Value], immediate: u8) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(Operation { immediate: Some(immediate), ..operation })
    }

    /// The result of an instruction that rounds in its own way.
    pub fn apply_rounded(&mut self, code: Code, arguments: &[Value], rounding: RoundingControl) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(Operation { rounding, ..operation })
    }

    /// The mask that an instruction makes.
    pub fn test(&mut self, code: Code, arguments: &[Value], immediate: Option<u8>) -> Value {
        let operation = self.operation(code, arguments, true);
        self.operate(Operation { immediate, ..operation })
    }

    /// The lanes in which two floats compare as asked.
    pub fn compare_floats(&mut self, ordering: Ordering, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, &[a, b], Some(ordering as u8))
    }

    /// The lanes in which two unsigned words compare as asked.
    pub fn compare_unsigned(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let code = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
        self.compare_words(code, Comparison { relation, signed: false, sides: [a, b] })
    }

    /// The lanes in which two signed words compare as asked.
    pub fn compare_signed(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let code = Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
        self.compare_words(code, Comparison { relation, signed: true, sides: [a, b] })
    }

    fn compare_words(&mut self, code: Code, comparison: Comparison) -> Value {
        let mask = self.test(code, &comparison.sides, Some(comparison.relation as u8));
        self.compared.insert(mask, comparison);
        mask
    }

    /// The comparison of integers that a mask says the result of.
    pub fn compared(&self, mask: Value) -> Option<&Comparison> {
        self.compared.get(&mask)
    }

    /// A value as another one and a constant that is added.
    pub fn sum(&self, value: Value) -> (Value, u32) {
        self.sums.get(&value).copied().unwrap_or((value, 0))
    }

    /// The lanes in which two words have ones in common.
    pub fn meets(&mut self, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &[a, b], None)
    }

    /// The mask that says where a word is not zero, if the word was made from one; with whether it says the opposite.
    pub fn made_from(&self, word: Value) -> Option<(Value, bool)> {
        let Some(Node::Operation(operation)) = self.nodes.get(word.index()) else { return None };
        let Operation { code: Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, mask: Some(mask), arguments, .. } =
            operation
        else {
            return None;
        };
        let [no, yes] = [arguments[0]?, arguments[1]?].map(|value| self.constant(value));
        match (no? != 0, yes? != 0) {
            (false, true) => Some((*mask, false)),
            (true, false) => Some((*mask, true)),
            _ => None,
        }
    }

    /// The lanes of a mask in which a comparison holds, too, if it is an instruction that can be told so.
    pub fn test_within(&mut self, mask: Value, comparison: Value) -> Option<Value> {
        let Node::Operation(operation) = self.nodes[comparison.index()] else { return None };
        let can = matches!(
            operation.code,
            Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae
                | Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8
                | Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8
                | Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32
        );
        (can && operation.mask.is_none() && self.host == Host::Avx512)
            .then(|| self.node(Node::Operation(Operation { mask: Some(mask), ..operation })))
    }

    /// The bits of a word that may be ones, as far as its instruction says.
    pub fn possible(&self, value: Value) -> u32 {
        let Some(Node::Operation(operation)) = self.nodes.get(value.index()) else {
            return self.constant(value).unwrap_or(u32::MAX);
        };
        let by = u32::from(operation.immediate.unwrap_or(0)) & 31;
        match operation.code {
            Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256 => 0xffff,
            Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => u32::MAX << by,
            Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 => u32::MAX >> by,
            Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 => {
                let of = |k: usize| operation.arguments[k].and_then(|of| self.constant(of)).unwrap_or(u32::MAX);
                of(0) & of(1)
            }
            Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32 => {
                let of = |k: usize| operation.arguments[k].and_then(|of| self.constant(of)).unwrap_or(u32::MAX);
                of(0) | of(1)
            }
            _ => u32::MAX,
        }
    }

    /// The lanes of both.
    pub fn both(&mut self, one: Value, other: Value) -> Value {
        self.test(Code::VEX_Kandw_kr_kr_kr, &[one, other], None)
    }

    /// The lanes of one that are not in the other.
    pub fn without(&mut self, one: Value, other: Value) -> Value {
        self.test(Code::VEX_Kandnw_kr_kr_kr, &[other, one], None)
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
        self.blend(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, mask, a, b)
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
        match [self.constant(a), self.constant(b)] {
            [_, Some(0)] => a,
            [Some(0), _] => b,
            constants => {
                let sum = self.apply(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, &[a, b]);
                match constants {
                    [_, Some(by)] => _ = self.sums.insert(sum, (a, by)),
                    [Some(by), _] => _ = self.sums.insert(sum, (b, by)),
                    [None, None] => {}
                }
                sum
            }
        }
    }

    /// The difference.
    pub fn subtract(&mut self, a: Value, b: Value) -> Value {
        if self.constant(b) == Some(0) { a } else { self.apply(Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, &[a, b]) }
    }

    /// A word rotated to the left by a number of bits.
    pub fn rotate(&mut self, a: Value, bits: u32) -> Value {
        match bits % 32 {
            0 => a,
            bits => self.apply_immediate(Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, &[a], bits as u8),
        }
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
