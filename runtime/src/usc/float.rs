//! Float conversions of the units around the ALUs.

/// Clamps to the range from +0 to 1; NaN becomes 0.
#[inline(always)]
pub fn saturate(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    let low = if x > 0.0 { x } else { 0.0 };
    (if low < 1.0 { low } else { 1.0 }).to_bits()
}

/// Converts the bits of a half to those of a float.
pub fn f16_to_f32(bits: u16) -> u32 {
    half::f16::from_bits(bits).to_f32().to_bits()
}

/// The bits of the half nearest to a float.
pub fn half_bits(x: f32) -> u32 {
    half::f16::from_f32(x).to_bits().into()
}
