//! Operations on words and masks.

use iced_x86::Code;

use crate::exec::jit::lanes::graph::{Comparison, Graph, Node, Operation, Ordering, Relation, Shifted, Value};
use crate::exec::jit::lanes::host::Host;

impl Graph {
    /// Returns the lanes in which two floats compare as given.
    pub fn compare_floats(&mut self, ordering: Ordering, a: Value, b: Value) -> Value {
        self.test(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, &[a, b], Some(ordering as u8))
    }

    /// Returns the lanes in which two unsigned words compare as given.
    pub fn compare_unsigned(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let code = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
        self.compare_words(code, Comparison { relation, signed: false, sides: [a, b] })
    }

    /// Returns the lanes in which two signed words compare as given.
    pub fn compare_signed(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        let code = Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
        self.compare_words(code, Comparison { relation, signed: true, sides: [a, b] })
    }

    fn compare_words(&mut self, code: Code, comparison: Comparison) -> Value {
        let mask = self.test(code, &comparison.sides, Some(comparison.relation as u8));
        self.compared.insert(mask, comparison);
        // Who reads a complement may read the mask itself.
        if let Some(mask) = self.complemented(mask) {
            self.compared.insert(mask, comparison.complement());
        }
        mask
    }

    /// Returns the comparison of integers that a mask results from.
    pub fn compared(&self, mask: Value) -> Option<&Comparison> {
        self.compared.get(&mask)
    }

    /// Returns a value as the sum of another value and a constant.
    pub fn sum(&self, value: Value) -> (Value, u32) {
        self.sums.get(&value).copied().unwrap_or((value, 0))
    }

    /// Returns the lanes in which two words have set bits in common.
    pub fn intersects(&mut self, a: Value, b: Value) -> Value {
        let mask = self.test(Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &[a, b], None);
        // A word has bits in common with itself where it is not zero.
        if a == b {
            let sides = [a, self.splat(0)];
            self.compared.insert(mask, Comparison { relation: Relation::Different, signed: false, sides });
        }
        mask
    }

    /// Returns the mask from which a word was selected, if it tells where the word is not zero, and whether it is
    /// inverted.
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

    /// Returns the lanes of a mask in which a comparison holds as well, if its instruction can be masked.
    pub fn test_within(&mut self, mask: Value, comparison: Value) -> Option<Value> {
        let operation = *self.operation_of(comparison)?;
        self.within(mask, operation)
    }

    /// Returns the active lanes of a loop in which a mask holds, or, with `inverted`, does not.
    pub fn leaving(&mut self, mask: Value, inverted: bool) -> Value {
        let active = self.node(Node::Active);
        let operation = self.operation_of(mask).copied();
        let operation = if inverted { operation.and_then(opposite) } else { operation };
        let within = operation.and_then(|operation| self.within(active, operation));
        within.unwrap_or_else(|| if inverted { self.without(active, mask) } else { self.both(active, mask) })
    }

    fn within(&mut self, mask: Value, operation: Operation) -> Option<Value> {
        let can = matches!(
            operation.code,
            Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae
                | Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8
                | Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8
                | Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32
                | Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32
        );
        (can && operation.mask.is_none() && self.host == Host::Avx512)
            .then(|| self.node(Node::Operation(Operation { mask: Some(mask), ..operation })))
    }

    /// Returns the bits of a word that may be set, as far as its instruction tells.
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

    /// Returns the lanes of both masks.
    pub fn both(&mut self, one: Value, other: Value) -> Value {
        self.test(Code::VEX_Kandw_kr_kr_kr, &[one, other], None)
    }

    /// Returns the lanes of either mask.
    pub fn either(&mut self, one: Value, other: Value) -> Value {
        self.test(Code::VEX_Korw_kr_kr_kr, &[one, other], None)
    }

    /// Returns the lanes of one mask that are not in the other.
    pub fn without(&mut self, one: Value, other: Value) -> Value {
        self.test(Code::VEX_Kandnw_kr_kr_kr, &[other, one], None)
    }

    /// Returns the lanes that are not in the mask.
    pub fn not_mask(&mut self, mask: Value) -> Value {
        self.test(Code::VEX_Knotw_kr_kr, &[mask], None)
    }

    /// Returns `a` in the lanes of a mask, `b` in the others.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        self.blend(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, mask, a, b)
    }

    /// Returns the bits set in both.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(u32::MAX)] => a,
            [Some(u32::MAX), _] => b,
            _ => self.apply(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// Returns the bits set in either.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(0)] => a,
            [Some(0), _] => b,
            _ => self.apply(Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// Returns the bits set in exactly one.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        match [self.constant(a), self.constant(b)] {
            [_, Some(0)] => a,
            [Some(0), _] => b,
            _ => self.apply(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, &[a, b]),
        }
    }

    /// Computes any function of three bits. `table` has its values for 0b000 to 0b111, from the lowest bit on; `a` is
    /// the highest of the three bits.
    pub fn logic(&mut self, table: u8, a: Value, b: Value, c: Value) -> Value {
        self.apply_immediate(Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, &[a, b, c], table)
    }

    /// Returns the complement.
    pub fn not(&mut self, a: Value) -> Value {
        self.logic(0x0f, a, a, a)
    }

    /// Returns the sum.
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

    /// Returns the difference.
    pub fn subtract(&mut self, a: Value, b: Value) -> Value {
        if self.constant(b) == Some(0) { a } else { self.apply(Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, &[a, b]) }
    }

    /// Rotates a word to the left by a constant.
    pub fn rotate(&mut self, a: Value, bits: u32) -> Value {
        match bits % 32 {
            0 => a,
            bits => self.apply_immediate(Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, &[a], bits as u8),
        }
    }

    /// Shifts a word by a constant below 32.
    pub fn shift_by(&mut self, way: Shifted, a: Value, bits: u32) -> Value {
        let code = match way {
            _ if bits == 0 => return a,
            Shifted::Left => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            Shifted::Right => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            Shifted::Arithmetic => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
        };
        self.apply_immediate(code, &[a], bits as u8)
    }

    /// Shifts a word by the low five bits of another.
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

/// Returns the comparison that holds where another one, without a mask, does not.
fn opposite(operation: Operation) -> Option<Operation> {
    match operation.code {
        _ if operation.mask.is_some() => None,
        // Predicates come in pairs of opposites, which differ in one bit.
        Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae
        | Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8
        | Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8 => {
            Some(Operation { immediate: Some(operation.immediate? ^ 4), ..operation })
        }
        Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32 => {
            Some(Operation { code: Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32, ..operation })
        }
        _ => None,
    }
}
