//! Floats of the units around the ALU.

/// Clamped to +0 to 1; a NaN is 0.
#[inline(always)]
pub fn saturate(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    let low = if x > 0.0 { x } else { 0.0 };
    (if low < 1.0 { low } else { 1.0 }).to_bits()
}

/// The bits of the float that a half is.
pub fn f16_to_f32(bits: u16) -> u32 {
    half::f16::from_bits(bits).to_f32().to_bits()
}

/// The bits of the half nearest to a float.
pub fn half_bits(x: f32) -> u32 {
    half::f16::from_f32(x).to_bits().into()
}
