//! Arithmetic on 32-bit floats.
//!
//! Denormals are kept: nothing public says that the hardware flushes them. The order of modifiers on a source is floor,
//! absolute value, negation, as the reference has it.

/// Modifiers of a float source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Rounded down; NaNs, infinities and zeros stay as they are.
    pub floor: bool,
    /// Without sign.
    pub abs: bool,
    /// Negated.
    pub neg: bool,
}

impl Modifiers {
    /// Whether they change anything.
    pub fn any(self) -> bool {
        self.floor || self.abs || self.neg
    }

    /// The source as modified.
    #[inline(always)]
    pub fn apply(self, bits: u32) -> u32 {
        let bits = if self.floor { floor(bits) } else { bits };
        let bits = if self.abs { bits & !SIGN } else { bits };
        if self.neg { bits ^ SIGN } else { bits }
    }
}

/// The sign bit.
pub const SIGN: u32 = 1 << 31;
/// What operations give for a NaN.
pub const NAN: u32 = 0x7fc0_0000;

#[inline(always)]
fn floor(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    if x.is_nan() { bits } else { x.floor().to_bits() }
}

/// The bits of a result. All NaNs become one: which NaN an operation of the host gives depends on how it is compiled.
#[inline(always)]
fn result(x: f32) -> u32 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

/// A float whose NaN is the one that operations give.
#[inline(always)]
pub fn canonical(bits: u32) -> u32 {
    result(f32::from_bits(bits))
}

/// Product and sum, rounded once.
#[inline(always)]
pub fn mad(a: u32, b: u32, c: u32) -> u32 {
    result(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)))
}

/// Sum.
#[inline(always)]
pub fn add(a: u32, b: u32) -> u32 {
    result(f32::from_bits(a) + f32::from_bits(b))
}

/// Product.
#[inline(always)]
pub fn mul(a: u32, b: u32) -> u32 {
    result(f32::from_bits(a) * f32::from_bits(b))
}

/// Clamped to +0 to 1; a NaN is 0.
#[inline(always)]
pub fn saturate(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    let low = if x > 0.0 { x } else { 0.0 };
    (if low < 1.0 { low } else { 1.0 }).to_bits()
}

/// The difference of two pixels.
#[inline(always)]
pub fn difference(from: u32, to: u32) -> u32 {
    result(f32::from_bits(to) - f32::from_bits(from))
}
