//! AVX2 in place of AVX-512: an operation that AVX2 lacks is replaced by several that it has.
//!
//! The bits of a mask's component are all ones or all zeros, so operations on words also work on masks. The
//! complement of a mask is a node of its own; operations that read it use the underlying mask where they can.

use iced_x86::{Code, RoundingControl};

use super::graph::{COLUMNS, Graph, Node, Operation, Ordering, Shifted, Value};
use super::host::in_avx2;

/// The size of a mask's components.
#[derive(Clone, Copy)]
enum Components {
    Words,
    Halves,
    Bytes,
}

/// A comparison of components.
struct Comparison {
    components: Components,
    signed: bool,
    /// The immediate that AVX-512 instructions encode it with.
    relation: u8,
}

impl Comparison {
    fn of(operation: &Operation) -> Option<Self> {
        use Components::{Bytes, Halves, Words};
        let (components, signed) = match operation.code {
            Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8 => (Words, false),
            Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8 => (Words, true),
            Code::EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8 => (Halves, false),
            Code::EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8 => (Halves, true),
            Code::EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8 => (Bytes, false),
            Code::EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8 => (Bytes, true),
            _ => return None,
        };
        Some(Comparison { components, signed, relation: operation.immediate? })
    }
}

/// Returns the mask logic of an instruction, for components of any size.
fn logic(code: Code) -> Option<Logic> {
    Some(match code {
        Code::VEX_Kandw_kr_kr_kr | Code::VEX_Kandd_kr_kr_kr | Code::VEX_Kandq_kr_kr_kr => Logic::And,
        Code::VEX_Kandnw_kr_kr_kr | Code::VEX_Kandnd_kr_kr_kr | Code::VEX_Kandnq_kr_kr_kr => Logic::AndNot,
        Code::VEX_Korw_kr_kr_kr | Code::VEX_Kord_kr_kr_kr | Code::VEX_Korq_kr_kr_kr => Logic::Or,
        Code::VEX_Kxorw_kr_kr_kr | Code::VEX_Kxord_kr_kr_kr | Code::VEX_Kxorq_kr_kr_kr => Logic::Xor,
        Code::VEX_Knotw_kr_kr => Logic::Not,
        _ => return None,
    })
}

enum Logic {
    And,
    /// `!a & b`.
    AndNot,
    Or,
    Xor,
    Not,
}

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const AND_NOT: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;

/// An instruction, and the function of two bits that it computes.
type Function = (Code, fn(u8, u8) -> u8);

/// The functions of two bits that a single instruction computes.
const FUNCTIONS: [Function; 4] =
    [(AND, |a, b| a & b), (OR, |a, b| a | b), (XOR, |a, b| a ^ b), (AND_NOT, |a, b| !a & b)];

/// All ordered pairs of three words.
const PAIRS: [(usize, usize); 6] = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];

/// Whether the first two arguments of an AVX2 instruction may be exchanged.
fn commutes(code: Code) -> bool {
    matches!(
        code,
        AND | OR
            | XOR
            | Code::VEX_Vaddps_ymm_ymm_ymmm256
            | Code::VEX_Vmulps_ymm_ymm_ymmm256
            | Code::VEX_Vpaddd_ymm_ymm_ymmm256
            | Code::VEX_Vpaddw_ymm_ymm_ymmm256
            | Code::VEX_Vpaddb_ymm_ymm_ymmm256
            | Code::VEX_Vpmulld_ymm_ymm_ymmm256
            | Code::VEX_Vpmullw_ymm_ymm_ymmm256
            | Code::VEX_Vpminud_ymm_ymm_ymmm256
            | Code::VEX_Vpminsd_ymm_ymm_ymmm256
            | Code::VEX_Vpmaxud_ymm_ymm_ymmm256
            | Code::VEX_Vpmaxsd_ymm_ymm_ymmm256
            | Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256
            | Code::VEX_Vpcmpeqw_ymm_ymm_ymmm256
            | Code::VEX_Vpcmpeqb_ymm_ymm_ymmm256
            | Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256
            | Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256
            | Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256
            | Code::VEX_Vfnmsub213ps_ymm_ymm_ymmm256
    )
}

impl Graph {
    /// Adds an operation, lowered to AVX2. If that is not possible, the graph [misses](Graph::take_missing) it.
    pub(super) fn for_avx2(&mut self, operation: Operation) -> Value {
        let [a, b, c] = operation.arguments;
        let immediate = operation.immediate.unwrap_or(0);
        if operation.rounding != RoundingControl::None {
            return self.lacking();
        }
        if let (Some(comparison), Some(a), Some(b)) = (Comparison::of(&operation), a, b) {
            return self.compare(&comparison, a, b);
        }
        if let (Some(logic), Some(a)) = (logic(operation.code), a) {
            return self.masks(&logic, a, b.unwrap_or(a));
        }
        match (operation.code, [a, b, c]) {
            (Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, [Some(a), Some(b), _]) => self.common(a, b),
            (
                Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32
                | Code::EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512
                | Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
                [Some(no), Some(yes), _],
            ) => {
                let Some(mask) = operation.mask else { return self.lacking() };
                let (mask, no, yes) = match self.complemented(mask) {
                    Some(mask) => (mask, yes, no),
                    None => (mask, no, yes),
                };
                let arguments = [Some(no), Some(yes), None];
                self.node(Node::Operation(Operation { arguments, mask: Some(mask), ..operation }))
            }
            (Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, [Some(a), Some(b), Some(c)]) => {
                self.function(immediate, [a, b, c])
            }
            (Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, [Some(a), ..]) => {
                let by = u32::from(immediate) % 32;
                let [up, down] =
                    [(Shifted::Left, by), (Shifted::Right, 32 - by)].map(|(way, by)| self.shift_by(way, a, by));
                self.or(up, down)
            }
            (Code::EVEX_Vprolvd_zmm_k1z_zmm_zmmm512b32, [Some(a), Some(b), _]) => self.rotated(a, b, false),
            (Code::EVEX_Vprorvd_zmm_k1z_zmm_zmmm512b32, [Some(a), Some(b), _]) => self.rotated(a, b, true),
            (Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, [Some(a), ..]) => self.unsigned_to_float(a),
            (Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, [Some(a), ..]) => self.positive_to_unsigned(a),
            (Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, [Some(a), ..]) => {
                let low = self.splat(0xffff);
                let low = if self.possible(a) & !0xffff == 0 { a } else { self.and(a, low) };
                // Each half of the register is packed on its own, so the results are in the first and the third
                // quarter.
                let packed = self.apply(Code::VEX_Vpackusdw_ymm_ymm_ymmm256, &[low, low]);
                self.apply_immediate(Code::VEX_Vpermq_ymm_ymmm256_imm8, &[packed], 0b1000)
            }
            (code, _) if in_avx2(code).is_none() || operation.mask.is_some() => self.lacking(),
            (code, [Some(a), Some(b), c]) if in_avx2(code).is_some_and(commutes) && self.constant(a).is_some() => {
                self.node(Node::Operation(Operation { arguments: [Some(b), Some(a), c], ..operation }))
            }
            _ => self.node(Node::Operation(operation)),
        }
    }

    /// Returns the mask that a mask is the complement of.
    pub(super) fn complemented(&self, mask: Value) -> Option<Value> {
        match self.nodes().get(mask.index()) {
            Some(Node::Operation(Operation { code: Code::VEX_Knotw_kr_kr, arguments: [Some(mask), ..], .. })) => {
                Some(*mask)
            }
            _ => None,
        }
    }

    /// Returns a mask, or its complement if `is_not`.
    fn maybe_not(&mut self, mask: Value, is_not: bool) -> Value {
        if is_not { self.masks(&Logic::Not, mask, mask) } else { mask }
    }

    fn masks(&mut self, logic: &Logic, a: Value, b: Value) -> Value {
        let (x, y) = (self.complemented(a), self.complemented(b));
        let (without, with) = (|a, b| (AND_NOT, a, b), |a, b| (AND, a, b));
        let (found, is_not) = match (logic, x, y) {
            (Logic::Not, Some(x), _) => return x,
            (Logic::Not, None, _) => {
                let operation = self.operation(Code::VEX_Knotw_kr_kr, &[a], true);
                return self.node(Node::Operation(operation));
            }
            (Logic::And, None, None) => (with(a, b), false),
            (Logic::And, Some(x), None) => (without(x, b), false),
            (Logic::And, None, Some(y)) => (without(y, a), false),
            (Logic::And, Some(x), Some(y)) => ((OR, x, y), true),
            (Logic::AndNot, Some(x), None) => (with(x, b), false),
            (Logic::AndNot, None, None) => (without(a, b), false),
            (Logic::AndNot, None, Some(y)) => ((OR, a, y), true),
            (Logic::AndNot, Some(x), Some(y)) => (without(y, x), false),
            (Logic::Or, None, None) => ((OR, a, b), false),
            // The complement of the result: the one holds and the other does not.
            (Logic::Or, Some(x), None) => (without(b, x), true),
            (Logic::Or, None, Some(y)) => (without(a, y), true),
            (Logic::Or, Some(x), Some(y)) => (with(x, y), true),
            (Logic::Xor, x, y) => ((XOR, x.unwrap_or(a), y.unwrap_or(b)), x.is_some() != y.is_some()),
        };
        let (code, a, b) = found;
        let mask = self.test(code, &[a, b], None);
        self.maybe_not(mask, is_not)
    }

    fn compare(&mut self, comparison: &Comparison, a: Value, b: Value) -> Value {
        use Code as C;
        let [equal, greater] = match comparison.components {
            Components::Words => [C::VEX_Vpcmpeqd_ymm_ymm_ymmm256, C::VEX_Vpcmpgtd_ymm_ymm_ymmm256],
            Components::Halves => [C::VEX_Vpcmpeqw_ymm_ymm_ymmm256, C::VEX_Vpcmpgtw_ymm_ymm_ymmm256],
            Components::Bytes => [C::VEX_Vpcmpeqb_ymm_ymm_ymmm256, C::VEX_Vpcmpgtb_ymm_ymm_ymmm256],
        };
        let [least, most] = match comparison.components {
            Components::Words => [C::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, C::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32],
            Components::Halves => [C::EVEX_Vpminuw_zmm_k1z_zmm_zmmm512, C::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512],
            Components::Bytes => [C::EVEX_Vpminub_zmm_k1z_zmm_zmmm512, C::EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512],
        };
        let (mask, is_not) = match (comparison.relation, comparison.signed) {
            (0, _) => (self.test(equal, &[a, b], None), false),
            (4, _) => (self.test(equal, &[a, b], None), true),
            (1, true) => (self.test(greater, &[b, a], None), false),
            (2, true) => (self.test(greater, &[a, b], None), true),
            (5, true) => (self.test(greater, &[b, a], None), true),
            (_, true) => (self.test(greater, &[a, b], None), false),
            // The lesser is the first where that is not greater.
            (relation, false) => {
                let picked = self.apply(if matches!(relation, 2 | 6) { least } else { most }, &[a, b]);
                (self.test(equal, &[picked, a], None), matches!(relation, 1 | 6))
            }
        };
        self.maybe_not(mask, is_not)
    }

    /// Returns the lanes in which two words have set bits in common.
    fn common(&mut self, a: Value, b: Value) -> Value {
        let equal = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
        let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
        let both = if a == b { a } else { self.and(a, b) };
        if self.constant(b).is_some_and(u32::is_power_of_two) {
            return self.test(equal, &[both, b], None);
        }
        let zero = self.splat(0);
        let nowhere = self.test(equal, &[both, zero], None);
        self.maybe_not(nowhere, true)
    }

    /// Computes a function of three bits, as [`Graph::logic`] defines it.
    fn function(&mut self, table: u8, words: [Value; 3]) -> Value {
        if let Some(found) = self.simple(table, words) {
            return found;
        }
        // Tries an operation on one word and the result of another operation on two words.
        for (i, j) in PAIRS {
            for (inner, f) in FUNCTIONS {
                let made = f(COLUMNS[i], COLUMNS[j]);
                for (k, (outer, g)) in (0..3).flat_map(|k| FUNCTIONS.map(|function| (k, function))) {
                    for (found, is_first) in [(g(COLUMNS[k], made), true), (g(made, COLUMNS[k]), false)] {
                        if found == table || found == !table {
                            let made = self.apply(inner, &[words[i], words[j]]);
                            let arguments = if is_first { [words[k], made] } else { [made, words[k]] };
                            let word = self.apply(outer, &arguments);
                            return self.complement(word, found != table);
                        }
                    }
                }
            }
        }
        // Splits the function by a word: its values where the word has ones, and where it has zeros.
        let parts = |k: usize| {
            let (column, by) = (COLUMNS[k], 4 >> k);
            let (ones, zeros) = (table & column, table & !column);
            [ones | ones >> by, zeros | zeros << by]
        };
        let is_simple = |k: &usize| parts(*k).iter().all(|table| [0, 0xff].contains(table) || COLUMNS.contains(table));
        let k = (0..3).find(is_simple).unwrap_or(0);
        let [ones, zeros] = parts(k).map(|table| self.function(table, words));
        let (ones, zeros) = (self.apply(AND, &[words[k], ones]), self.apply(AND_NOT, &[words[k], zeros]));
        self.apply(OR, &[ones, zeros])
    }

    /// Computes a function that takes at most one operation and a complement. `None` for others.
    fn simple(&mut self, table: u8, words: [Value; 3]) -> Option<Value> {
        for is_not in [false, true] {
            let table = if is_not { !table } else { table };
            if table == 0 {
                return Some(self.splat(if is_not { u32::MAX } else { 0 }));
            }
            if let Some(k) = COLUMNS.iter().position(|column| *column == table) {
                return Some(self.complement(words[k], is_not));
            }
            for (code, f) in FUNCTIONS {
                for (i, j) in PAIRS {
                    if f(COLUMNS[i], COLUMNS[j]) == table {
                        let word = self.apply(code, &[words[i], words[j]]);
                        return Some(self.complement(word, is_not));
                    }
                }
            }
        }
        None
    }

    fn complement(&mut self, word: Value, is_not: bool) -> Value {
        let ones = self.splat(u32::MAX);
        if is_not { self.apply(XOR, &[word, ones]) } else { word }
    }

    fn rotated(&mut self, a: Value, by: Value, down: bool) -> Value {
        let (low, width) = (self.splat(31), self.splat(32));
        let by = self.and(by, low);
        let others = self.subtract(width, by);
        // A shift by 32 gives zero.
        let [left, right] = if down { [others, by] } else { [by, others] };
        let up = self.apply(Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32, &[a, left]);
        let down = self.apply(Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32, &[a, right]);
        self.or(up, down)
    }

    /// Converts an unsigned word to a float. Its halves are converted exactly, and only their sum is rounded.
    fn unsigned_to_float(&mut self, a: Value) -> Value {
        let (low, unit) = (self.splat(0xffff), self.splat(0x4b00_0000));
        let low = self.and(a, low);
        let (low, high) = (self.or(low, unit), self.shift_by(Shifted::Right, a, 16));
        let above = self.splat(0x5300_0000);
        let (high, both) = (self.or(high, above), self.splat(0x5300_0080));
        let high = self.apply(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, &[high, both]);
        self.apply(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, &[low, high])
    }

    /// Converts an integral float that is not negative to an unsigned word; all ones if it is too large.
    fn positive_to_unsigned(&mut self, a: Value) -> Value {
        let signed = Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
        let (half, all) = (self.splat(2_147_483_648f32.to_bits()), self.splat(4_294_967_296f32.to_bits()));
        let less = self.apply(Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, &[a, half]);
        let (number, rest) = (self.apply(signed, &[a]), self.apply(signed, &[less]));
        // From 2^31 on, the signed conversion returns only the sign bit.
        let is_more = self.shift_by(Shifted::Arithmetic, number, 31);
        let rest = self.and(rest, is_more);
        let number = self.or(number, rest);
        let ones = self.splat(u32::MAX);
        let above = self.compare_floats(Ordering::LessOrEqual, all, a);
        self.select(above, ones, number)
    }
}

#[cfg(all(test, feature = "valhall"))]
mod tests {
    use isaforge_valhall::semantics::SEMANTICS;

    use super::*;
    use crate::exec::jit::lanes::graph::{Comparison, Relation};
    use crate::level::Level;

    /// Returns the value of a node if the first three rows have the columns of a truth table, and the number of
    /// operations it takes.
    fn evaluate(graph: &Graph, value: Value) -> (u8, usize) {
        match &graph.nodes()[value.index()] {
            Node::Row(row, _) => (COLUMNS[*row as usize], 0),
            Node::Splat(word) => (*word as u8, 0),
            Node::Operation(Operation { code, arguments: [Some(a), Some(b), None], .. }) => {
                let ((a, x), (b, y)) = (evaluate(graph, *a), evaluate(graph, *b));
                let (_, f) = FUNCTIONS.iter().find(|(function, _)| function == code).expect("it is a function of bits");
                (f(a, b), x + y + 1)
            }
            node => panic!("{node:?}"),
        }
    }

    #[test]
    fn every_function_of_three_bits_is_a_few_of_two() {
        let Some(level) = Level::named("avx2") else { return };
        for table in 0..=u8::MAX {
            let mut graph = Graph::new(SEMANTICS, level);
            let words = [0, 1, 2].map(|row| graph.read(row));
            let value = graph.logic(table, words[0], words[1], words[2]);
            let (found, operations) = evaluate(&graph, value);
            assert_eq!(found, table, "{table:#010b}");
            assert!(operations <= 8, "{table:#010b} takes {operations}");
            // Selections by the first and by the second word.
            if [0b1100_1010, 0b1011_1000].contains(&table) {
                assert_eq!(operations, 3, "{table:#010b}");
            }
        }
    }

    #[test]
    fn complements_of_masks_are_undone_where_they_are_read() {
        let Some(level) = Level::named("avx2") else { return };
        let mut graph = Graph::new(SEMANTICS, level);
        let [a, b] = [0, 1].map(|row| graph.read(row));
        let less = graph.compare_unsigned(Relation::Less, a, b);
        let chosen = graph.select(less, a, b);
        let choice = *graph.operation_of(chosen).expect("a choice is an operation");
        // Where the greater is the first, the second is selected.
        assert_eq!((graph.complemented(less), choice.arguments), (choice.mask, [Some(a), Some(b), None]));
        assert_eq!(Some(graph.not_mask(less)), choice.mask);
        let not_less = graph.not_mask(less);
        let Comparison { relation, sides, .. } = graph.compared(not_less).expect("it compares words");
        assert_eq!((*relation, *sides), (Relation::LessOrEqual, [b, a]));
    }
}
