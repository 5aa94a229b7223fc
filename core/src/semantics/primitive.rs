//! The single definition of every pure operation.
//!
//! Faster engines must agree with these functions. They are total: all arguments give a result.

use super::immediate::{AtomicOp, Comparison};
use super::node::Op;
use super::types::{Class, Type};
use crate::bits::ones;
use crate::float::{self, Format, Round};

/// The result of a pure operation, masked to the size of its type.
///
/// `types` are those of the arguments. [`Op::Const`], [`Op::Pack`] and [`Op::Canonical`] are not computed here: they
/// need data of the shape or of the instruction set.
pub fn primitive(op: Op, imm: u16, ty: Type, types: [Type; 4], args: [u64; 4]) -> u64 {
    let from = types[0];
    match op {
        Op::Bits => args[0] & ty.mask(),
        Op::Get => component(args[0], from, u32::from(imm)),
        Op::Slice => args[0].checked_shr(u32::from(imm & 0xff)).unwrap_or(0) & ty.mask(),
        Op::Concat => (args[0] | args[1].checked_shl(from.size()).unwrap_or(0)) & ty.mask(),
        Op::Splat => (0..u32::from(ty.lanes)).fold(0, |all, i| all | (args[0] & ones(ty.bits.into())) << place(ty, i)),
        // Fast path: most values have one component.
        _ if ty.lanes == 1 => {
            let part = |k: usize| args[k] & ones(types[k].bits.into());
            let args = [part(0), part(1), part(2), part(3)];
            scalar(op, imm, ty, types.map(Type::component), args) & ones(ty.bits.into())
        }
        _ => {
            let component_types = types.map(Type::component);
            let mut result = 0;
            for i in 0..u32::from(ty.lanes) {
                // A scalar applies to all components, such as a shift count or the condition of a select.
                let part = |k: usize| component(args[k], types[k], if types[k].lanes == 1 { 0 } else { i });
                let value = scalar(op, imm, ty.component(), component_types, [part(0), part(1), part(2), part(3)]);
                result |= (value & ones(ty.bits.into())) << place(ty, i);
            }
            result
        }
    }
}

impl AtomicOp {
    /// The new contents of memory.
    pub fn apply(self, ty: Type, old: u64, operand: u64) -> u64 {
        let op = match self {
            AtomicOp::Exchange => return operand & ty.mask(),
            AtomicOp::Add => Op::Add,
            AtomicOp::Sub => Op::Sub,
            AtomicOp::And => Op::And,
            AtomicOp::Or => Op::Or,
            AtomicOp::Xor => Op::Xor,
            AtomicOp::Min => Op::Min,
            AtomicOp::Max => Op::Max,
        };
        primitive(op, 0, ty, [ty; 4], [old, operand, 0, 0])
    }
}

fn place(ty: Type, index: u32) -> u32 {
    (u32::from(ty.bits) * index).min(63)
}

/// Component `index` of a value; 0 past the last one.
pub fn component(value: u64, ty: Type, index: u32) -> u64 {
    value.checked_shr(u32::from(ty.bits) * index).unwrap_or(0) & ones(ty.bits.into())
}

/// Sign-extends `value` from `bits` bits.
pub fn extend(value: u64, bits: u32) -> u64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64 >> unused) as u64
}

#[inline(never)]
fn scalar(op: Op, imm: u16, ty: Type, types: [Type; 4], [a, b, c, d]: [u64; 4]) -> u64 {
    let bits = u32::from(ty.bits);
    let signed = ty.class == Class::Signed;
    match op {
        Op::Select => {
            if a & 1 != 0 {
                b
            } else {
                c
            }
        }
        Op::Compare => u64::from(compare(imm, types[0], a, b)),
        Op::Zext | Op::Trunc => a,
        Op::Sext => extend(a, types[0].bits.into()),
        Op::Convert if imm == WIDEN => widen(types[0], ty, a),
        Op::Convert => convert(rounding(imm), types[0], ty, a),
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        _ if ty.is_float() => float(op, rounding(imm), ty.format(), [a, b, c, d], types[1].bits, types[3].bits),
        Op::Neg => a.wrapping_neg(),
        Op::Abs if signed && sign(a, bits) => a.wrapping_neg(),
        Op::Abs => a,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::MulHigh => (wide(a, bits, signed).wrapping_mul(wide(b, bits, signed)) >> bits) as u64,
        Op::Div => divide(a, b, bits, signed).0,
        Op::Rem => divide(a, b, bits, signed).1,
        Op::Shl => a << (b % u64::from(bits)),
        Op::Shr if signed => (extend(a, bits) as i64 >> (b % u64::from(bits))) as u64,
        Op::Shr => a >> (b % u64::from(bits)),
        Op::RotateLeft => rotate(a, b, bits),
        Op::RotateRight => rotate(a, u64::from(bits) - b % u64::from(bits), bits),
        Op::LeadingZeros => u64::from(a.leading_zeros() - (64 - bits)),
        Op::TrailingZeros => u64::from(a.trailing_zeros().min(bits)),
        Op::CountOnes => u64::from(a.count_ones()),
        Op::ReverseBits => a.reverse_bits() >> (64 - bits),
        Op::Min | Op::Max => {
            let less = wide(a, bits, signed) <= wide(b, bits, signed);
            if less == (op == Op::Min) { a } else { b }
        }
        Op::AddSat => limit(wide(a, bits, signed) + wide(b, bits, signed), bits, signed),
        Op::SubSat => limit(wide(a, bits, signed) - wide(b, bits, signed), bits, signed),
        Op::MulSat => limit(wide(a, bits, signed).saturating_mul(wide(b, bits, signed)), bits, signed),
        Op::AddHalf => ((wide(a, bits, signed) + wide(b, bits, signed)) >> 1) as u64,
        Op::AddHalfUp => ((wide(a, bits, signed) + wide(b, bits, signed) + 1) >> 1) as u64,
        // No other operation is a function of values alone.
        _ => 0,
    }
}

fn float(op: Op, round: Round, format: Format, [a, b, c, d]: [u64; 4], second: u8, fourth: u8) -> u64 {
    match op {
        Op::Neg => float::neg(format, a),
        Op::Abs => float::abs(format, a),
        Op::Add => float::add(format, a, b, round),
        Op::Sub => float::sub(format, a, b, round),
        Op::Mul => float::mul(format, a, b, round),
        Op::Div => float::div(format, a, b, round),
        Op::Fma => float::fma(format, a, b, c, round),
        Op::FmaScaled => float::fma_scaled(format, a, b, c, extend(d, fourth.into()) as i64, round),
        Op::Sqrt => float::sqrt(format, a, round),
        Op::Ldexp => float::ldexp(format, a, extend(b, second.into()) as i64, round),
        Op::RoundIntegral => float::round_to_integral(format, a, round),
        Op::Min => float::min(format, a, b),
        Op::Max => float::max(format, a, b),
        _ => 0,
    }
}

/// The rounding mode encoded in a node's `imm`.
pub fn rounding(imm: u16) -> Round {
    match imm {
        0 => Round::NearestEven,
        1 => Round::Up,
        2 => Round::Down,
        3 => Round::Zero,
        _ => Round::Away,
    }
}

/// The `imm` of an [`Op::Convert`] to a wider float that preserves a NaN exactly, even a signalling one.
pub const WIDEN: u16 = 8;

fn widen(from: Type, to: Type, a: u64) -> u64 {
    let (narrow, wide) = (from.format(), to.format());
    if !narrow.is_nan(a) {
        return float::convert(narrow, wide, a, Round::NearestEven);
    }
    let fraction = a & ones(narrow.fraction_bits());
    let sign = if narrow.is_negative(a) { wide.sign() } else { 0 };
    sign | wide.infinity() | fraction << (wide.fraction_bits() - narrow.fraction_bits())
}

fn convert(round: Round, from: Type, to: Type, a: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (true, true) => float::convert(from.format(), to.format(), a, round),
        (true, false) => float::to_int(from.format(), a, to.bits.into(), to.class == Class::Signed, round),
        (false, true) => float::from_int(to.format(), a, from.bits.into(), from.class == Class::Signed, round),
        (false, false) => a,
    }
}

fn compare(imm: u16, ty: Type, a: u64, b: u64) -> bool {
    let how = Comparison::ALL.get(usize::from(imm)).copied().unwrap_or(Comparison::Equal);
    let bits = u32::from(ty.bits);
    if how == Comparison::TotalLessEqual {
        let key = |x: u64| {
            let x = extend(x, bits) as i64;
            if x < 0 && ty.is_float() { x ^ ones(bits - 1) as i64 } else { x }
        };
        return key(a) <= key(b);
    }
    let order = if ty.is_float() {
        float::compare(ty.format(), a, b)
    } else {
        Some(wide(a, bits, ty.class == Class::Signed).cmp(&wide(b, bits, ty.class == Class::Signed)))
    };
    match how {
        Comparison::Equal => order.is_some_and(|o| o.is_eq()),
        Comparison::NotEqual => !order.is_some_and(|o| o.is_eq()),
        Comparison::Less => order.is_some_and(|o| o.is_lt()),
        Comparison::LessEqual => order.is_some_and(|o| o.is_le()),
        Comparison::Apart => order.is_some_and(|o| o.is_ne()),
        Comparison::Unordered => order.is_none(),
        Comparison::TotalLessEqual => false,
    }
}

fn sign(value: u64, bits: u32) -> bool {
    value >> (bits - 1) & 1 != 0
}

fn wide(value: u64, bits: u32, signed: bool) -> i128 {
    if signed { i128::from(extend(value, bits) as i64) } else { i128::from(value) }
}

fn limit(value: i128, bits: u32, signed: bool) -> u64 {
    let (least, greatest) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, i128::from(ones(bits))) };
    value.clamp(least, greatest) as u64
}

fn divide(a: u64, b: u64, bits: u32, signed: bool) -> (u64, u64) {
    if b == 0 {
        return (u64::MAX, a);
    }
    let (a, b) = (wide(a, bits, signed), wide(b, bits, signed));
    ((a / b) as u64, (a % b) as u64)
}

fn rotate(a: u64, count: u64, bits: u32) -> u64 {
    let count = (count % u64::from(bits)) as u32;
    if count == 0 { a } else { a << count | a >> (bits - count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(op: Op, ty: Type, a: u64, b: u64) -> u64 {
        primitive(op, 0, ty, [ty; 4], [a, b, 0, 0])
    }

    #[test]
    fn widening_keeps_nans_as_they_are() {
        let widened = |a| {
            let f16 = Type::float(16);
            primitive(Op::Convert, WIDEN, Type::float(32), [f16; 4], [a, 0, 0, 0])
        };
        assert_eq!(widened(0xfc01), 0xff80_2000);
        assert_eq!(widened(0x7e55), 0x7fca_a000);
        assert_eq!((widened(0x7c00), widened(0xbc00), widened(1)), (0x7f80_0000, 0xbf80_0000, 0x3380_0000));
    }

    #[test]
    fn division_is_total() {
        let (i32, u8) = (Type::signed(32), Type::unsigned(8));
        assert_eq!(integer(Op::Div, i32, 7, 0), 0xffff_ffff);
        assert_eq!(integer(Op::Rem, i32, 7, 0), 7);
        assert_eq!(integer(Op::Div, i32, 0x8000_0000, 0xffff_ffff), 0x8000_0000);
        assert_eq!(integer(Op::Rem, i32, 0x8000_0000, 0xffff_ffff), 0);
        assert_eq!(integer(Op::Div, u8, 200, 7), 28);
        assert_eq!(integer(Op::Rem, i32, 0xffff_fff9, 2), 0xffff_ffff);
    }

    #[test]
    fn counts_of_shifts_wrap_at_the_width() {
        assert_eq!(integer(Op::Shl, Type::U32, 1, 33), 2);
        assert_eq!(integer(Op::Shr, Type::signed(8), 0x80, 9), 0xc0);
        assert_eq!(integer(Op::RotateRight, Type::unsigned(8), 0b1000_0001, 1), 0b1100_0000);
        assert_eq!(integer(Op::RotateLeft, Type::U64, 1 << 63, 1), 1);
    }

    #[test]
    fn components_do_not_carry_into_each_other() {
        let bytes = Type::unsigned(8).times(4);
        assert_eq!(integer(Op::Add, bytes, 0x00ff_80ff, 0x0001_8001), 0);
        assert_eq!(integer(Op::AddSat, bytes, 0x00ff_80ff, 0x0001_8001), 0x00ff_ffff);
        let signed = Type::signed(8).times(2);
        assert_eq!(integer(Op::SubSat, signed, 0x8080, 0x0180), 0x8000);
        assert_eq!(integer(Op::AddHalf, signed, 0x80ff, 0x80ff), 0x80ff);
    }

    #[test]
    fn high_halves_follow_the_sign() {
        assert_eq!(integer(Op::MulHigh, Type::U32, 0xffff_ffff, 0xffff_ffff), 0xffff_fffe);
        assert_eq!(integer(Op::MulHigh, Type::signed(32), 0xffff_ffff, 0xffff_ffff), 0);
        assert_eq!(integer(Op::MulHigh, Type::U64, u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn the_total_order_puts_nan_outside_of_infinity() {
        let le = |a: u64, b: u64| {
            let f = Type::float(32);
            primitive(Op::Compare, Comparison::TotalLessEqual as u16, Type::BOOL, [f; 4], [a, b, 0, 0]) == 1
        };
        let order = [0xffc0_0000, 0xff80_0000, 0xbf80_0000, 0x8000_0000, 0, 0x3f80_0000, 0x7f80_0000, 0x7fc0_0000];
        for pair in order.windows(2) {
            assert!(le(pair[0], pair[1]) && !le(pair[1], pair[0]), "{pair:x?}");
        }
    }

    #[test]
    fn one_condition_chooses_for_all_components() {
        let halves = Type::unsigned(16).times(2);
        let types = [Type::BOOL, halves, halves, halves];
        assert_eq!(primitive(Op::Select, 0, halves, types, [1, 0x1111_2222, 0x3333_4444, 0]), 0x1111_2222);
        let types = [Type::BOOL.times(2), halves, halves, halves];
        assert_eq!(primitive(Op::Select, 0, halves, types, [2, 0x1111_2222, 0x3333_4444, 0]), 0x1111_4444);
    }
}
