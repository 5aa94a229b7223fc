//! Rotation, then logic, then perhaps complement: what later architectures do and v9 has no name for.

/// How the first source is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Around, towards the high end. The v9 document has no name for it.
    RotateLeft,
    /// Around, towards the low end. The v9 document has no name for it.
    RotateRight,
}

/// How the shifted value meets the third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both bits set.
    And,
    /// Either bit set.
    Or,
    /// Bits differ.
    Xor,
}

/// Shifts a component of `bits` bits (8, 16, 32 or 64). The count is taken modulo the width (tested).
pub fn shift(kind: Shift, bits: u32, value: u64, count: u32) -> u64 {
    let ones = u64::MAX >> (64 - bits);
    let value = value & ones;
    let count = count & (bits - 1);
    let around = (bits - count) & (bits - 1);
    ones & match kind {
        Shift::RotateLeft => value << count | value >> around,
        Shift::RotateRight => value >> count | value << around,
    }
}

/// `(a shifted by its count) logic b` on each component of a value of `total` bits, complemented with `not_result`
/// (tested). There is a count for each byte of 32 bits; a wider component takes that of its lowest byte.
pub fn shift_logic(kind: Shift, logic: Logic, bits: u32, a: u64, counts: [u8; 4], b: u64, not_result: bool) -> u64 {
    let total = bits.max(32);
    let mut shifted = 0;
    for (at, count) in (0..total).step_by(8).zip(counts).step_by(bits as usize / 8) {
        shifted |= shift(kind, bits, a >> at, count.into()) << at;
    }
    let combined = match logic {
        Logic::And => shifted & b,
        Logic::Or => shifted | b,
        Logic::Xor => shifted ^ b,
    };
    (if not_result { !combined } else { combined }) & (u64::MAX >> (64 - total))
}
