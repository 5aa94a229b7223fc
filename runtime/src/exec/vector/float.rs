//! Float handlers for one component. Each arithmetic operation here is followed by [`Op::Canonical`], so that only
//! the number matters and every NaN becomes the canonical one. Without it the definition decides which NaN results.

use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::{WIDEN, rounding};
use isaforge_core::semantics::{Class, Comparison, Op, Type};

use super::number::{float, number};
use super::rule::{Found, of, rules};
use super::{Family, half};

/// Rules on singles.
mod single {
    use super::{Comparison, Op, float, half, number, of, rules};

    number! { u32, i32, 23, of }
    float! { f32, u32, of }

    rules! { u32;
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
}

/// Returns the handler of an operation that is followed by [`Op::Canonical`].
pub(super) fn arithmetic<const K: usize, F: Family<K>>(op: Op, bits: u8) -> Found<K, F> {
    match bits {
        16 => half::arithmetic(op),
        32 => single::arithmetic(op),
        _ => None,
    }
}

/// Returns the handler of an operation with defined NaN results.
pub(super) fn plain<const K: usize, F: Family<K>>(op: Op, bits: u8) -> Found<K, F> {
    match bits {
        16 => half::plain(op),
        32 => single::plain(op),
        _ => None,
    }
}

/// Returns the handler of a comparison.
pub(super) fn compare<const K: usize, F: Family<K>>(how: Comparison, bits: u8) -> Found<K, F> {
    match bits {
        16 => half::compare(how),
        32 => single::compare(how),
        _ => None,
    }
}

/// Returns the handler of a conversion that keeps components in place; `single` if a slot holds one component.
pub(super) fn convert<const K: usize, F: Family<K>>(imm: u16, from: Type, to: Type, single: bool) -> Found<K, F> {
    let signed = |ty: Type| ty.class == Class::Signed;
    let round = rounding(imm);
    Some(match (from.is_float(), to.is_float(), from.bits, to.bits) {
        (true, false, 32, 32) if round == Round::Zero && signed(to) => of::<single::ToSigned, K, F>(),
        (true, false, 32, 32) if round == Round::Zero => of::<single::ToUnsigned, K, F>(),
        (false, true, 32, 32) if round == Round::NearestEven && signed(from) => of::<single::FromSigned, K, F>(),
        (false, true, 32, 32) if round == Round::NearestEven => of::<single::FromUnsigned, K, F>(),
        (true, false, 16, 16) if round == Round::Zero && signed(to) => of::<half::ToSigned, K, F>(),
        (true, false, 16, 16) if round == Round::Zero => of::<half::ToUnsigned, K, F>(),
        (false, true, 16, 16) if round == Round::NearestEven && signed(from) => of::<half::FromSigned, K, F>(),
        (false, true, 16, 16) if round == Round::NearestEven => of::<half::FromUnsigned, K, F>(),
        (true, true, 16, 32) if single && imm == WIDEN => of::<single::WidenNan, K, F>(),
        (true, true, 16, 32) if single && round == Round::NearestEven => of::<single::Widen, K, F>(),
        (true, true, 32, 16) if single && round == Round::NearestEven => of::<single::Narrow, K, F>(),
        _ => return None,
    })
}
