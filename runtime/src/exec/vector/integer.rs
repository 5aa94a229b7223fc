//! Integer handlers for one component.

use isaforge_core::semantics::{Comparison, Op};

use super::handler::Handler;
use super::rule::{Found, Rule, of, operations, word};
use super::{Family, wide};

macro_rules! width {
    ($name:ident, $u:ident, $i:ident, $wide:ident, $wide_signed:ident, $of:ident) => {
        /// Rules on components of one width, by operation or comparison and whether it is signed.
        pub(super) mod $name {
            use super::{Comparison, Op, operations, $of};

            const BITS: $u = $u::BITS as $u;

            fn ones(holds: bool) -> $u {
                if holds { $u::MAX } else { 0 }
            }

            operations! { $u, $of, arithmetic((Op, bool));
                (Op::Neg, _) => Neg(a; _) a.wrapping_neg();
                (Op::Abs, true) => Abs(a; _) (a as $i).wrapping_abs() as $u;
                (Op::Add, _) => Add(a, b; _) a.wrapping_add(b);
                (Op::Sub, _) => Sub(a, b; _) a.wrapping_sub(b);
                (Op::Mul, _) => Mul(a, b; _) a.wrapping_mul(b);
                (Op::MulHigh, false) => MulHigh(a, b; _) ((a as $wide * b as $wide) >> $u::BITS) as $u;
                (Op::MulHigh, true) => MulHighSigned(a, b; _) {
                    ((a as $i as $wide_signed * b as $i as $wide_signed) >> $u::BITS) as $u
                };
                /// The quotient, or all ones if the divisor is zero.
                (Op::Div, false) => Divide(a, b; _) a.checked_div(b).unwrap_or($u::MAX);
                (Op::Div, true) => DivideSigned(a, b; _) {
                    if b == 0 { $u::MAX } else { (a as $i).wrapping_div(b as $i) as $u }
                };
                (Op::Rem, false) => Remainder(a, b; _) a.checked_rem(b).unwrap_or(a);
                (Op::Rem, true) => RemainderSigned(a, b; _) {
                    if b == 0 { a } else { (a as $i).wrapping_rem(b as $i) as $u }
                };
                (Op::Shl, _) => Shl(a, b; _) a << (b & (BITS - 1));
                (Op::Shr, false) => Shr(a, b; _) a >> (b & (BITS - 1));
                (Op::Shr, true) => ShrSigned(a, b; _) (a as $i >> (b & (BITS - 1))) as $u;
                (Op::RotateLeft, _) => RotateLeft(a, b; _) {
                    let b = b & (BITS - 1);
                    a << b | a >> ((BITS - b) & (BITS - 1))
                };
                (Op::RotateRight, _) => RotateRight(a, b; _) {
                    let b = b & (BITS - 1);
                    a >> b | a << ((BITS - b) & (BITS - 1))
                };
                (Op::LeadingZeros, _) => LeadingZeros(a; _) a.leading_zeros() as $u;
                (Op::TrailingZeros, _) => TrailingZeros(a; _) a.trailing_zeros() as $u;
                (Op::CountOnes, _) => CountOnes(a; _) a.count_ones() as $u;
                (Op::ReverseBits, _) => ReverseBits(a; _) a.reverse_bits();
                (Op::Min, false) => Min(a, b; _) a.min(b);
                (Op::Min, true) => MinSigned(a, b; _) (a as $i).min(b as $i) as $u;
                (Op::Max, false) => Max(a, b; _) a.max(b);
                (Op::Max, true) => MaxSigned(a, b; _) (a as $i).max(b as $i) as $u;
                (Op::AddSat, false) => AddSat(a, b; _) a.saturating_add(b);
                (Op::AddSat, true) => AddSatSigned(a, b; _) (a as $i).saturating_add(b as $i) as $u;
                (Op::SubSat, false) => SubSat(a, b; _) a.saturating_sub(b);
                (Op::SubSat, true) => SubSatSigned(a, b; _) (a as $i).saturating_sub(b as $i) as $u;
                (Op::AddHalf, false) => AddHalf(a, b; _) (a & b) + ((a ^ b) >> 1);
                (Op::AddHalf, true) => AddHalfSigned(a, b; _) {
                    let (a, b) = (a as $i, b as $i);
                    (a & b).wrapping_add((a ^ b) >> 1) as $u
                };
                (Op::AddHalfUp, false) => AddHalfUp(a, b; _) (a | b) - ((a ^ b) >> 1);
                (Op::AddHalfUp, true) => AddHalfUpSigned(a, b; _) {
                    let (a, b) = (a as $i, b as $i);
                    (a | b).wrapping_sub((a ^ b) >> 1) as $u
                };
            }

            operations! { $u, $of, compare((Comparison, bool));
                (Comparison::Equal, _) => Equal(a, b; _) ones(a == b);
                (Comparison::NotEqual | Comparison::Apart, _) => NotEqual(a, b; _) ones(a != b);
                (Comparison::Less, false) => Less(a, b; _) ones(a < b);
                (Comparison::Less, true) => LessSigned(a, b; _) ones((a as $i) < b as $i);
                (Comparison::LessEqual, false) => LessEqual(a, b; _) ones(a <= b);
                (Comparison::LessEqual, true) => LessEqualSigned(a, b; _) ones(a as $i <= b as $i);
            }
        }
    };
}

width! { bytes, u8, i8, u16, i16, of }
width! { halves, u16, i16, u32, i32, of }
width! { words, u32, i32, u64, i64, of }
width! { doubles, u64, i64, u128, i128, of_double }

/// Returns the handler of a rule on components of 64 bits, which take two rows if a slot has 32 bits.
fn of_double<R: Rule<Part = u64>, const K: usize, F: Family<K>>() -> (Handler<K, F>, u8) {
    if F::SLOT == 32 { wide::of::<R, K, F>() } else { of::<R, K, F>() }
}

/// Returns the handler of an integer operation on components of 8, 16, 32 or 64 bits. A shift count is in a component
/// as wide as the shifted one.
pub(super) fn arithmetic<const K: usize, F: Family<K>>(op: Op, bits: u8, signed: bool) -> Found<K, F> {
    match bits {
        _ if (op, signed) == (Op::Abs, false) => Some(of::<word::Copy, K, F>()),
        8 => bytes::arithmetic((op, signed)),
        16 => halves::arithmetic((op, signed)),
        32 => words::arithmetic((op, signed)),
        64 => doubles::arithmetic((op, signed)),
        _ => None,
    }
}

/// Returns the handler of a comparison of integers.
pub(super) fn compare<const K: usize, F: Family<K>>(how: Comparison, bits: u8, signed: bool) -> Found<K, F> {
    match bits {
        8 => bytes::compare((how, signed)),
        16 => halves::compare((how, signed)),
        32 => words::compare((how, signed)),
        64 => doubles::compare((how, signed)),
        _ => None,
    }
}
