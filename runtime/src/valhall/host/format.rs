//! How texels lie in memory and what their channels are.

use crate::valhall::rules::rounding::Rounding;
use crate::valhall::rules::{convert, float16};

/// The bits of 1.0.
const ONE: u32 = 0x3f80_0000;

/// What kind of number a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The bits of an f32.
    Float,
    /// A whole number.
    Unsigned,
    /// A whole number in two's complement.
    Signed,
}

/// Red, green, blue and alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texel {
    /// The channels, each 32 bits.
    pub channels: [u32; 4],
    /// What they are.
    pub class: Class,
}

impl Texel {
    /// Floats.
    pub fn floats(channels: [f32; 4]) -> Self {
        Texel { channels: channels.map(f32::to_bits), class: Class::Float }
    }

    /// The channels as another kind of number: floats lose their fraction and saturate, whole numbers are rounded.
    pub fn to(self, class: Class) -> Texel {
        let convert = |value: u32| match (self.class, class) {
            (Class::Float, Class::Unsigned) => convert::f32_to_u32(value, Rounding::Zero),
            (Class::Float, Class::Signed) => convert::f32_to_s32(value, Rounding::Zero),
            (Class::Unsigned, Class::Float) => convert::integer_to_f32(value.into(), Rounding::NearestEven),
            (Class::Signed, Class::Float) => convert::integer_to_f32((value as i32).into(), Rounding::NearestEven),
            _ => value,
        };
        Texel { channels: self.channels.map(convert), class }
    }
}

/// What the bits of a channel in memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// From 0 to 1.
    Unorm,
    /// From -1 to 1.
    Snorm,
    /// From 0 to 1; red, green and blue on the curve of sRGB.
    Srgb,
    /// A float.
    Float,
    /// A whole number.
    Uint,
    /// A whole number in two's complement.
    Sint,
}

/// The layout of a texel: one to four channels of 8, 16 or 32 bits, little-endian, red first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    channels: u8,
    bits: u8,
    kind: Kind,
}

impl Format {
    /// Four channels of 8 bits from 0 to 1.
    pub const RGBA8: Format = Format { channels: 4, bits: 8, kind: Kind::Unorm };
    /// Four channels of 8 bits on the curve of sRGB.
    pub const SRGBA8: Format = Format { channels: 4, bits: 8, kind: Kind::Srgb };
    /// Four f32.
    pub const RGBA32F: Format = Format { channels: 4, bits: 32, kind: Kind::Float };
    /// One f32, for depth.
    pub const R32F: Format = Format { channels: 1, bits: 32, kind: Kind::Float };

    /// The format with a name as in OpenGL, such as `RGBA8`, `RG16F`, `R32UI`, `RGBA8_SNORM`, `SRGB8_ALPHA8` or `D32F`.
    /// A depth is a red channel.
    pub fn parse(name: &str) -> Option<Format> {
        let format = |channels, bits, kind| Some(Format { channels, bits, kind });
        match name {
            "SRGBA8" | "SRGB8_ALPHA8" => return format(4, 8, Kind::Srgb),
            "SRGB8" => return format(3, 8, Kind::Srgb),
            "D16" => return format(1, 16, Kind::Unorm),
            "D32F" => return format(1, 32, Kind::Float),
            _ => {}
        }
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (channels, rest) = name.split_at(digits);
        let channels = 1 + ["R", "RG", "RGB", "RGBA"].iter().position(|&known| known == channels)? as u8;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (bits, kind) = rest.split_at(end);
        let bits = bits.parse().ok()?;
        let kind = match kind {
            "" => Kind::Unorm,
            "_SNORM" => Kind::Snorm,
            "F" => Kind::Float,
            "UI" => Kind::Uint,
            "I" => Kind::Sint,
            _ => return None,
        };
        let fits = match kind {
            Kind::Unorm | Kind::Snorm | Kind::Srgb => matches!(bits, 8 | 16),
            Kind::Float => matches!(bits, 16 | 32),
            Kind::Uint | Kind::Sint => matches!(bits, 8 | 16 | 32),
        };
        if fits { format(channels, bits, kind) } else { None }
    }

    /// Bytes of a texel, at most 16.
    pub fn size(self) -> usize {
        usize::from(self.channels) * usize::from(self.bits / 8)
    }

    /// What its channels are once they are read.
    pub fn class(self) -> Class {
        match self.kind {
            Kind::Uint => Class::Unsigned,
            Kind::Sint => Class::Signed,
            _ => Class::Float,
        }
    }

    /// Whether its channels lie from 0 to 1 or from -1 to 1.
    pub fn is_normalised(self) -> bool {
        matches!(self.kind, Kind::Unorm | Kind::Snorm | Kind::Srgb)
    }

    /// The channels of a texel of which nothing is known.
    fn empty(self) -> [u32; 4] {
        [0, 0, 0, if self.class() == Class::Float { ONE } else { 1 }]
    }

    /// A texel with those of the channels that the format has; the others are 0, alpha is 1.
    pub(super) fn complete(self, channels: [u32; 4]) -> Texel {
        let known = usize::from(self.channels);
        let mut all = self.empty();
        all[..known].copy_from_slice(&channels[..known]);
        Texel { channels: all, class: self.class() }
    }

    /// Reads a texel. Channels that the format lacks are 0, alpha is 1; so are those beyond the end of `bytes`.
    pub fn decode(self, bytes: &[u8]) -> Texel {
        let mut channels = self.empty();
        let parts = bytes.chunks_exact(usize::from(self.bits / 8)).take(self.channels.into());
        for (index, (channel, part)) in channels.iter_mut().zip(parts).enumerate() {
            let raw = part.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
            *channel = self.decode_channel(raw, index);
        }
        Texel { channels, class: self.class() }
    }

    fn decode_channel(self, raw: u32, index: usize) -> u32 {
        let bits = u32::from(self.bits);
        let signed = ((raw << (32 - bits)) as i32) >> (32 - bits);
        let unorm = || f64::from(raw) / f64::from(u32::MAX >> (32 - bits));
        match self.kind {
            Kind::Unorm => (unorm() as f32).to_bits(),
            Kind::Snorm => ((f64::from(signed) / f64::from(i32::MAX >> (32 - bits))).max(-1.0) as f32).to_bits(),
            Kind::Srgb if index == 3 => (unorm() as f32).to_bits(),
            Kind::Srgb => (to_linear(unorm()) as f32).to_bits(),
            Kind::Float if self.bits == 16 => float16::widen(raw as u16),
            Kind::Float | Kind::Uint => raw,
            Kind::Sint => signed as u32,
        }
    }

    /// Writes a texel. Numbers that do not fit become the nearest that does; NaN becomes 0 where there is none.
    pub fn encode(self, texel: Texel) -> ([u8; 16], usize) {
        let mut bytes = [0; 16];
        let channels = texel.to(self.class()).channels;
        let parts = bytes.chunks_exact_mut(usize::from(self.bits / 8)).take(self.channels.into());
        for (index, (channel, part)) in channels.into_iter().zip(parts).enumerate() {
            let raw = self.encode_channel(channel, index).to_le_bytes();
            part.copy_from_slice(&raw[..part.len()]);
        }
        (bytes, self.size())
    }

    fn encode_channel(self, value: u32, index: usize) -> u32 {
        let unused = 32 - u32::from(self.bits);
        let float = f64::from(f32::from_bits(value));
        // Conversions from floats take NaN to 0.
        let unorm = |value: f64| (value.clamp(0.0, 1.0) * f64::from(u32::MAX >> unused) + 0.5) as u32;
        match self.kind {
            Kind::Unorm => unorm(float),
            Kind::Snorm => (float.clamp(-1.0, 1.0) * f64::from(i32::MAX >> unused)).round() as i32 as u32,
            Kind::Srgb if index == 3 => unorm(float),
            Kind::Srgb => unorm(to_srgb(float)),
            Kind::Float if self.bits == 16 => float16::narrow(value, Rounding::NearestEven).into(),
            Kind::Float => value,
            Kind::Uint => value.min(u32::MAX >> unused),
            Kind::Sint => (value as i32).clamp(i32::MIN >> unused, i32::MAX >> unused) as u32,
        }
    }

    /// A number as blending takes it: within what a channel holds, if that has bounds. NaN becomes 0 there.
    pub(super) fn limit(self, value: f32) -> f32 {
        match self.kind {
            Kind::Unorm | Kind::Srgb | Kind::Snorm if value.is_nan() => 0.0,
            Kind::Unorm | Kind::Srgb => value.clamp(0.0, 1.0),
            Kind::Snorm => value.clamp(-1.0, 1.0),
            Kind::Float | Kind::Uint | Kind::Sint => value,
        }
    }

    /// The word that stands for this format in a conversion descriptor. What the hardware's looks like does not matter
    /// to programs, for they only pass it on.
    pub(crate) fn descriptor(self) -> u32 {
        TAG | (self.kind as u32) << 16 | u32::from(self.bits) << 8 | u32::from(self.channels)
    }

    /// The format that a conversion descriptor stands for.
    pub(crate) fn from_descriptor(word: u32) -> Option<Format> {
        let kinds = [Kind::Unorm, Kind::Snorm, Kind::Srgb, Kind::Float, Kind::Uint, Kind::Sint];
        let kind = *kinds.get(word as usize >> 16 & 0xff)?;
        let format = Format { channels: word as u8, bits: (word >> 8) as u8, kind };
        let valid = matches!(format.channels, 1..=4) && matches!(format.bits, 8 | 16 | 32);
        (valid && format.descriptor() == word).then_some(format)
    }
}

/// The highest byte of our conversion descriptors.
const TAG: u32 = 0x1d00_0000;

fn to_linear(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(value: f64) -> f64 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> Format {
        Format::parse(name).unwrap_or_else(|| panic!("{name}"))
    }

    fn floats(texel: Texel) -> [f32; 4] {
        assert_eq!(texel.class, Class::Float);
        texel.channels.map(f32::from_bits)
    }

    #[test]
    fn names_say_channels_bits_and_kind() {
        assert_eq!(format("RGBA8"), Format::RGBA8);
        assert_eq!(format("D32F"), Format::R32F);
        assert_eq!([format("RG16F").size(), format("RGB32UI").size(), format("R8_SNORM").size()], [4, 12, 1]);
        for wrong in ["", "8", "RGBA", "RGBA9", "R8F", "R32", "BGRA8", "RGBA8UIX", "RGBA08888888888"] {
            assert_eq!(Format::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn channels_that_are_missing_are_black_and_opaque() {
        assert_eq!(floats(format("RG8").decode(&[255, 51])), [1.0, 0.2, 0.0, 1.0]);
        assert_eq!(format("R32I").decode(&[0xfe, 0xff, 0xff, 0xff]).channels, [-2i32 as u32, 0, 0, 1]);
        assert_eq!(floats(format("RGBA8").decode(&[255])), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn texels_are_read_as_they_were_written() {
        let texel = Texel::floats([0.25, -0.5, 0.75, 1.0]);
        for (name, expected) in [
            ("RGBA32F", [0.25, -0.5, 0.75, 1.0]),
            ("RGBA16F", [0.25, -0.5, 0.75, 1.0]),
            ("RGBA8", [64.0 / 255.0, 0.0, 191.0 / 255.0, 1.0]),
            ("RGBA8_SNORM", [32.0 / 127.0, -64.0 / 127.0, 95.0 / 127.0, 1.0]),
            ("RG16", [16384.0 / 65535.0, 0.0, 0.0, 1.0]),
        ] {
            let (bytes, size) = format(name).encode(texel);
            assert_eq!(floats(format(name).decode(&bytes[..size])), expected, "{name}");
        }
        let (bytes, _) = Format::SRGBA8.encode(texel);
        assert_eq!(bytes[..4], [137, 0, 225, 255]);
        let wide = Texel { channels: [300, 7, u32::MAX, 0], class: Class::Unsigned };
        assert_eq!(format("RGBA8UI").encode(wide).0[..4], [255, 7, 255, 0]);
        let low = Texel { channels: [-300i32 as u32, 7, 200, 0], class: Class::Signed };
        assert_eq!(format("RGBA8I").encode(low).0[..4], [0x80, 7, 0x7f, 0]);
    }

    #[test]
    fn a_number_that_is_none_is_written_as_zero() {
        assert_eq!(Format::RGBA8.encode(Texel::floats([f32::NAN, f32::INFINITY, -1.0, 0.5])).0[..4], [0, 255, 0, 128]);
    }

    #[test]
    fn a_descriptor_stands_for_one_format() {
        for name in ["RGBA8", "R32UI", "RGB16F", "RG8_SNORM", "SRGB8", "RGBA32I"] {
            assert_eq!(Format::from_descriptor(format(name).descriptor()), Some(format(name)));
        }
        for wrong in [0, u32::MAX, 0x010b_f000, TAG, TAG | 0x0003_0805] {
            assert_eq!(Format::from_descriptor(wrong), None);
        }
    }
}
