//! Numbers that people give to registers.

use half::f16;
use isaforge_core::bits::ones;

/// The bits of a whole number in a register of this width, at most 64: unsigned, or negative in two's complement.
///
/// # Errors
/// When it does not fit: the problem, and what fits.
pub fn integer_bits(value: i128, width: u32) -> Result<u64, (String, String)> {
    let (most, least) = ((1i128 << width) - 1, if width > 1 { -(1i128 << (width - 1)) } else { 0 });
    if (least..=most).contains(&value) {
        return Ok(value as u64 & ones(width));
    }
    let fits = match width {
        1 => "expected 0 or 1".to_owned(),
        _ => format!("expected 0 to {most}, or {least} to -1"),
    };
    Err((format!("`{value}` does not fit {}", bits(width)), fits))
}

/// The bits of a float in a register of this width.
///
/// # Errors
/// When it does not fit, or there are no floats of this width: the problem, and what fits.
pub fn float_bits(value: f64, width: u32) -> Result<u64, (String, String)> {
    let (rounded, is_finite) = match width {
        16 => (u64::from(f16::from_f64(value).to_bits()), f16::from_f64(value).is_finite()),
        32 => (u64::from((value as f32).to_bits()), (value as f32).is_finite()),
        64 => (value.to_bits(), true),
        _ => {
            let message = format!("there are no floats of {}", bits(width));
            return Err((message, "expected a whole number; floats have 16, 32 or 64 bits".to_owned()));
        }
    };
    if is_finite || !value.is_finite() {
        return Ok(rounded);
    }
    let most = if width == 16 { f16::MAX.to_f64() } else { f32::MAX.into() };
    Err((format!("`{value:?}` does not fit a float of {width} bits"), format!("expected -{most:?} to {most:?}")))
}

fn bits(width: u32) -> String {
    if width == 1 { "one bit".to_owned() } else { format!("{width} bits") }
}
