//! Single precision.

use iced_x86::{Code, RoundingControl};
use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::{WIDEN, rounding};
use isaforge_core::semantics::{Class, Node, Op, Type};

use super::{Cover, Found};
use crate::exec::jit::lanes::graph::{Graph, Kind, Operation, Ordering, Shifted, Value};
use crate::exec::jit::lanes::host::Host;
use crate::exec::jit::lanes::pieces::Pieces;

pub(super) const SIGN: u32 = 1 << 31;
const ZERO: u32 = 0;
const F32: Type = Type::float(32);

/// Returns the rounding as the immediate of host instructions encodes it.
fn immediate(round: Round) -> Option<u8> {
    Some(match round {
        Round::NearestEven => 0,
        Round::Down => 1,
        Round::Up => 2,
        Round::Zero => 3,
        Round::Away => return None,
    })
}

/// Returns the rounding as the prefix of host instructions encodes it.
fn control(round: Round) -> Option<RoundingControl> {
    Some(match round {
        Round::NearestEven => RoundingControl::None,
        Round::Down => RoundingControl::RoundDown,
        Round::Up => RoundingControl::RoundUp,
        Round::Zero => RoundingControl::RoundTowardZero,
        Round::Away => return None,
    })
}

/// Returns the fused multiply-add of single precision, with a negated product or a negated addend.
pub(super) fn fma(product: bool, addend: bool) -> Code {
    match (product, addend) {
        (false, false) => Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        (false, true) => Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        (true, false) => Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        (true, true) => Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
    }
}

impl Cover<'_> {
    /// Returns the node that a node negates, or the node itself, and whether it is a negation.
    pub(super) fn negated(&self, node: u16) -> (u16, bool) {
        match self.node(node) {
            Some(Node { op: Op::Neg, args, .. }) if self.number(node).is_none() => (args[0], true),
            _ => (node, false),
        }
    }

    pub(super) fn float(&mut self, at: usize, node: &Node) -> Option<Found> {
        let [a, b, ..] = node.args;
        let word = match node.op {
            Op::Neg | Op::Abs => return self.sign(node, Kind::Float, SIGN),
            Op::Min | Op::Max => self.pick(node)?,
            // A reader of a NaN's payload must see that of the definition, which no instruction computes.
            _ if !self.canonicalized[at] || self.graph.nan(32).is_none() => return None,
            _ => {
                let round = rounding(node.imm);
                let word = match node.op {
                    Op::Fma => self.fused(node, round)?,
                    Op::Add | Op::Sub => self.sum(node, round)?,
                    Op::Mul => self.rounded(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, &[a, b], round)?,
                    Op::Div => self.rounded(Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, &[a, b], round)?,
                    Op::Sqrt => self.rounded(Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, &[a], round)?,
                    Op::RoundIntegral => {
                        let word = self.word(a, Kind::Float)?;
                        self.integral(word, round)?
                    }
                    _ => return None,
                };
                self.graph.nan_agnostic(word, Kind::Float)
            }
        };
        Self::put(word, node.ty)
    }

    fn rounded(&mut self, code: Code, arguments: &[u16], round: Round) -> Option<Value> {
        let words: Option<Vec<Value>> = arguments.iter().map(|node| self.word(*node, Kind::Float)).collect();
        Some(self.graph.apply_rounded(code, &words?, control(round)?))
    }

    /// Computes `a * b + c`; the instruction includes the signs.
    fn fused(&mut self, node: &Node, round: Round) -> Option<Value> {
        let [(a, x), (b, y), (c, z)] = [0, 1, 2].map(|k| self.negated(node.args[k]));
        let factors = [self.word(a, Kind::Float)?, self.word(b, Kind::Float)?];
        let control = control(round)?;
        let least = if z { ZERO } else { SIGN };
        if round == Round::NearestEven && self.number(c) == Some(least.into()) {
            // Adding -0 changes nothing, not even a zero.
            let mut factors = factors;
            if x != y {
                let sign = self.graph.splat(SIGN);
                factors[0] = self.graph.xor(factors[0], sign);
            }
            return Some(self.graph.apply(Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, &factors));
        }
        let addend = self.word(c, Kind::Float)?;
        Some(self.graph.apply_rounded(fma(x != y, z), &[factors[0], factors[1], addend], control))
    }

    fn sum(&mut self, node: &Node, round: Round) -> Option<Value> {
        let ((a, x), (b, y)) = (self.negated(node.args[0]), self.negated(node.args[1]));
        let y = y != (node.op == Op::Sub);
        let (mut a, b) = (self.word(a, Kind::Float)?, self.word(b, Kind::Float)?);
        let (sum, difference) =
            (Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er);
        let (code, arguments) = match (x, y) {
            (false, false) => (sum, [a, b]),
            (false, true) => (difference, [a, b]),
            (true, false) => (difference, [b, a]),
            (true, true) => {
                let sign = self.graph.splat(SIGN);
                a = self.graph.xor(a, sign);
                (difference, [a, b])
            }
        };
        Some(self.graph.apply_rounded(code, &arguments, control(round)?))
    }

    /// Computes the magnitude or the negation, for readers of payloads and for others.
    pub(super) fn sign(&mut self, node: &Node, kind: Kind, signs: u32) -> Option<Found> {
        let change = |cover: &mut Self, kind: Kind| {
            let word = cover.word(node.args[0], kind)?;
            let (sign, magnitude) = (cover.graph.splat(signs), cover.graph.splat(!signs));
            Some(match node.op {
                Op::Neg => cover.graph.xor(word, sign),
                _ => cover.graph.and(word, magnitude),
            })
        };
        let (exact, loose) = (change(self, Kind::Word)?, change(self, kind)?);
        self.graph.loosely(exact, kind, loose);
        Self::put(exact, node.ty)
    }

    /// Computes the minimum or the maximum. A NaN loses against a number; zeros are ordered by their signs.
    fn pick(&mut self, node: &Node) -> Option<Value> {
        let [mut a, mut b, ..] = node.args;
        let least = node.op == Op::Min;
        let code = if least {
            Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae
        } else {
            Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae
        };
        if self.number(a).is_some() {
            (a, b) = (b, a);
        }
        let words = [self.word(a, Kind::Float)?, self.word(b, Kind::Float)?];
        if let Some(bound) = self.number(b)
            && !f32::from_bits(bound as u32).is_nan()
            && bound as u32 != if least { ZERO } else { SIGN }
        {
            // These return their second operand if one is a NaN or both are zeros.
            let picked = self.graph.apply(code, &words);
            return Some(self.graph.settled(picked));
        }
        let [a, b] = words;
        let (one, other) = (self.graph.apply(code, &[a, b]), self.graph.apply(code, &[b, a]));
        // The two differ only in NaNs and in the signs of zeros.
        let picked = if least { self.graph.or(one, other) } else { self.graph.and(one, other) };
        let nan_a = self.graph.compare_floats(Ordering::Unordered, a, a);
        let picked = self.graph.select(nan_a, b, picked);
        let nan_b = self.graph.compare_floats(Ordering::Unordered, b, b);
        let picked = self.graph.select(nan_b, a, picked);
        // If both are NaNs, the definition gives the canonical NaN.
        Some(self.graph.canonical(picked, Kind::Float))
    }

    /// Returns an integer that orders as floats do by sign and magnitude.
    pub(super) fn order_key(&mut self, word: Value) -> Value {
        let magnitude = self.graph.splat(!SIGN);
        let negative = self.graph.shift_by(Shifted::Arithmetic, word, 31);
        // word ^ (negative & magnitude)
        self.graph.logic(0b0111_1000, word, negative, magnitude)
    }

    fn integral(&mut self, word: Value, round: Round) -> Option<Value> {
        let code = Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
        Some(self.graph.apply_immediate(code, &[word], immediate(round)?))
    }

    pub(super) fn convert(&mut self, at: usize, node: &Node) -> Option<Found> {
        let (from, to) = (self.ty(node.args[0])?, node.ty);
        let round = rounding(node.imm);
        if from.lanes != 1 || to.lanes != 1 {
            return None;
        }
        if node.imm == WIDEN {
            return if (from, to) == (Type::float(16), F32) { self.widen_exactly(node) } else { None };
        }
        let canonical = self.canonicalized[at];
        let word = match (from.class, to.class) {
            (Class::Float, Class::Float) if !canonical => return None,
            (Class::Float, Class::Float) => match (from.bits, to.bits) {
                (16, 32) => self.wide(node.args[0])?,
                (32, 16) => {
                    let word = self.word(node.args[0], Kind::Float)?;
                    self.narrow(word, round)?
                }
                (64, 32) if round == Round::NearestEven => {
                    let word = self.rooted(node.args[0])?;
                    self.reciprocal_root(word)?
                }
                _ => return None,
            },
            (Class::Float, _) if to.size() == 32 => {
                let word =
                    if from.bits == 16 { self.wide(node.args[0])? } else { self.word(node.args[0], Kind::Float)? };
                self.rounded_to_integer(word, to, round)?
            }
            (_, Class::Float) if to == F32 && from.size() <= 32 => {
                let word = self.extended(node.args[0])?;
                let code = match from.class {
                    Class::Signed => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
                    Class::Unsigned => Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
                    _ => return None,
                };
                let word = self.graph.apply_rounded(code, &[word], control(round)?);
                self.graph.settled(word)
            }
            _ => return None,
        };
        Self::put(word, to)
    }

    /// Returns the float whose reciprocal square root a node is, if it is computed in double precision.
    fn rooted(&self, node: u16) -> Option<u16> {
        let beneath = |mut node: u16| loop {
            match self.node(node)? {
                Node { op: Op::Canonical, args, .. } => node = args[0],
                found => return Some(found),
            }
        };
        let nearest = |node: &Node| rounding(node.imm) == Round::NearestEven;
        let quotient = beneath(node).filter(|node| node.op == Op::Div && nearest(node))?;
        let root = beneath(quotient.args[1]).filter(|node| node.op == Op::Sqrt && nearest(node))?;
        let wide = beneath(root.args[0]).filter(|node| node.op == Op::Convert)?;
        let one = self.shape.constant(quotient.args[0]) == Some(1f64.to_bits());
        (one && self.ty(wide.args[0])? == F32).then_some(wide.args[0])
    }

    /// Computes `1.0 / sqrt(x)` in double precision, rounded to single, from [`refined`] estimates.
    fn reciprocal_root(&mut self, x: u16) -> Option<Value> {
        let word = self.word(x, Kind::Float)?;
        let graph = &mut *self.graph;
        let mul = Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
        let root = if graph.host() == Host::Avx512 {
            let estimate = graph.apply(Code::EVEX_Vrsqrt14ps_zmm_k1z_zmmm512b32, &[word]);
            refined(graph, word, estimate)
        } else if is_flushed(graph, word) {
            let estimate = graph.apply(Code::VEX_Vrsqrtps_ymm_ymmm256, &[word]);
            refined(graph, word, estimate)
        } else {
            // The AVX2 estimate treats subnormal numbers as zeros, so these are scaled.
            let [least, up, down] = [-126, 24, 12].map(|power| graph.splat(2f32.powi(power).to_bits()));
            let scaled = graph.apply(mul, &[word, up]);
            let is_small = graph.compare_floats(Ordering::Less, word, least);
            let word = graph.select(is_small, scaled, word);
            let estimate = graph.apply(Code::VEX_Vrsqrtps_ymm_ymmm256, &[word]);
            let root = refined(graph, word, estimate);
            let scaled = graph.apply(mul, &[root, down]);
            graph.select(is_small, scaled, root)
        };
        Some(self.graph.nan_agnostic(root, Kind::Float))
    }

    /// Widens a half to a float; a NaN becomes some NaN.
    fn wide(&mut self, node: u16) -> Option<Value> {
        if self.ty(node)?.bits != 16 {
            return self.word(node, Kind::Float);
        }
        let word = match self.pieces(node)?.single() {
            // The bits above are cut off.
            Some((word, 0, _)) => self.graph.read_as(word, Kind::Word),
            _ => self.word(node, Kind::Word)?,
        };
        let halves = self.graph.apply(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, &[word]);
        let wide = self.graph.apply(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, &[halves]);
        Some(self.graph.nan_agnostic(wide, Kind::Float))
    }

    /// Widens a half to a float. A NaN keeps its sign and payload and stays signalling, whereas the instruction would
    /// make it quiet.
    fn widen_exactly(&mut self, node: &Node) -> Option<Found> {
        let wide = self.wide(node.args[0])?;
        let raised = self.pieces(node.args[0])?.raised(16, 32);
        // The bits below the half are cut off.
        let raised = match raised_from(&raised) {
            Some(word) => self.graph.read_as(word, Kind::Word),
            None => self.graph.assemble(&raised, Kind::Word),
        };
        // Copies of the sign are where the exponent needs ones.
        let fields = self.graph.shift_by(Shifted::Arithmetic, raised, 3);
        let (below, ones) = (self.graph.splat(!0x1fff), self.graph.splat(0x7000_0000));
        // fields & below | ones
        let nan = self.graph.logic(0b1110_1010, fields, below, ones);
        let unordered = self.graph.compare_floats(Ordering::Unordered, wide, wide);
        let exact = self.graph.select(unordered, nan, wide);
        self.graph.loosely(exact, Kind::Float, wide);
        Self::put(exact, node.ty)
    }

    /// Narrows a float to a half in the low bits, with zeros above.
    fn narrow(&mut self, word: Value, round: Round) -> Option<Value> {
        let word = self.graph.canonical(word, Kind::Float);
        let word = self.graph.read_as(word, Kind::Word);
        let code = Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae;
        let halves = self.graph.apply_immediate(code, &[word], immediate(round)?);
        let word = self.graph.apply(Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256, &[halves]);
        Some(self.graph.settled(word))
    }

    /// Rounds to an integer; values out of range become the nearest one, a NaN becomes 0.
    fn rounded_to_integer(&mut self, word: Value, to: Type, round: Round) -> Option<Value> {
        let rounded = self.integral(word, round)?;
        let zero = self.graph.splat(0);
        if to.class == Class::Unsigned {
            // The instruction returns all ones for values above the range.
            let positive = self.graph.apply(Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, &[rounded, zero]);
            return Some(self.graph.apply(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, &[positive]));
        }
        let number = self.graph.apply(Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, &[rounded]);
        let (bound, most) = (self.graph.splat(2_147_483_648f32.to_bits()), self.graph.splat(i32::MAX as u32));
        let above = self.graph.compare_floats(Ordering::LessOrEqual, bound, rounded);
        let number = self.graph.select(above, most, number);
        let unordered = self.graph.compare_floats(Ordering::Unordered, word, word);
        Some(self.graph.select(unordered, zero, number))
    }
}

/// Whether a float is known not to be subnormal: if the exponent of a word is zero, so are all bits but the sign.
fn is_flushed(graph: &Graph, word: Value) -> bool {
    let chosen = |value: Value| match graph.operation_of(value)? {
        Operation {
            code: Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
            arguments: [Some(no), Some(yes), _],
            mask: Some(mask),
            ..
        } => Some((*graph.operation_of(*mask)?, *no, *yes)),
        _ => None,
    };
    let bits_of = |value: Value, bits: u32| match graph.operation_of(value)? {
        Operation { code: Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, arguments: [Some(of), Some(mask), _], .. } => {
            (graph.constant(*mask) == Some(bits)).then_some(*of)
        }
        _ => None,
    };
    let flushed = || {
        let (is_zero, number, zero) = chosen(word)?;
        let (Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, [Some(exponent), Some(other), _]) = (is_zero.code, is_zero.arguments)
        else {
            return None;
        };
        let tested = bits_of(exponent, 0x7f80_0000).filter(|_| graph.constant(other) == Some(0))?;
        bits_of(zero, 0x8000_0000)?;
        // The tested value may also be the number with its NaNs replaced.
        let is_same = || {
            let (is_nan, same, _) = chosen(tested)?;
            let unordered = is_nan.code == Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae
                && is_nan.immediate == Some(Ordering::Unordered as u8);
            (unordered && is_nan.arguments == [Some(number), Some(number), None] && same == number).then_some(())
        };
        if tested == number { Some(()) } else { is_same() }
    };
    flushed().is_some()
}

/// Returns the reciprocal square root of a float as double precision rounds it, from an estimate that is off by at
/// most 1.5 · 2^-12; roots and quotients would take the host several times as long. With `e = 1 - x s²` the root is
/// `s (1 - e)^-½`. Three terms of that series are at most one float off, and two more for the remainder, with exact
/// products, give the root: a test shows it for all mantissas.
fn refined(graph: &mut Graph, x: Value, estimate: Value) -> Value {
    let [fma, fms, fnma] = [
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
    ];
    let mul = Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
    let [one, half, more, most] = [1.0, 0.5, 0.375, 0.75f32].map(|number| graph.splat(number.to_bits()));
    let product = graph.apply(mul, &[x, estimate]);
    let e = graph.apply(fnma, &[product, estimate, one]);
    let series = graph.apply(fma, &[e, more, half]);
    let series = graph.apply(mul, &[series, e]);
    let near = graph.apply(fma, &[series, estimate, estimate]);
    let product = graph.apply(mul, &[x, near]);
    let rest = graph.apply(fms, &[x, near, product]);
    let e = graph.apply(fnma, &[product, near, one]);
    let e = graph.apply(fnma, &[rest, near, e]);
    let squared = graph.apply(mul, &[e, most]);
    let series = graph.apply(fma, &[squared, e, e]);
    let halved = graph.apply(mul, &[near, half]);
    let root = graph.apply(fma, &[halved, series, near]);
    // Zeros, infinities and arguments without a root are handled by the estimate.
    let unordered = graph.compare_floats(Ordering::Unordered, root, root);
    graph.select(unordered, estimate, root)
}

/// Returns the word whose high half is the high half of a value, whatever is below.
fn raised_from(pieces: &Pieces) -> Option<Value> {
    let (word, from, bits) = pieces.slice(16, 16).single()?;
    (from == 16 && bits == 16).then_some(word)
}

#[cfg(test)]
mod tests {
    /// Computes the first refinement as machine code does.
    fn first(x: f32, estimate: f32) -> f32 {
        let e = (-(x * estimate)).mul_add(estimate, 1.0);
        (e.mul_add(0.375, 0.5) * e).mul_add(estimate, estimate)
    }

    /// Computes the second refinement as machine code does.
    fn second(x: f32, near: f32) -> f32 {
        let product = x * near;
        let rest = x.mul_add(near, -product);
        let e = (-rest).mul_add(near, (-product).mul_add(near, 1.0));
        (near * 0.5).mul_add((e * 0.75).mul_add(e, e), near)
    }

    #[test]
    fn reciprocal_roots_are_rounded_alike_from_whatever_estimate() {
        // All mantissas, with even and with odd exponents.
        for x in (0..1 << 24).map(|bits| f32::from_bits((127 << 23) + bits)) {
            let root = (1.0 / f64::from(x).sqrt()) as f32;
            let near = |by: i32| f32::from_bits(root.to_bits().wrapping_add_signed(by));
            for by in -1..2 {
                assert_eq!(second(x, near(by)), root, "{x:e} from {:e}", near(by));
            }
            let off = [-1.5, -1.4, -0.3, 0.7, 1.5][x.to_bits() as usize % 5] * 2f32.powi(-12);
            let found = first(x, off.mul_add(root, root));
            assert!((-1..2).any(|by| near(by) == found), "{x:e}: {found:e} is not next to {root:e}");
        }
    }
}
