//! Float handlers for one component. Each arithmetic operation here is followed by [`Op::Canonical`], so that only
//! the number matters and every NaN becomes the canonical one. Without it the definition decides which NaN results.

use isaforge_core::float::Round;
use isaforge_core::semantics::primitive::{WIDEN, rounding};
use isaforge_core::semantics::{Class, Comparison, Op, Type};

use super::rule::{Found, of};
use super::{Family, half};

/// Defines what floats of all widths share: functions on their bits, and the operations with defined NaN results.
macro_rules! number {
    ($u:ident, $i:ident, $mantissa:literal, $of:ident) => {
        const SIGN: $u = 1 << ($u::BITS - 1);
        const INFINITY: $u = SIGN - (1 << $mantissa);
        const QUIET: $u = 1 << ($mantissa - 1);

        fn ones(holds: bool) -> $u {
            if holds { $u::MAX } else { 0 }
        }

        #[inline(always)]
        fn is_nan(bits: $u) -> bool {
            bits & !SIGN > INFINITY
        }

        /// Returns an integer that orders like the number, with -0 before +0.
        #[inline(always)]
        fn rank(bits: $u) -> $i {
            (bits ^ ((bits as $i >> ($u::BITS - 1)) as $u >> 1)) as $i
        }

        /// Returns the other operand if one is a NaN, or the first one made quiet if both are.
        #[inline(always)]
        fn without_nan(a: $u, b: $u, number: $u) -> $u {
            let (is_a, is_b) = (is_nan(a), is_nan(b));
            let either = if is_b { a } else { number };
            let loser = if is_a { b } else { either };
            if is_a && is_b { a | QUIET } else { loser }
        }

        $crate::exec::vector::rule::operations! { $u, $of, plain(Op);
            Op::Canonical => Canonical(a; nan) if is_nan(a) { nan as $u } else { a };
            Op::Min => Min(a, b; _) without_nan(a, b, if rank(b) < rank(a) { b } else { a });
            Op::Max => Max(a, b; _) without_nan(a, b, if rank(b) > rank(a) { b } else { a });
            Op::Neg => Neg(a; _) a ^ SIGN;
            Op::Abs => Abs(a; _) a & !SIGN;
        }
    };
}
pub(super) use number;

/// Defines the operations of floats that the processor computes.
macro_rules! float {
    ($f:ident, $u:ident, $of:ident) => {
        #[inline(always)]
        #[allow(clippy::unnecessary_cast, reason = "the same for floats of any width")]
        fn canonical(value: $f, nan: u64) -> $u {
            if value.is_nan() { nan as $u } else { value.to_bits() }
        }

        #[inline(always)]
        fn f(bits: $u) -> $f {
            $f::from_bits(bits)
        }

        $crate::exec::vector::rule::operations! { $u, $of, arithmetic(Op);
            Op::Add => Add(a, b; nan) canonical(f(a) + f(b), nan);
            Op::Sub => Sub(a, b; nan) canonical(f(a) - f(b), nan);
            Op::Mul => Mul(a, b; nan) canonical(f(a) * f(b), nan);
            Op::Div => Div(a, b; nan) canonical(f(a) / f(b), nan);
            Op::Sqrt => Sqrt(a; nan) canonical(f(a).sqrt(), nan);
            Op::Fma => Fma(a, b, c; nan) canonical(f(a).mul_add(f(b), f(c)), nan);
        }

        $crate::exec::vector::rule::operations! { $u, $of, compare(Comparison);
            Comparison::Equal => Equal(a, b; _) ones(f(a) == f(b));
            Comparison::NotEqual => NotEqual(a, b; _) ones(f(a) != f(b));
            Comparison::Less => Less(a, b; _) ones(f(a) < f(b));
            Comparison::LessEqual => LessEqual(a, b; _) ones(f(a) <= f(b));
            Comparison::Apart => Apart(a, b; _) ones(f(a) < f(b) || f(a) > f(b));
            Comparison::Unordered => Unordered(a, b; _) ones(is_nan(a) || is_nan(b));
            Comparison::TotalLessEqual => Total(a, b; _) ones(rank(a) <= rank(b));
        }
    };
}
pub(super) use float;

/// Rules on singles.
mod single {
    use super::{Comparison, Op, half, of};
    use crate::exec::vector::rule::rules;

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
