//! Numbers of a type that a module declares, as text and as units.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::symbols::NumberType;

impl NumberType {
    fn width(self) -> u32 {
        match self {
            NumberType::Integer(width, _) | NumberType::Float(width) => width,
        }
    }

    /// The number of units of a number; `None` for an unsupported width.
    pub fn units(self) -> Option<usize> {
        match self {
            NumberType::Integer(8 | 16 | 32, _) | NumberType::Float(16 | 32) => Some(1),
            NumberType::Integer(64, _) | NumberType::Float(64) => Some(2),
            _ => None,
        }
    }

    /// The text of a number; `None` when the bits above its width are invalid.
    pub fn text(self, units: &[u32]) -> Option<String> {
        let value = units.iter().rev().fold(0u64, |value, unit| value << 32 | u64::from(*unit));
        let text = match self {
            NumberType::Integer(width, true) => {
                let shift = 64 - width.clamp(1, 64);
                ((value << shift) as i64 >> shift).to_string()
            }
            NumberType::Integer(..) => value.to_string(),
            NumberType::Float(16) => hexadecimal(value, 5, 10),
            NumberType::Float(32) => {
                let float = f32::from_bits(value as u32);
                if float.is_normal() || float == 0.0 { general(float.into(), 9) } else { hexadecimal(value, 8, 23) }
            }
            NumberType::Float(_) => {
                let float = f64::from_bits(value);
                if float.is_normal() || float == 0.0 { general(float, 17) } else { hexadecimal(value, 11, 52) }
            }
        };
        (self.read(&text).as_deref() == Some(units)).then_some(text)
    }

    /// The units of a number; `None` when the text is not a number or does not fit.
    pub fn read(self, text: &str) -> Option<Vec<u32>> {
        let count = self.units()?;
        let width = self.width();
        let value = match self {
            NumberType::Integer(_, signed) => {
                let value = integer(text)?;
                let (least, most) = match signed {
                    true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
                    false => (0, (1i128 << width) - 1),
                };
                (least..=most).contains(&value).then_some(value as u64)?
            }
            NumberType::Float(16) => float_bits(text, 5, 10)?,
            NumberType::Float(32) => match text.contains("0x") {
                true => float_bits(text, 8, 23)?,
                false => u64::from(text.parse::<f32>().ok().filter(|f| f.is_finite())?.to_bits()),
            },
            NumberType::Float(_) => match text.contains("0x") {
                true => float_bits(text, 11, 52)?,
                false => text.parse::<f64>().ok().filter(|f| f.is_finite())?.to_bits(),
            },
        };
        Some((0..count).map(|i| (value >> (32 * i)) as u32).collect())
    }
}

/// Parses an integer, decimal or hexadecimal.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with('+') => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -i128::from(value) } else { value.into() })
}

/// Prints a float with at most `digits` significant digits, like `%g` in C.
fn general(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let all: String = mantissa.chars().filter(|c| *c != '.').collect();
    let kept = all.trim_end_matches('0');
    let kept = if kept.is_empty() { "0" } else { kept };
    let with_point = |digits: &str, at: usize| {
        let mut digits = digits.to_string();
        while digits.len() < at {
            digits.push('0');
        }
        let (whole, rest) = digits.split_at(at);
        if rest.is_empty() { whole.to_string() } else { format!("{whole}.{rest}") }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign_of = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}e{sign_of}{:02}", with_point(kept, 1), exponent.abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("{sign}0.{zeros}{kept}");
    }
    format!("{sign}{}", with_point(kept, exponent as usize + 1))
}

/// Prints the bits of a float in the form `0x1.8p+1`.
fn hexadecimal(bits: u64, exponent_bits: u32, fraction_bits: u32) -> String {
    let fraction = bits & ((1 << fraction_bits) - 1);
    let exponent = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let sign = if bits >> (fraction_bits + exponent_bits) & 1 != 0 { "-" } else { "" };
    if exponent == 0 && fraction == 0 {
        return format!("{sign}0x0p+0");
    }
    // Normalise subnormal numbers.
    let (fraction, exponent) = match exponent {
        0 => {
            let shift = fraction.leading_zeros() as i32 - (63 - fraction_bits as i32);
            (fraction << shift & ((1 << fraction_bits) - 1), 1 - bias - shift)
        }
        _ => (fraction, exponent - bias),
    };
    let digits = fraction_bits.div_ceil(4);
    let text = format!("{:0width$x}", fraction << (4 * digits - fraction_bits), width = digits as usize);
    let kept = text.trim_end_matches('0');
    let point = if kept.is_empty() { "" } else { "." };
    format!("{sign}0x1{point}{kept}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Parses the bits of a float in that form.
fn float_bits(text: &str, exponent_bits: u32, fraction_bits: u32) -> Option<u64> {
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let (sign, rest) = text.strip_prefix('-').map_or((0, text), |rest| (1u64, rest));
    let sign = sign << (exponent_bits + fraction_bits);
    let (mantissa, exponent) = rest.strip_prefix("0x")?.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if fraction.len() > 15 || !matches!(whole, "0" | "1") {
        return None;
    }
    let digits = if fraction.is_empty() { 0 } else { u64::from_str_radix(fraction, 16).ok()? };
    let scaled = u128::from(digits) << fraction_bits;
    let fraction_value = (scaled >> (4 * fraction.len())) as u64;
    if u128::from(fraction_value) << (4 * fraction.len()) != scaled {
        return None;
    }
    if whole == "0" {
        return (digits == 0).then_some(sign);
    }
    let biased = exponent.checked_add(bias)?;
    if (1..1 << exponent_bits).contains(&biased) {
        return Some(sign | (biased as u64) << fraction_bits | fraction_value);
    }
    let shift = u32::try_from(1i32.checked_sub(biased)?).ok().filter(|shift| *shift <= fraction_bits)?;
    let all = 1 << fraction_bits | fraction_value;
    (all >> shift << shift == all).then_some(sign | all >> shift)
}
