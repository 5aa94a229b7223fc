//! The units of the bitwise ALU.

use isaforge_usc::{LogicalOp, Shift1Op, Shift2Op};

/// A mask of `width` bits from bit `at` on, both 6 bits; and the position of its top bit, 6 bits.
#[inline(always)]
pub fn mask(width: u32, at: u32) -> (u32, u32) {
    let (width, at) = (u64::from(width & 63), at & 63);
    let mask = ((1u64 << width) - 1) << at;
    ((width as u32 + at).wrapping_sub(1) & 63, mask as u32)
}

/// The first shift unit: `value` is source 2, `other` source 1.
#[inline(always)]
pub fn first_shift(op: Shift1Op, value: u32, other: u32) -> u32 {
    match op {
        Shift1Op::Byp => value,
        Shift1Op::Shfl => spread(value) | spread(other) << 1,
        Shift1Op::Rev => value.reverse_bits(),
        Shift1Op::Lsl => value << (other & 31),
    }
}

/// Moves bit `i` of the lower half to bit `2 * i`.
#[inline(always)]
fn spread(half: u32) -> u32 {
    let x = half & 0xffff;
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

/// The position of the top set bit; -1 for none.
#[inline(always)]
pub fn top_bit(word: u32) -> u32 {
    31u32.wrapping_sub(word.leading_zeros())
}

/// The position of the top bit that differs from the sign; -1 for none. No code for it is public.
#[inline(always)]
pub fn top_bit_signed(word: u32) -> u32 {
    top_bit(word ^ (word as i32 >> 31) as u32)
}

/// The position of the top set bit, counted from the top; -1 for none. No code for it is public.
#[inline(always)]
pub fn top_bit_from_top(word: u32) -> u32 {
    if word == 0 { u32::MAX } else { word.leading_zeros() }
}

/// The logical unit on two masked operands; `mask` is what a bypass passes on.
#[inline(always)]
pub fn logic(op: LogicalOp, a: u32, b: u32, mask: u32) -> u32 {
    match op {
        LogicalOp::Or => a | b,
        LogicalOp::And => a & b,
        LogicalOp::Xor => a ^ b,
        LogicalOp::Nor => !(a | b),
        LogicalOp::Nand => !(a & b),
        LogicalOp::Xnor => !(a ^ b),
        LogicalOp::Byp => mask,
    }
}

/// The second shift unit. `top` is the top of the mask, `found` what the count unit found, `predicate` is P0.
#[inline(always)]
pub fn second_shift(op: Shift2Op, value: u32, by: u32, top: u32, found: u32, predicate: bool) -> u32 {
    let shift = by & 31;
    let arithmetic = |sign: u32| {
        let sign = sign & 31;
        ((value << (31 - sign)) as i32 >> (31 + shift - sign).min(31)) as u32
    };
    match op {
        Shift2Op::Lsl => value << shift,
        Shift2Op::Shr => value >> shift,
        Shift2Op::Rol => value.rotate_left(shift),
        Shift2Op::Cps => (by & !value) | if predicate { value } else { 0 },
        Shift2Op::AsrTwb => arithmetic(31),
        Shift2Op::AsrPwb => arithmetic(15),
        Shift2Op::AsrMtb => arithmetic(top),
        Shift2Op::AsrFtb => arithmetic(found),
    }
}
