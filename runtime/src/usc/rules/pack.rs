//! Packed formats.
//!
//! A format is a row of fields from the lowest bit; its name lists them in that order. Packing takes floats, unpacking gives
//! floats, except that F32 passes bits on. With `scale` a field is a fraction of its format's range, without it a number.

use isaforge_usc::PckFormat;

/// A field of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// A number from 0.
    Unsigned(u32),
    /// A number in two's complement; scaled, its lowest value is -1 like the next.
    Signed(u32),
    /// As signed, but scaled as OpenGL once had it: -1 to 1 in equal steps, without a zero.
    Centred(u32),
    /// A number with an offset of half its range.
    Offset(u32),
    /// A float without sign and with five bits of exponent.
    Unreal(u32),
    /// A half float.
    Half,
    /// A float.
    Single,
    /// As many of the samples as the value says.
    Coverage,
    /// A constant.
    Always(u32),
}

impl Field {
    fn width(self) -> u32 {
        match self {
            Field::Unsigned(w) | Field::Signed(w) | Field::Centred(w) | Field::Offset(w) | Field::Unreal(w) => w,
            Field::Half => 16,
            Field::Single | Field::Coverage | Field::Always(_) => 32,
        }
    }
}

fn fields(format: PckFormat) -> &'static [Field] {
    use Field::{Always, Centred, Coverage, Half, Offset, Signed, Single, Unreal, Unsigned};
    match format {
        PckFormat::U8888 => &[Unsigned(8); 4],
        PckFormat::S8888 => &[Signed(8); 4],
        PckFormat::S8888ogl => &[Centred(8); 4],
        PckFormat::O8888 => &[Offset(8); 4],
        PckFormat::U1616 => &[Unsigned(16); 2],
        PckFormat::S1616 => &[Signed(16); 2],
        PckFormat::S1616ogl => &[Centred(16); 2],
        PckFormat::O1616 => &[Offset(16); 2],
        PckFormat::U32 => &[Unsigned(32)],
        PckFormat::S32 => &[Signed(32)],
        PckFormat::U1010102 => &[Unsigned(10), Unsigned(10), Unsigned(10), Unsigned(2)],
        PckFormat::S1010102 => &[Signed(10), Signed(10), Signed(10), Signed(2)],
        PckFormat::U111110 => &[Unsigned(11), Unsigned(11), Unsigned(10)],
        PckFormat::S111110 => &[Signed(11), Signed(11), Signed(10)],
        PckFormat::F111110 => &[Unreal(11), Unreal(11), Unreal(10)],
        PckFormat::F16f16 => &[Half; 2],
        PckFormat::F32 | PckFormat::F32Mask => &[Single],
        PckFormat::Cov => &[Coverage],
        PckFormat::U565u565 => &[Unsigned(5), Unsigned(6), Unsigned(5), Unsigned(5), Unsigned(6), Unsigned(5)],
        PckFormat::D24s8 => &[Unsigned(24), Unsigned(8)],
        PckFormat::S8d24 => &[Unsigned(8), Unsigned(24)],
        PckFormat::_2f10f10f10 => &[Unsigned(2), Unreal(10), Unreal(10), Unreal(10)],
        PckFormat::Zero => &[Always(0)],
        PckFormat::One => &[Always(0x3f80_0000)],
    }
}

/// How many values a format holds.
pub fn count(format: PckFormat) -> usize {
    fields(format).len()
}

/// How many bits a field has; 0 past the last one.
pub fn width(format: PckFormat, element: usize) -> u32 {
    fields(format).get(element).map_or(0, |field| field.width())
}

/// Packs floats into a word; fields without a value are 0.
pub fn pack(format: PckFormat, values: &[u32], scale: bool, to_zero: bool) -> u32 {
    let mut word = 0u64;
    let mut at = 0;
    for (index, field) in fields(format).iter().enumerate() {
        let code = match (values.get(index), field) {
            (_, Field::Always(code)) => *code,
            (Some(bits), _) => pack_field(*field, *bits, scale, to_zero),
            (None, _) => 0,
        };
        word |= u64::from(code) << at;
        at += field.width();
    }
    word as u32
}

/// Unpacks one value of a word; past the last field it is 0.
pub fn unpack(format: PckFormat, word: u32, element: usize, scale: bool) -> u32 {
    let fields = fields(format);
    let Some(field) = fields.get(element) else { return 0 };
    let at: u32 = fields.iter().take(element).map(|f| f.width()).sum();
    let code = (u64::from(word) >> at & ((1u64 << field.width()) - 1)) as u32;
    unpack_field(*field, code, scale)
}

fn pack_field(field: Field, bits: u32, scale: bool, to_zero: bool) -> u32 {
    let x = f32::from_bits(bits);
    let round = |x: f64| if to_zero { x.trunc() } else { x.round_ties_even() };
    // The product is rounded to 32 bits, as the multiplier does it.
    let scaled = |x: f32, by: f64| if scale { f64::from((f64::from(x) * by) as f32) } else { f64::from(x) };
    let fraction = |low: f32| if scale { x.clamp(low, 1.0) } else { x };
    let ones = |width: u32| ((1u64 << width) - 1) as f64;
    let half = |width: u32| (1u64 << (width - 1)) as f64;
    // A float that is no number becomes 0: the cast says so.
    match field {
        Field::Unsigned(w) => round(scaled(fraction(0.0), ones(w))).clamp(0.0, ones(w)) as u32,
        Field::Signed(w) => {
            let code = round(scaled(fraction(-1.0), half(w) - 1.0)).clamp(-half(w), half(w) - 1.0);
            code as i64 as u32 & ones(w) as u32
        }
        Field::Centred(w) => {
            let value = if scale { (f64::from(fraction(-1.0)) * ones(w) - 1.0) / 2.0 } else { f64::from(x) };
            round(value).clamp(-half(w), half(w) - 1.0) as i64 as u32 & ones(w) as u32
        }
        Field::Offset(w) => {
            let code = round(scaled(fraction(-1.0), half(w) - 1.0)).clamp(-half(w), half(w) - 1.0);
            // 0 for what is no number, like everywhere.
            (code as i64 + half(w) as i64) as u32
        }
        Field::Unreal(w) => unreal(x, w - 5, to_zero),
        Field::Half => half_bits(x, to_zero),
        Field::Single => bits,
        // One sample a pixel is all there is: any part of it covers it.
        Field::Coverage => u32::from(x.abs() > 0.0),
        Field::Always(code) => code,
    }
}

fn unpack_field(field: Field, code: u32, scale: bool) -> u32 {
    let ones = |width: u32| ((1u64 << width) - 1) as f64;
    let signed = |width: u32| (i64::from(code) << (64 - width) >> (64 - width)) as f64;
    let half = |width: u32| (1u64 << (width - 1)) as f64;
    let value = match field {
        Field::Unsigned(w) if scale => f64::from(code) / ones(w),
        Field::Unsigned(_) => f64::from(code),
        Field::Signed(w) if scale => (signed(w) / (half(w) - 1.0)).max(-1.0),
        Field::Signed(w) => signed(w),
        Field::Centred(w) if scale => (2.0 * signed(w) + 1.0) / ones(w),
        Field::Centred(w) => signed(w),
        Field::Offset(w) if scale => ((f64::from(code) - half(w)) / (half(w) - 1.0)).max(-1.0),
        Field::Offset(w) => f64::from(code) - half(w),
        // As a half the same exponent and more fraction.
        Field::Unreal(w) => return f16_to_f32((code << (15 - w)) as u16),
        Field::Half => return f16_to_f32(code as u16),
        Field::Single | Field::Coverage => return code,
        Field::Always(code) => return code,
    };
    (value as f32).to_bits()
}

/// The bits of the float that a half is.
pub fn f16_to_f32(bits: u16) -> u32 {
    half::f16::from_bits(bits).to_f32().to_bits()
}

/// The bits of the half nearest to a float, or nearest towards zero.
pub fn half_bits(x: f32, to_zero: bool) -> u32 {
    let near = half::f16::from_f32(x);
    let away = to_zero && x.is_finite() && near.to_f32().abs() > x.abs();
    // The next half towards zero has the next lower magnitude; below infinity is the largest finite one.
    u32::from(near.to_bits()) - u32::from(away)
}

/// The bits of the half nearest to a 64-bit float, rounded once.
pub fn half_of(x: f64) -> u32 {
    if x.is_nan() {
        return 0x7e00;
    }
    let near = x as f32;
    if f64::from(near) == x {
        return half_bits(near, false);
    }
    // Rounded to an odd 32-bit float, so that the second rounding sees on which side of it the number is.
    let below = if f64::from(near).abs() > x.abs() { near.to_bits() - 1 } else { near.to_bits() };
    half_bits(f32::from_bits(below | 1), false)
}

/// The bits of an unsigned float with five bits of exponent and `fraction` bits of fraction. What is below 0 is 0.
fn unreal(x: f32, fraction: u32, to_zero: bool) -> u32 {
    let infinity = 31 << fraction;
    if x.is_nan() {
        return infinity | 1 << (fraction - 1);
    }
    if x <= 0.0 {
        return 0;
    }
    if x.is_infinite() {
        return infinity;
    }
    // The value in units of the last place of its binade; below 2^-14 all binades share one.
    let exponent = ((x.to_bits() >> 23) as i32 - 127).max(-14);
    let unit = f64::from(exponent - fraction as i32).exp2();
    let units = f64::from(x) / unit;
    let units = if to_zero { units.trunc() } else { units.round_ties_even() } as u32;
    // A normal number's units have their leading one, which counts for the exponent when it is added.
    let code = ((exponent + 14) as u32) << fraction;
    let code = code + units;
    code.min(if to_zero { infinity - 1 } else { infinity })
}
