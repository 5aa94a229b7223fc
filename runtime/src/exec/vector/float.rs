//! Float handlers for one component. Each arithmetic operation here is followed by [`Op::Canonical`], so that only
//! the number matters and every NaN becomes the canonical one. Without it the definition decides which NaN results.

use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::{WIDEN, rounding};
use isaforge_core::semantics::{Comparison, Op, Type};

use super::Family;
use super::half;
use super::handler::Handler;
use super::rule::{of, rules};

type Found<const K: usize, F> = Option<(Handler<K, F>, u8)>;

#[inline(always)]
fn canonical(value: f32, nan: u64) -> u32 {
    if value.is_nan() { nan as u32 } else { value.to_bits() }
}

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 0x40_0000;

fn ones(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

#[inline(always)]
fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

/// Returns an integer that orders like the number, with -0 before +0.
#[inline(always)]
fn rank(bits: u32) -> i32 {
    (bits ^ ((bits as i32 >> 31) as u32 >> 1)) as i32
}

#[inline(always)]
fn lesser(a: u32, b: u32) -> u32 {
    let number = if rank(b) < rank(a) { b } else { a };
    without_nan(a, b, number)
}

#[inline(always)]
fn greater(a: u32, b: u32) -> u32 {
    let number = if rank(b) > rank(a) { b } else { a };
    without_nan(a, b, number)
}

/// Returns the other operand if one is a NaN, or the first one made quiet if both are.
#[inline(always)]
fn without_nan(a: u32, b: u32, number: u32) -> u32 {
    let (is_a, is_b) = (is_nan(a), is_nan(b));
    let either = if is_b { a } else { number };
    let loser = if is_a { b } else { either };
    if is_a && is_b { a | QUIET } else { loser }
}

rules! { u32;
    Add(a, b; nan) canonical(f(a) + f(b), nan);
    Sub(a, b; nan) canonical(f(a) - f(b), nan);
    Mul(a, b; nan) canonical(f(a) * f(b), nan);
    Div(a, b; nan) canonical(f(a) / f(b), nan);
    Sqrt(a; nan) canonical(f(a).sqrt(), nan);
    Fma(a, b, c; nan) canonical(f(a).mul_add(f(b), f(c)), nan);
    Canonical(a; nan) if is_nan(a) { nan as u32 } else { a };
    Min(a, b; _) lesser(a, b);
    Max(a, b; _) greater(a, b);
    Neg(a; _) a ^ SIGN;
    Abs(a; _) a & !SIGN;
    Equal(a, b; _) ones(f(a) == f(b));
    NotEqual(a, b; _) ones(f(a) != f(b));
    Less(a, b; _) ones(f(a) < f(b));
    LessEqual(a, b; _) ones(f(a) <= f(b));
    Apart(a, b; _) ones(f(a) < f(b) || f(a) > f(b));
    Unordered(a, b; _) ones(is_nan(a) || is_nan(b));
    Total(a, b; _) ones(rank(a) <= rank(b));
    ToSigned(a; _) f(a) as i32 as u32;
    ToUnsigned(a; _) f(a) as u32;
    FromSigned(a; _) (a as i32 as f32).to_bits();
    FromUnsigned(a; _) (a as f32).to_bits();
    /// Widens a half in the low bits to a single.
    Widen(a; _) {
        let wide = half::widen(a);
        if is_nan(wide) { wide | QUIET } else { wide }
    };
    /// The same, but a NaN keeps its bits.
    WidenNan(a; _) half::widen(a);
    /// Narrows a single to a half in the low bits, rounded to nearest.
    Narrow(a; _) half::narrow(a);
}

/// Returns the handler of an operation that is followed by [`Op::Canonical`].
pub(super) fn arithmetic<const K: usize, F: Family<K>>(op: Op, bits: u8) -> Found<K, F> {
    Some(match (op, bits) {
        (Op::Add, 32) => of::<Add, K, F>(),
        (Op::Sub, 32) => of::<Sub, K, F>(),
        (Op::Mul, 32) => of::<Mul, K, F>(),
        (Op::Div, 32) => of::<Div, K, F>(),
        (Op::Sqrt, 32) => of::<Sqrt, K, F>(),
        (Op::Fma, 32) => of::<Fma, K, F>(),
        (Op::Add, 16) => of::<half::Add, K, F>(),
        (Op::Sub, 16) => of::<half::Sub, K, F>(),
        (Op::Mul, 16) => of::<half::Mul, K, F>(),
        (Op::Div, 16) => of::<half::Div, K, F>(),
        (Op::Sqrt, 16) => of::<half::Sqrt, K, F>(),
        (Op::Fma, 16) => of::<half::Fma, K, F>(),
        _ => return None,
    })
}

/// Returns the handler of an operation with defined NaN results.
pub(super) fn plain<const K: usize, F: Family<K>>(op: Op, bits: u8) -> Found<K, F> {
    Some(match (op, bits) {
        (Op::Canonical, 32) => of::<Canonical, K, F>(),
        (Op::Min, 32) => of::<Min, K, F>(),
        (Op::Max, 32) => of::<Max, K, F>(),
        (Op::Neg, 32) => of::<Neg, K, F>(),
        (Op::Abs, 32) => of::<Abs, K, F>(),
        (Op::Canonical, 16) => of::<half::Canonical, K, F>(),
        (Op::Min, 16) => of::<half::Min, K, F>(),
        (Op::Max, 16) => of::<half::Max, K, F>(),
        (Op::Neg, 16) => of::<half::Neg, K, F>(),
        (Op::Abs, 16) => of::<half::Abs, K, F>(),
        _ => return None,
    })
}

/// Returns the handler of a comparison.
pub(super) fn compare<const K: usize, F: Family<K>>(how: Comparison, bits: u8) -> Found<K, F> {
    Some(match (how, bits) {
        (Comparison::Equal, 32) => of::<Equal, K, F>(),
        (Comparison::NotEqual, 32) => of::<NotEqual, K, F>(),
        (Comparison::Less, 32) => of::<Less, K, F>(),
        (Comparison::LessEqual, 32) => of::<LessEqual, K, F>(),
        (Comparison::Apart, 32) => of::<Apart, K, F>(),
        (Comparison::Unordered, 32) => of::<Unordered, K, F>(),
        (Comparison::TotalLessEqual, 32) => of::<Total, K, F>(),
        (Comparison::Equal, 16) => of::<half::Equal, K, F>(),
        (Comparison::NotEqual, 16) => of::<half::NotEqual, K, F>(),
        (Comparison::Less, 16) => of::<half::Less, K, F>(),
        (Comparison::LessEqual, 16) => of::<half::LessEqual, K, F>(),
        (Comparison::Apart, 16) => of::<half::Apart, K, F>(),
        (Comparison::Unordered, 16) => of::<half::Unordered, K, F>(),
        (Comparison::TotalLessEqual, 16) => of::<half::Total, K, F>(),
        _ => return None,
    })
}

/// Returns the handler of a conversion that keeps components in place; `single` if a slot holds one component.
pub(super) fn convert<const K: usize, F: Family<K>>(imm: u16, from: Type, to: Type, single: bool) -> Found<K, F> {
    let signed = |ty: Type| ty.class == isaforge_core::semantics::Class::Signed;
    let round = rounding(imm);
    Some(match (from.is_float(), to.is_float(), from.bits, to.bits) {
        (true, false, 32, 32) if round == Round::Zero && signed(to) => of::<ToSigned, K, F>(),
        (true, false, 32, 32) if round == Round::Zero => of::<ToUnsigned, K, F>(),
        (false, true, 32, 32) if round == Round::NearestEven && signed(from) => of::<FromSigned, K, F>(),
        (false, true, 32, 32) if round == Round::NearestEven => of::<FromUnsigned, K, F>(),
        (true, false, 16, 16) if round == Round::Zero && signed(to) => of::<half::ToSigned, K, F>(),
        (true, false, 16, 16) if round == Round::Zero => of::<half::ToUnsigned, K, F>(),
        (false, true, 16, 16) if round == Round::NearestEven && signed(from) => of::<half::FromSigned, K, F>(),
        (false, true, 16, 16) if round == Round::NearestEven => of::<half::FromUnsigned, K, F>(),
        (true, true, 16, 32) if single && imm == WIDEN => of::<WidenNan, K, F>(),
        (true, true, 16, 32) if single && round == Round::NearestEven => of::<Widen, K, F>(),
        (true, true, 32, 16) if single && round == Round::NearestEven => of::<Narrow, K, F>(),
        _ => return None,
    })
}
