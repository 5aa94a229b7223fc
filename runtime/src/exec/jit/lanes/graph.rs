//! Instructions as a graph of vector operations on values.
//!
//! An operation is an AVX-512 instruction without its registers. Without AVX-512, it is one that AVX2 also has, or
//! its replacement from [`avx2`](super::avx2). Equal operations on equal values are one node.

mod node;
mod words;

use std::ops::Range;

use iced_x86::{Code, RoundingControl};
use isaforge_core::semantics::Semantics;
use rustc_hash::FxHashMap;

use super::host::Host;
use crate::level::Level;

pub use node::{
    COLUMNS, Comparison, Extent, Indexed, Kind, Node, Operation, Ordering, Relation, Shifted, Stored, Value, fixed,
};

/// What is known of the NaNs of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nans {
    /// Their payloads matter.
    Exact,
    /// Every NaN is canonical, or there are none.
    Canonical,
    /// Their payloads are unspecified: each stands for the canonical NaN.
    Unspecified(Kind),
}

/// Nodes in an order in which they can be computed, grouped in segments.
#[derive(Debug, Default)]
pub struct Graph {
    host: Host,
    /// Whether the host has instructions on halves.
    halves: bool,
    /// Whether the host lacked an operation that was needed.
    missing: bool,
    nodes: Vec<Node>,
    known: FxHashMap<Node, Value>,
    /// The canonical NaN of halves and of floats; without one, payloads must be those that the operations define.
    nans: [Option<u32>; 2],
    /// What is known of the NaNs of each value.
    nans_of: Vec<Nans>,
    /// For a value, another one that may replace it for readers of a kind, to whom NaN payloads do not matter.
    agnostic: FxHashMap<Value, (Kind, Value)>,
    /// The masks that result from comparisons of integers.
    compared: FxHashMap<Value, Comparison>,
    /// The values that are a sum with a constant.
    sums: FxHashMap<Value, (Value, u32)>,
    /// The rows that the segment has written, with their values.
    rows: FxHashMap<u32, Value>,
    sets: FxHashMap<u16, Value>,
    stores: Vec<Stored>,
    scatters: Vec<Value>,
    /// The first node of each instruction, with its address; the last is the current one.
    origins: Vec<(usize, u64)>,
    /// The number of the current segment, and its first node.
    segment: usize,
    first: usize,
}

impl Graph {
    /// Creates an empty graph for a level and for an instruction set with these NaNs.
    pub fn new(semantics: &Semantics, level: Level) -> Self {
        let nans = [16, 32].map(|bits| semantics.nan(bits).map(|nan| nan as u32));
        let halves = level.computes_halves();
        Graph { host: Host::of(level).unwrap_or_default(), halves, nans, ..Graph::default() }
    }

    /// Returns the host.
    pub fn host(&self) -> Host {
        self.host
    }

    /// Whether the host has instructions on halves.
    pub fn has_halves(&self) -> bool {
        self.halves
    }

    /// Whether the host lacked an operation that was needed since the last call.
    pub fn take_missing(&mut self) -> bool {
        std::mem::take(&mut self.missing)
    }

    /// Clears the graph, but keeps its allocations.
    pub fn clear(&mut self) {
        let Graph {
            nodes,
            known,
            nans_of,
            agnostic,
            compared,
            sums,
            rows,
            sets,
            stores,
            scatters,
            origins,
            segment,
            first,
            ..
        } = self;
        nodes.clear();
        nans_of.clear();
        stores.clear();
        scatters.clear();
        origins.clear();
        known.clear();
        agnostic.clear();
        compared.clear();
        sums.clear();
        rows.clear();
        sets.clear();
        (*segment, *first) = (0, 0);
        self.missing = false;
    }

    /// Returns the nodes, indexed by value.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Starts an instruction: the nodes from here on belong to it.
    pub fn begin(&mut self, pc: u64) {
        self.origins.push((self.nodes.len(), pc));
    }

    /// Returns the instruction that a node belongs to.
    pub fn origin(&self, index: usize) -> Option<u64> {
        let after = self.origins.partition_point(|(first, _)| *first <= index);
        Some(self.origins.get(after.checked_sub(1)?)?.1)
    }

    /// Ends a segment: the next one reads rows again, and only knows fixed values. Returns the nodes of the segment.
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

    /// Ends a segment that the next one continues, with all values known. Returns its nodes.
    pub fn end_part(&mut self) -> Range<usize> {
        let first = std::mem::replace(&mut self.first, self.nodes.len());
        first..self.first
    }

    /// Returns the row whose content before the segment a node is.
    pub fn old_row(&self, value: Value) -> Option<u32> {
        match self.nodes.get(value.index())? {
            Node::Row(row, _) => Some(*row),
            _ => None,
        }
    }

    /// Whether a node is the content of a row before the segment.
    pub fn is_old_row(&self, index: usize, row: u32) -> bool {
        self.old_row(Value::of(index)) == Some(row)
    }

    /// Iterates over the rows that the segment has written, with their last values.
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

    /// Returns the current value of a row.
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

    /// Returns a mask of some lanes. Each call makes a new one: there are few mask registers, and a mask is cheap to
    /// make.
    pub fn lanes(&mut self, lanes: u16) -> Value {
        self.node(Node::Lanes(lanes, self.nodes.len()))
    }

    /// Returns the lanes that are currently in a set.
    pub fn read_set(&mut self, set: u16) -> Value {
        match self.sets.get(&set) {
            Some(value) => *value,
            None => self.node(Node::Set(set, self.segment)),
        }
    }

    /// Writes a set.
    pub fn write_set(&mut self, set: u16, lanes: Value) {
        self.sets.insert(set, lanes);
    }

    /// Iterates over the sets that the segment has written.
    pub fn changed_sets(&self) -> impl Iterator<Item = (u16, Value)> + use<'_> {
        self.sets.iter().map(|(&set, &value)| (set, value))
    }

    /// Returns the current words of a window of memory, at an offset.
    pub fn load(&mut self, window: usize, offset: i32) -> Value {
        self.node(Node::Memory(window, offset, self.stores.len()))
    }

    /// Stores to a window of memory, at an offset.
    pub fn store(&mut self, window: usize, offset: i32, value: Value) {
        self.stores.push(Stored { after: self.nodes.len(), window, offset, value });
    }

    /// Returns the stores to memory, in order.
    pub fn stores(&self) -> &[Stored] {
        &self.stores
    }

    /// Drops what the segment has written to rows and sets.
    pub fn drop_writes(&mut self) {
        self.rows.clear();
        self.sets.clear();
    }

    /// Returns what is known of a reach of memory.
    pub fn reach(&mut self, reach: usize, extent: Extent) -> Value {
        self.node(Node::Reach(reach, extent))
    }

    /// Loads or stores a word for each lane. There must be at most one such access in a segment.
    pub fn index(&mut self, indexed: Indexed) -> Value {
        let value = self.node(Node::Indexed(indexed));
        if indexed.value.is_some() {
            self.scatters.push(value);
        }
        value
    }

    /// Returns the nodes that store a word for each lane.
    pub fn scatters(&self) -> &[Value] {
        &self.scatters
    }

    /// Returns the same word in all lanes.
    pub fn splat(&mut self, word: u32) -> Value {
        self.node(Node::Splat(word))
    }

    /// Returns the word that is the same in all lanes, if it is known.
    pub fn constant(&self, value: Value) -> Option<u32> {
        match self.nodes.get(value.index()) {
            Some(Node::Splat(word)) => Some(*word),
            _ => None,
        }
    }

    /// Returns the operation that a value results from.
    pub fn operation_of(&self, value: Value) -> Option<&Operation> {
        match self.nodes.get(value.index())? {
            Node::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    /// Whether a value is the content of a row before the segment.
    pub fn is_row(&self, value: Value, row: u32) -> bool {
        self.is_old_row(value.index(), row)
    }

    /// Returns the canonical NaN of floats of a width in bits.
    pub fn nan(&self, bits: u8) -> Option<u32> {
        self.nans[usize::from(bits != 16)]
    }

    /// Marks the result of a float instruction that is neither a copy nor a selection: the payloads of its NaNs are
    /// unspecified, and each stands for the canonical NaN.
    pub fn nan_agnostic(&mut self, value: Value, kind: Kind) -> Value {
        if self.nans_of[value.index()] == Nans::Exact {
            self.nans_of[value.index()] = Nans::Unspecified(kind);
        }
        value
    }

    /// Whether a value is a float whose NaNs may be any, each standing for the canonical NaN.
    pub fn is_loose_float(&self, value: Value) -> bool {
        self.nans_of[value.index()] == Nans::Unspecified(Kind::Float) && self.nan(32).is_some()
    }

    /// Returns the low and the high half from which a value was joined, if it was.
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

    /// Records that readers of a kind to whom NaN payloads do not matter may use `agnostic` instead of an exact
    /// value. Returns the exact value.
    pub fn loosely(&mut self, exact: Value, kind: Kind, agnostic: Value) -> Value {
        if exact != agnostic {
            self.agnostic.insert(exact, (kind, agnostic));
        }
        exact
    }

    /// Returns a value for a reader of a kind: exact, or with any NaN payloads if they do not matter to the reader.
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

    /// Makes every NaN of a float or of two halves canonical. Without a canonical NaN, the value stays as it is.
    pub fn canonical(&mut self, value: Value, kind: Kind) -> Value {
        let value = self.read_as(value, kind);
        if self.nans_of[value.index()] != Nans::Exact {
            return value;
        }
        let exact = if kind == Kind::Halves { self.canonical_halves(value) } else { self.canonical_float(value) };
        self.loosely(exact, kind, value)
    }

    /// Makes a NaN of a float canonical.
    fn canonical_float(&mut self, value: Value) -> Value {
        let Some(nan) = self.nan(32) else { return value };
        // Comes before the mask, which the next node should use directly.
        let nan = self.splat(nan);
        let unordered = self.compare_floats(Ordering::Unordered, value, value);
        let exact = self.select(unordered, nan, value);
        self.settled(exact)
    }

    /// Makes the NaNs of two halves canonical.
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

    /// Returns `a` in the components of a mask, `b` in the others, by the given instruction.
    pub fn blend(&mut self, code: Code, mask: Value, a: Value, b: Value) -> Value {
        let operation = self.operation(code, &[b, a], false);
        self.operate(Operation { mask: Some(mask), ..operation })
    }

    /// Adds an operation, lowered for the host.
    fn operate(&mut self, operation: Operation) -> Value {
        match self.host {
            Host::Avx512 => self.node(Node::Operation(operation)),
            Host::Avx2 => self.for_avx2(operation),
        }
    }

    /// Records that the host lacks an operation. The returned value is a placeholder that is never used.
    pub(super) fn lacking(&mut self) -> Value {
        self.missing = true;
        self.splat(0)
    }

    pub(super) fn operation(&mut self, code: Code, arguments: &[Value], is_mask: bool) -> Operation {
        let at = |index: usize| arguments.get(index).copied();
        let arguments = [at(0), at(1), at(2)];
        Operation { code, arguments, mask: None, immediate: None, rounding: RoundingControl::None, is_mask }
    }

    /// Adds an instruction.
    pub fn apply(&mut self, code: Code, arguments: &[Value]) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(operation)
    }

    /// Adds an instruction with an immediate operand.
    pub fn apply_immediate(&mut self, code: Code, arguments: &[Value], immediate: u8) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(Operation { immediate: Some(immediate), ..operation })
    }

    /// Adds an instruction with a rounding mode of its own.
    pub fn apply_rounded(&mut self, code: Code, arguments: &[Value], rounding: RoundingControl) -> Value {
        let operation = self.operation(code, arguments, false);
        self.operate(Operation { rounding, ..operation })
    }

    /// Adds an instruction whose result is a mask.
    pub fn test(&mut self, code: Code, arguments: &[Value], immediate: Option<u8>) -> Value {
        let operation = self.operation(code, arguments, true);
        self.operate(Operation { immediate, ..operation })
    }
}
