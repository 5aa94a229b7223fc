//! Rules for components of 64 bits with slots of 32 bits: a value takes two rows, for its low and its high words.

use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::{WIDEN, rounding};
use isaforge_core::semantics::{Class, Comparison, Op, Type};

use super::handler::{Body, Exact, Handler, Micro, NO_ROW};
use super::number::{float, number};
use super::rule::{Found, Rule, rules};
use super::{Family, Member};

/// The handler of a rule on pairs of rows.
struct Pairs<R>(std::marker::PhantomData<R>);

impl<R: Rule<Part = u64>> Body for Pairs<R> {
    #[inline(always)]
    fn run<const K: usize, F: Family<K>>(op: &Micro<K, F>, _: &[Exact], members: &mut [F::Member<'_>]) {
        for member in members {
            for part in 0..F::PARTS {
                if !member.is_busy(part) {
                    continue;
                }
                let row = |at: usize| *member.part(op.from[at], part);
                let rows = [row(0), row(1), row(2), row(3), row(4), row(5)];
                let [low, high] = pairs::<R, K>(&rows, op.number);
                member.put(op.to, part, &low, op.keep[0]);
                if op.high != NO_ROW {
                    member.put(op.high, part, &high, op.keep[1]);
                }
            }
        }
    }
}

#[inline(always)]
fn pairs<R: Rule<Part = u64>, const K: usize>(rows: &[[u64; K]; 6], number: u64) -> [[u64; K]; 2] {
    let mut result = [[0; K]; 2];
    let [low, high] = &mut result;
    let low: &mut [u32] = bytemuck::must_cast_slice_mut(low);
    let high: &mut [u32] = bytemuck::must_cast_slice_mut(high);
    let row = |k: usize| -> &[u32] { bytemuck::must_cast_slice(&rows[k]) };
    let (a, above_a, b, above_b, c, above_c) = (row(0), row(1), row(2), row(3), row(4), row(5));
    let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    for lane in 0..2 * K {
        let a = join(a[lane], above_a[lane]);
        let b = if R::READS > 1 { join(b[lane], above_b[lane]) } else { a };
        let c = if R::READS > 2 { join(c[lane], above_c[lane]) } else { a };
        let value = R::apply([a, b, c], number);
        (low[lane], high[lane]) = (value as u32, (value >> 32) as u32);
    }
    result
}

/// Returns the handler of a rule, and the number of rows it reads.
pub(super) fn of<R: Rule<Part = u64>, const K: usize, F: Family<K>>() -> (Handler<K, F>, u8) {
    (Handler::of::<Pairs<R>>(), 2 * R::READS as u8)
}

number! { u64, i64, 52, of }
float! { f64, u64, of }

rules! { u64;
    /// Widens a single in the low word to a double; a NaN keeps its bits.
    WidenNan(a; _) {
        let (word, sign) = (a as u32, (a & 1 << 31) << 32);
        let nan = sign | INFINITY | (a & 0x7f_ffff) << 29;
        let number = f64::from(f32::from_bits(word)).to_bits();
        if word & 0x7fff_ffff > 0x7f80_0000 { nan } else { number }
    };
    /// The same, but a NaN is made quiet.
    Widen(a; n) {
        let wide = WidenNan::apply([a, a, a], n);
        if is_nan(wide) { wide | QUIET } else { wide }
    };
    /// Narrows a double to a single, rounded to nearest; a NaN is made quiet and keeps the high bits of its payload.
    Narrow(a; _) {
        let nan = (a >> 32) as u32 & 1 << 31 | 0x7fc0_0000 | (a >> 29) as u32 & 0x3f_ffff;
        let number = (f(a) as f32).to_bits();
        u64::from(if is_nan(a) { nan } else { number })
    };
    ToSigned(a; _) u64::from(f(a) as i32 as u32);
    ToUnsigned(a; _) u64::from(f(a) as u32);
    FromSigned(a; _) f64::from(a as i32).to_bits();
    FromUnsigned(a; _) f64::from(a as u32).to_bits();
}

/// Returns the handler of a conversion to or from a double; a 32-bit value is in the low word, with zeros above.
pub(super) fn convert<const K: usize, F: Family<K>>(imm: u16, from: Type, to: Type) -> Found<K, F> {
    let round = rounding(imm);
    Some(match ((from.class, from.bits), (to.class, to.bits)) {
        ((Class::Float, 32), (Class::Float, 64)) if imm == WIDEN => of::<WidenNan, K, F>(),
        ((Class::Float, 32), (Class::Float, 64)) => of::<Widen, K, F>(),
        ((Class::Float, 64), (Class::Float, 32)) if round == Round::NearestEven && imm != WIDEN => of::<Narrow, K, F>(),
        ((Class::Float, 64), (Class::Signed, 32)) if round == Round::Zero => of::<ToSigned, K, F>(),
        ((Class::Float, 64), (Class::Unsigned, 32)) if round == Round::Zero => of::<ToUnsigned, K, F>(),
        ((Class::Signed, 32), (Class::Float, 64)) => of::<FromSigned, K, F>(),
        ((Class::Unsigned, 32), (Class::Float, 64)) => of::<FromUnsigned, K, F>(),
        _ => return None,
    })
}
