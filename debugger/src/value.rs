//! Numbers as they are given, and formats of values.

use std::fmt::Write as _;

use half::f16;

/// The format of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Hexadecimal digits, as many as the width requires.
    #[default]
    Hex,
    /// Unsigned integers, one for each 32 bits, lowest first.
    Unsigned,
    /// Signed integers, one for each 32 bits, lowest first.
    Signed,
    /// 32-bit floats, one for each 32 bits, lowest first.
    F32,
    /// 16-bit floats, one for each 16 bits, lowest first.
    F16,
}

impl Format {
    /// All formats, with the names that select them.
    pub const ALL: [(Format, &'static str); 5] = [
        (Format::Hex, "hex"),
        (Format::Unsigned, "u32"),
        (Format::Signed, "i32"),
        (Format::F32, "f32"),
        (Format::F16, "f16"),
    ];

    /// Finds a format by name.
    ///
    /// # Errors
    /// The names that exist.
    pub fn named(name: &str) -> Result<Format, String> {
        let name = match name {
            "x" => "hex",
            "u" => "u32",
            "i" | "d" => "i32",
            "f" => "f32",
            "h" | "2xf16" => "f16",
            name => name,
        };
        let found = Format::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format);
        found.ok_or_else(|| format!("there is no format `{name}`; write {}", Format::names()))
    }

    /// The names of all formats, for a message.
    pub fn names() -> &'static str {
        "hex, u32, i32, f32 or f16"
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|(format, _)| *format == self).map_or("hex", |(_, name)| name)
    }

    /// The next format; the last is followed by the first.
    pub fn next(self) -> Format {
        let at = Format::ALL.iter().position(|(format, _)| *format == self).unwrap_or(0);
        Format::ALL[(at + 1) % Format::ALL.len()].0
    }

    /// Formats a value of a width in bits.
    ///
    /// ```
    /// use isaforge_debugger::value::Format;
    ///
    /// assert_eq!(Format::Hex.show(0x3f80_0000, 32), "3f800000");
    /// assert_eq!(Format::F32.show(0x3f80_0000, 32), "1.0");
    /// assert_eq!(Format::F16.show(0xc000_3c00, 32), "1.0,-2.0");
    /// assert_eq!(Format::Signed.show(0xffff_ffff, 32), "-1");
    /// assert_eq!(Format::Signed.show(0xffff_ffff_0000_0007, 64), "7,-1");
    /// // A single bit is 0 or 1 in every format.
    /// assert_eq!(Format::Signed.show(1, 1), "1");
    /// ```
    pub fn show(self, bits: u64, width: u32) -> String {
        let mut text = String::new();
        let _ = match self {
            _ if width == 1 => write!(text, "{}", bits & 1),
            Format::Hex => write!(text, "{bits:0digits$x}", digits = width.div_ceil(4).max(1) as usize),
            Format::Unsigned => {
                parts(&mut text, width.div_ceil(32), |n| (bits >> (32 * n) & u64::from(u32::MAX)).to_string())
            }
            Format::Signed => parts(&mut text, width.div_ceil(32), |n| {
                signed(bits >> (32 * n), width.saturating_sub(32 * n).min(32)).to_string()
            }),
            Format::F32 => parts(&mut text, width.div_ceil(32), |n| float(f32::from_bits((bits >> (32 * n)) as u32))),
            Format::F16 => {
                parts(&mut text, width.div_ceil(16), |n| float(f16::from_bits((bits >> (16 * n)) as u16).to_f32()))
            }
        };
        text
    }
}

fn parts(text: &mut String, count: u32, part: impl Fn(u32) -> String) -> std::fmt::Result {
    for n in 0..count.max(1) {
        write!(text, "{}{}", if n == 0 { "" } else { "," }, part(n))?;
    }
    Ok(())
}

/// Formats a float with the fewest digits that distinguish it from its neighbours.
fn float(value: f32) -> String {
    let magnitude = value.abs();
    if value != 0.0 && value.is_finite() && !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:e}");
    }
    format!("{value:?}")
}

/// Interprets a number of a width in bits as signed.
pub fn signed(bits: u64, width: u32) -> i64 {
    let above = 64 - width.clamp(1, 64);
    ((bits << above) as i64) >> above
}

/// The value of a half, given its bits.
pub fn half(bits: u64) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}
