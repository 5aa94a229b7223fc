//! Prints and parses numbers.

use core::fmt::Write;

use super::table::Notation;
use crate::text::Line;

/// Prints a number.
pub(super) fn write_number(notation: &Notation, value: u64, signed: bool, line: &mut Line) {
    let negative = signed && (value as i64) < 0;
    if notation.quiet_zero && value == 0 {
        return;
    }
    if negative {
        line.push_str("-");
    } else if notation.plus {
        line.push_str("+");
    }
    line.push_str(notation.prefix);
    let magnitude = if negative { value.wrapping_neg() } else { value };
    let radix = u64::from(notation.radix.clamp(2, 16));
    let mut digits = [b'0'; 64];
    let mut count = 0;
    let mut rest = magnitude;
    while rest != 0 || count < usize::from(notation.digits.clamp(1, 64)) {
        let alphabet = if notation.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        digits[count] = alphabet[(rest % radix) as usize];
        rest /= radix;
        count += 1;
    }
    let Some(used) = digits.get_mut(..count) else { return };
    used.reverse();
    line.push_str(core::str::from_utf8(used).unwrap_or_default());
}

impl Notation {
    /// Parses the number at the start of a text. Returns it with its length in bytes, or `None` when there is none.
    pub fn read(&self, text: &str) -> Option<(i128, usize)> {
        read_number(text, self)
    }
}

/// Parses the number at the start of a text. Returns its value, negative after a minus sign, and its length in bytes.
///
/// A prefix determines the radix. Without one the notation does, if it has none; otherwise the number is decimal. Underscores are allowed between digits.
pub(super) fn read_number(text: &str, notation: &Notation) -> Option<(i128, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let negative = match bytes.first() {
        Some(b'-') => {
            at = 1;
            true
        }
        Some(b'+') => {
            at = 1;
            false
        }
        _ => false,
    };
    let mut radix = u32::from(notation.radix.clamp(2, 16));
    let rest = text.get(at..)?;
    if !notation.prefix.is_empty()
        && rest.starts_with(notation.prefix)
        && digit(rest.as_bytes().get(notation.prefix.len()), radix)
    {
        at += notation.prefix.len();
    } else {
        let other = match rest.get(..2) {
            Some("0x" | "0X") => 16,
            Some("0b" | "0B") if radix != 16 || !notation.prefix.is_empty() => 2,
            Some("0o" | "0O") => 8,
            _ => 0,
        };
        if other != 0 && digit(rest.as_bytes().get(2), other) {
            (radix, at) = (other, at + 2);
        } else if !notation.prefix.is_empty() && radix == 10 {
            return None;
        } else if !notation.prefix.is_empty() {
            // Where another radix needs a prefix, plain digits are decimal.
            radix = 10;
        }
    }
    if !digit(bytes.get(at), radix) {
        return None;
    }
    let mut value: i128 = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte as char).to_digit(radix) {
            Some(digit) => value = value.checked_mul(radix.into())?.checked_add(digit.into())?,
            None if byte == b'_' && digit(bytes.get(at + 1), radix) => {}
            None => break,
        }
        at += 1;
    }
    // No field holds a larger value.
    (value <= u64::MAX.into()).then_some((if negative { -value } else { value }, at))
}

fn digit(byte: Option<&u8>, radix: u32) -> bool {
    byte.is_some_and(|byte| (*byte as char).is_digit(radix))
}

/// Prints a float with six digits after the decimal point, like `%f` in C.
pub(super) fn write_float(width: u8, bits: u64, line: &mut Line) {
    let value = float_value(width, bits);
    // If the line is full, excess text is dropped.
    let _ = if value.is_nan() {
        // A float conversion need not preserve the sign of a NaN.
        line.write_str(if bits >> (width.clamp(1, 64) - 1) & 1 != 0 { "-nan" } else { "nan" })
    } else {
        write!(line, "{value:.6}")
    };
}

/// The value of a float, given its bits.
pub(super) fn float_value(width: u8, bits: u64) -> f64 {
    match width {
        16 => half(bits as u16),
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

fn half(bits: u16) -> f64 {
    let sign = u64::from(bits >> 15) << 63;
    let (exponent, fraction) = (u64::from(bits >> 10 & 31), u64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f64 / (1u64 << 24) as f64,
        31 => f64::from_bits(0x7ff << 52 | fraction << 42),
        _ => f64::from_bits((exponent + 1023 - 15) << 52 | fraction << 42),
    };
    f64::from_bits(magnitude.to_bits() | sign)
}

/// Parses the float at the start of a text and rounds it to its width. Returns its bits and its length in bytes.
pub(super) fn read_float(text: &str, width: u8) -> Option<(u64, usize)> {
    let bytes = text.as_bytes();
    let mut len = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let word = |from: usize, word: &str| text.get(from..).is_some_and(|rest| rest.starts_with(word));
    if let Some(special) = ["inf", "nan"].into_iter().find(|special| word(len, special)) {
        len += special.len();
    } else {
        let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let whole = digits(len);
        if whole == 0 {
            return None;
        }
        len += whole;
        if bytes.get(len) == Some(&b'.') {
            len += 1 + digits(len + 1);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(len + 1), Some(b'-' | b'+')));
            let exponent = digits(len + 1 + sign);
            if exponent > 0 {
                len += 1 + sign + exponent;
            }
        }
    }
    let value: f64 = text.get(..len)?.parse().ok()?;
    let bits = match width {
        // A float conversion need not preserve the sign of a NaN.
        _ if value.is_nan() => {
            let (quiet, sign) = match width {
                16 => (0x7e00, 1 << 15),
                32 => (0x7fc0_0000, 1 << 31),
                _ => (0x7ff8 << 48, 1 << 63),
            };
            if text.starts_with('-') { quiet | sign } else { quiet }
        }
        16 => nearest_half(value).into(),
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    Some((bits, len))
}

/// Whether a number is rounded to an infinity that it does not name.
pub(super) fn overflows(width: u8, bits: u64, text: &str) -> bool {
    float_value(width, bits).is_infinite() && !text.ends_with("inf")
}

/// Rounds to the nearest half, ties to even.
fn nearest_half(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = f64::from_bits(value.to_bits() & !(1 << 63));
    // Halves are ordered like their bits.
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if half(middle) <= magnitude { low = middle } else { high = middle }
    }
    // For rounding, infinity counts as the next value after the greatest half.
    let above = if high == 0x7c00 { 65536.0 } else { half(high) };
    let (down, up) = (magnitude - half(low), above - magnitude);
    let up = up < down || up == down && low & 1 != 0;
    sign | if up { high } else { low }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    #[test]
    fn numbers_read_as_they_are_written() {
        let plus = Notation { plus: true, ..Notation::DECIMAL };
        let bare = Notation { prefix: "", ..Notation::HEX };
        for notation in [Notation::DECIMAL, Notation::HEX, plus, bare, Notation { prefix: "#", ..Notation::DECIMAL }] {
            for value in [0u64, 1, 9, 10, 255, u64::MAX, -1i64 as u64, i64::MIN as u64] {
                for signed in [false, true] {
                    let mut line = Line::new();
                    write_number(&notation, value, signed, &mut line);
                    let (read, len) = read_number(line.as_str(), &notation).expect("it is a number");
                    assert_eq!((read as u64, len), (value, line.as_str().len()), "{line:?}");
                }
            }
        }
        assert_eq!(read_number("0x1f,", &Notation::DECIMAL), Some((31, 4)));
        assert_eq!(read_number("12", &Notation::HEX), Some((12, 2)));
        assert_eq!(read_number("1_000", &Notation::DECIMAL), Some((1000, 5)));
        assert_eq!(read_number("-", &Notation::DECIMAL), None);
        assert_eq!(read_number("99999999999999999999999", &Notation::DECIMAL), None);
    }

    #[test]
    fn every_half_but_nan_reads_back() {
        // Miri would take minutes for all of them.
        for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let value = half(bits);
            if value.is_nan() {
                continue;
            }
            assert_eq!(nearest_half(value), bits, "{value}");
            let text = format!("{value:e}");
            assert_eq!(read_float(&text, 16), Some((bits.into(), text.len())), "{text}");
        }
        assert_eq!(nearest_half(65519.0), 0x7bff);
        assert_eq!(nearest_half(65520.0), 0x7c00);
        for (width, text, too_large) in
            [(16, "65519", false), (16, "-65520", true), (32, "1e39", true), (64, "-inf", false)]
        {
            let (bits, _) = read_float(text, width).expect("it is a float");
            assert_eq!(overflows(width, bits, text), too_large, "{text}");
        }
    }

    #[test]
    fn floats_print_as_c_does() {
        for (width, bits, text) in [
            (32, 0x3f80_0000, "1.000000"),
            (32, 0xbf00_0000, "-0.500000"),
            (32, 0x8000_0000, "-0.000000"),
            (32, 0x7f80_0000, "inf"),
            (32, 0xff80_0000, "-inf"),
            (32, 0x7fc0_0000, "nan"),
            (32, 0xffc0_0000, "-nan"),
            (64, 0xfff8_0000_0000_0000, "-nan"),
            (16, 0xfe00, "-nan"),
            (16, 0x3c00, "1.000000"),
            (16, 0x0001, "0.000000"),
        ] {
            let mut line = Line::new();
            write_float(width, bits, &mut line);
            assert_eq!(line.as_str(), text);
            if text.ends_with("nan") {
                assert_eq!(read_float(text, width), Some((bits, text.len())), "{text} of {width} bits");
            }
        }
    }
}
