//! Half precision, two in a word: by instructions on halves if the host has them, or else in single precision.
//!
//! Splitting a register into its low and its high half and joining them again keeps every element in place, so it
//! does not matter which halves share a word.

use iced_x86::{Code, RoundingControl};
use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::rounding;
use isaforge_core::semantics::{Node, Op};

use super::float::{SIGN, fma};
use super::{Cover, Found};
use crate::exec::jit::lanes::graph::{Graph, Kind, Ordering, Shifted, Value};
use crate::exec::jit::lanes::host::Host;

const SIGNS: u32 = SIGN | 1 << 15;

/// The instructions to compute with, on halves or on floats.
struct Codes {
    add: Code,
    subtract: Code,
    multiply: Code,
    sign: u32,
}

const HALVES: Codes = Codes {
    add: Code::EVEX_Vaddph_zmm_k1z_zmm_zmmm512b16_er,
    subtract: Code::EVEX_Vsubph_zmm_k1z_zmm_zmmm512b16_er,
    multiply: Code::EVEX_Vmulph_zmm_k1z_zmm_zmmm512b16_er,
    sign: SIGNS,
};

const FLOATS: Codes = Codes {
    add: Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
    subtract: Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
    multiply: Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
    sign: SIGN,
};

impl Cover<'_> {
    pub(super) fn halves(&mut self, at: usize, node: &Node) -> Option<Found> {
        let signs = if node.ty.lanes == 2 { SIGNS } else { 1 << 15 };
        if node.ty.bits != 16 || !matches!(node.ty.lanes, 1 | 2) {
            return None;
        }
        if matches!(node.op, Op::Neg | Op::Abs) {
            return self.sign(node, Kind::Halves, signs);
        }
        if !self.canonicalized[at] || self.graph.nan(16).is_none() || rounding(node.imm) != Round::NearestEven {
            return None;
        }
        let word = match node.op {
            Op::Add | Op::Sub => self.half_sum(node)?,
            Op::Mul => self.half_product(node.args[0], node.args[1], false)?,
            Op::Fma => self.half_fma(node)?,
            _ => return None,
        };
        Self::put(word, node.ty)
    }

    /// Returns the sixteen low and the sixteen high halves of a register.
    fn parts_of_halves(&mut self, node: u16) -> Option<[Value; 2]> {
        let word = self.word(node, Kind::Halves)?;
        if let Some(parts) = self.graph.joined_from(word) {
            return Some(parts);
        }
        let above = match self.graph.constant(word) {
            Some(_) => word,
            None => self.graph.apply_immediate(Code::EVEX_Vextracti32x8_ymmm256_k1z_zmm_imm8, &[word], 1),
        };
        Some([word, above])
    }

    /// Computes with halves if the host has instructions on them, or else with floats, which give the same results:
    /// they have more than twice the digits, so that double rounding is harmless.
    fn on_halves<const N: usize>(
        &mut self,
        nodes: [u16; N],
        mut compute: impl FnMut(&mut Graph, &Codes, [Value; N]) -> Value,
    ) -> Option<Value> {
        if !self.graph.has_halves() {
            return self.through_floats(nodes, |cover, arguments| compute(cover.graph, &FLOATS, arguments));
        }
        let mut words = [Value::of(0); N];
        for (word, node) in words.iter_mut().zip(nodes) {
            *word = self.word(node, Kind::Halves)?;
        }
        let word = compute(self.graph, &HALVES, words);
        Some(self.graph.nan_agnostic(word, Kind::Halves))
    }

    /// Computes with floats, rounded to nearest: first everything on the low halves of the registers, then everything
    /// on the high ones, so that few values are live at a time.
    fn through_floats<const N: usize>(
        &mut self,
        nodes: [u16; N],
        mut compute: impl FnMut(&mut Self, [Value; N]) -> Value,
    ) -> Option<Value> {
        let mut parts = [[Value::of(0); 2]; N];
        for (parts, node) in parts.iter_mut().zip(nodes) {
            *parts = self.parts_of_halves(node)?;
        }
        let [below, above] = [0, 1].map(|part| {
            let wide = Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae;
            let arguments = parts.map(|of| self.graph.apply(wide, &[of[part]]));
            let result = compute(self, arguments);
            self.graph.apply_immediate(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, &[result], 0)
        });
        let both = self.graph.apply_immediate(Code::EVEX_Vinserti32x8_zmm_k1z_zmm_ymmm256_imm8, &[below, above], 1);
        Some(self.graph.nan_agnostic(both, Kind::Halves))
    }

    fn half_sum(&mut self, node: &Node) -> Option<Value> {
        let ((a, x), (b, y)) = (self.negated(node.args[0]), self.negated(node.args[1]));
        let y = y != (node.op == Op::Sub);
        self.on_halves([a, b], |graph, codes, [a, b]| match (x, y) {
            (false, false) => graph.apply(codes.add, &[a, b]),
            (false, true) => graph.apply(codes.subtract, &[a, b]),
            (true, false) => graph.apply(codes.subtract, &[b, a]),
            (true, true) => {
                let sign = graph.splat(codes.sign);
                let a = graph.xor(a, sign);
                graph.apply(codes.subtract, &[a, b])
            }
        })
    }

    /// Computes a product of halves, which is exact in single precision.
    fn half_product(&mut self, a: u16, b: u16, negated: bool) -> Option<Value> {
        self.on_halves([a, b], |graph, codes, [mut a, b]| {
            if negated {
                let sign = graph.splat(codes.sign);
                a = graph.xor(a, sign);
            }
            graph.apply(codes.multiply, &[a, b])
        })
    }

    /// Computes a fused multiply-add. Rounding the exact sum to odd preserves what the second rounding needs; if both
    /// neighbours are equal, the sum is exact. The lower neighbour would have the wrong sign of zero.
    fn half_fma(&mut self, node: &Node) -> Option<Value> {
        let [(a, x), (b, y), (c, z)] = [0, 1, 2].map(|k| self.negated(node.args[k]));
        let nothing = if z { 0 } else { u64::from(if node.ty.lanes == 2 { SIGNS } else { 1 << 15 }) };
        if self.number(c) == Some(nothing) {
            return self.half_product(a, b, x != y);
        }
        if self.graph.has_halves() {
            let code = match (x != y, z) {
                (false, false) => Code::EVEX_Vfmadd213ph_zmm_k1z_zmm_zmmm512b16_er,
                (false, true) => Code::EVEX_Vfmsub213ph_zmm_k1z_zmm_zmmm512b16_er,
                (true, false) => Code::EVEX_Vfnmadd213ph_zmm_k1z_zmm_zmmm512b16_er,
                (true, true) => Code::EVEX_Vfnmsub213ph_zmm_k1z_zmm_zmmm512b16_er,
            };
            return self.on_halves([a, b, c], |graph, _, factors| graph.apply(code, &factors));
        }
        if self.graph.host() == Host::Avx2 {
            return self.through_floats([a, b, c], |cover, [a, b, c]| cover.odd_sum([a, b, c], x != y, z));
        }
        let code = fma(x != y, z);
        self.through_floats([a, b, c], |cover, factors| {
            let below = cover.graph.apply_rounded(code, &factors, RoundingControl::RoundDown);
            let above = cover.graph.apply_rounded(code, &factors, RoundingControl::RoundUp);
            let one = cover.graph.splat(1);
            let odd = cover.graph.intersects(below, one);
            cover.graph.select(odd, below, above)
        })
    }

    /// Returns a product's sum with an addend, rounded to odd, with instructions that only round to nearest: the
    /// product is exact, and the error of a sum of two floats can be computed.
    fn odd_sum(&mut self, [mut a, b, mut c]: [Value; 3], product: bool, addend: bool) -> Value {
        let (add, subtract) =
            (Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er);
        let graph = &mut *self.graph;
        let (sign, one, zero) = (graph.splat(SIGN), graph.splat(1), graph.splat(0));
        if product {
            a = graph.xor(a, sign);
        }
        if addend {
            c = graph.xor(c, sign);
        }
        let product = graph.apply(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, &[a, b]);
        let sum = graph.apply(fma(false, false), &[a, b, c]);
        let of_addend = graph.apply(subtract, &[sum, product]);
        let of_product = graph.apply(subtract, &[sum, of_addend]);
        let residual = [(product, of_product), (c, of_addend)].map(|(all, part)| graph.apply(subtract, &[all, part]));
        let residual = graph.apply(add, &residual);
        // Moves towards zero if the sum is too large; then takes the odd one of it and its neighbour away from zero.
        let apart = graph.xor(residual, sum);
        let less = graph.shift_by(Shifted::Arithmetic, apart, 31);
        let least = graph.add(sum, less);
        let odd = graph.or(least, one);
        let is_inexact = graph.compare_floats(Ordering::Apart, residual, zero);
        graph.select(is_inexact, odd, sum)
    }
}
