//! Numbers that people give to registers.

use std::cmp::Ordering;

use half::f16;
use isaforge_core::bits::ones;
use isaforge_core::float::{Format, Round, convert};

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
    // `f16::from_f64` rounds twice.
    let half = convert(Format::F64, Format::F16, value.to_bits(), Round::NearestEven) as u16;
    fitting(&format!("{value:?}"), value.is_finite(), width, (f16::from_bits(half), value as f32, value))
}

/// The bits of a decimal number in a register of this width: the nearest float, rounded only once. `None` if Rust does
/// not read the text as a number.
///
/// # Errors
/// As [`float_bits`].
pub fn decimal_bits(text: &str, width: u32) -> Option<Result<u64, (String, String)>> {
    let (double, single) = (text.parse().ok()?, text.parse().ok()?);
    let is_finite = text.contains(|c: char| c.is_ascii_digit());
    Some(fitting(text, is_finite, width, (nearest_half(text, single), single, double)))
}

/// The bits of a number that was rounded to each type of floats, for the type of this width. A finite number must stay
/// one.
fn fitting(
    text: &str,
    is_finite: bool,
    width: u32,
    (half, single, double): (f16, f32, f64),
) -> Result<u64, (String, String)> {
    let (rounded, stays_finite, most) = match width {
        16 => (half.to_bits().into(), half.is_finite(), f16::MAX.to_f64()),
        32 => (single.to_bits().into(), single.is_finite(), f32::MAX.into()),
        64 => (double.to_bits(), double.is_finite(), f64::MAX),
        _ => {
            let message = format!("there are no floats of {}", bits(width));
            return Err((message, "expected a whole number; floats have 16, 32 or 64 bits".to_owned()));
        }
    };
    if is_finite && !stays_finite {
        let fits = format!("expected -{most:?} to {most:?}");
        return Err((format!("`{text}` does not fit a float of {width} bits"), fits));
    }
    Ok(rounded)
}

/// The half nearest to a decimal number, whose nearest float is known. The half nearest to the float is another only
/// if the float is in the middle between two halves and the number is not. Then the float beside it, on the side of the
/// number, is rounded instead.
fn nearest_half(text: &str, single: f32) -> f16 {
    // Middles between halves are multiples of 2^-25; floats beside those round like any number on their side.
    if (single * (1 << 25) as f32).fract() != 0.0 {
        return f16::from_f32(single);
    }
    let size = single.abs();
    let beside = match digits(text.trim_start_matches(['-', '+'])).cmp(&digits(&format!("{size:.60}"))) {
        Ordering::Less => size.next_down(),
        Ordering::Equal => size,
        Ordering::Greater => size.next_up(),
    };
    f16::from_f32(beside.copysign(single))
}

/// The digits of a decimal number without sign and without zeros at their ends, after the position of the point. Such
/// pairs compare like the numbers.
fn digits(text: &str) -> (i64, String) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_start_matches('0');
    let point = whole.len() as i64 - (all.len() - kept.len()) as i64;
    (point.saturating_add(exponent.parse().unwrap_or(0)), kept.trim_end_matches('0').to_owned())
}

fn bits(width: u32) -> String {
    if width == 1 { "one bit".to_owned() } else { format!("{width} bits") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_rounded_once() {
        let bits = |text: &str, width: u32| decimal_bits(text, width).and_then(Result::ok);
        for (text, single) in [
            ("1.000000059604644775390625", 0x3f80_0000),
            ("1.000000059604644775390625001", 0x3f80_0001),
            ("16777217.000000001", 0x4b80_0001),
            ("3.4028235677973366e38", 0x7f7f_ffff),
        ] {
            assert_eq!(bits(text, 32), Some(single), "{text}");
        }
        // The middle between 1 and the next half is 1.00048828125; between 0 and the least half, 2^-25.
        for (text, half) in [
            ("1.00048828125", 0x3c00),
            ("1.00048828125000000000000000001", 0x3c01),
            ("-1.00048828125000000000000000001e0", 0xbc01),
            ("100146484.375e-8", 0x3c02),
            ("1.00146484374999999999999999999", 0x3c01),
            ("0.1", 0x2e66),
            ("2.98023223876953125e-8", 0),
            ("2.980232238769531250000000001e-8", 1),
            ("65519.9999999999999999999999", 0x7bff),
        ] {
            assert_eq!(bits(text, 16), Some(half), "{text}");
        }
        assert_eq!(float_bits(1.00048828125f64.next_up(), 16), Ok(0x3c01));
        assert_eq!(float_bits(-(1.0 / f64::from(1 << 25)), 16), Ok(0x8000));
        assert_eq!(float_bits(f64::NAN, 16).map(|bits| bits & 0x7c00), Ok(0x7c00));
        assert_eq!((bits("65520", 16), bits("1e400", 64), bits("inf", 32)), (None, None, Some(0x7f80_0000)));
    }
}
