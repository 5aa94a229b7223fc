//! The layout of texels in memory and the meaning of their channels.

use half::f16;

use super::channel::{ChannelBits, Kind};
use super::packed::{self, ABSENT, PACKED};

/// The bits of 1.0.
const ONE: u32 = 0x3f80_0000;

/// The class of the numbers in channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The bits of an f32.
    Float,
    /// An unsigned integer.
    Unsigned,
    /// A signed integer in two's complement.
    Signed,
}

/// Red, green, blue and alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texel {
    /// The channels, each 32 bits.
    pub channels: [u32; 4],
    /// The class of the channels.
    pub class: Class,
}

impl Texel {
    /// Creates a texel of floats.
    pub fn floats(channels: [f32; 4]) -> Self {
        Texel { channels: channels.map(f32::to_bits), class: Class::Float }
    }

    /// Converts the channels to another class: floats are truncated and saturate, integers are rounded.
    pub fn to(self, class: Class) -> Texel {
        let convert = |value: u32| match (self.class, class) {
            (Class::Float, Class::Unsigned) => f32::from_bits(value) as u32,
            (Class::Float, Class::Signed) => f32::from_bits(value) as i32 as u32,
            (Class::Unsigned, Class::Float) => (value as f32).to_bits(),
            (Class::Signed, Class::Float) => (value as i32 as f32).to_bits(),
            _ => value,
        };
        Texel { channels: self.channels.map(convert), class }
    }
}

/// Returns a number with the canonical NaN in place of any other, since that of a sum depends on the order of its terms.
#[inline(always)]
pub(super) fn canonical(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value }
}

/// Converts a half to a single. The conversion is exact; a NaN keeps its sign and payload.
pub(in crate::valhall) fn widen(bits: u16) -> u32 {
    let half = f16::from_bits(bits);
    let nan = u32::from(bits & 0x8000) << 16 | 0x7f80_0000 | u32::from(bits & 0x3ff) << 13;
    if half.is_nan() { nan } else { half.to_f32().to_bits() }
}

/// Converts a single to a half, rounding to nearest; every NaN becomes the canonical NaN.
pub(in crate::valhall) fn narrow(bits: u32) -> u16 {
    let single = f32::from_bits(bits);
    if single.is_nan() { 0x7e00 } else { f16::from_f32(single).to_bits() }
}

/// The position of the channels in a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Consecutive, red first.
    Even { channels: u8, bits: u8 },
    /// As in this entry of the table of packed formats.
    Packed(u8),
}

/// The format of a texel: one to four channels of 8, 16 or 32 bits, little-endian, red first, or packed channels that
/// share bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    layout: Layout,
    kind: Kind,
}

const fn even(channels: u8, bits: u8, kind: Kind) -> Format {
    Format { layout: Layout::Even { channels, bits }, kind }
}

impl Format {
    /// Four 8-bit channels from 0 to 1.
    pub const RGBA8: Format = even(4, 8, Kind::Unorm);
    /// Four 8-bit channels, sRGB-encoded.
    pub const SRGBA8: Format = even(4, 8, Kind::Srgb);
    /// Four f32 channels.
    pub const RGBA32F: Format = even(4, 32, Kind::Float);
    /// One f32 channel, for depth.
    pub const R32F: Format = even(1, 32, Kind::Float);
    /// Two f32 channels.
    pub(super) const RG32F: Format = even(2, 32, Kind::Float);
    /// Three half-precision channels.
    pub(super) const RGB16F: Format = even(3, 16, Kind::Float);
    pub(super) const RGBA16F: Format = even(4, 16, Kind::Float);

    /// Returns the format with this name, as in OpenGL, such as `RGBA8`, `RG16F`, `R32UI`, `RGBA8_SNORM`,
    /// `SRGB8_ALPHA8`,
    /// `RGB565`, `R11F_G11F_B10F` or `D32F`. A depth is a red channel.
    pub fn parse(name: &str) -> Option<Format> {
        match name {
            "SRGBA8" | "SRGB8_ALPHA8" => return Some(Format::SRGBA8),
            "SRGB8" => return Some(even(3, 8, Kind::Srgb)),
            "D16" => return Some(even(1, 16, Kind::Unorm)),
            "D32F" => return Some(Format::R32F),
            _ => {}
        }
        if let Some(index) = PACKED.iter().position(|packed| packed.names.contains(&name)) {
            return Format::packed(index);
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
            Kind::Unorm | Kind::Snorm => matches!(bits, 8 | 16),
            Kind::Float => matches!(bits, 16 | 32),
            _ => matches!(bits, 8 | 16 | 32),
        };
        fits.then_some(even(channels, bits, kind))
    }

    /// Returns an entry of the table of packed formats.
    fn packed(index: usize) -> Option<Format> {
        let kind = PACKED.get(index)?.kind;
        Some(Format { layout: Layout::Packed(u8::try_from(index).ok()?), kind })
    }

    /// The size of a texel in bytes, at most 16.
    pub fn size(self) -> usize {
        match self.layout {
            Layout::Even { channels, bits } => usize::from(channels) * usize::from(bits / 8),
            Layout::Packed(index) => PACKED[usize::from(index)].bytes,
        }
    }

    /// The positions of red, green, blue and alpha.
    fn places(self) -> [ChannelBits; 4] {
        match self.layout {
            Layout::Even { channels, bits } => std::array::from_fn(|index| {
                let index = index as u8;
                if index < channels { ChannelBits { at: index * bits, bits } } else { ABSENT }
            }),
            Layout::Packed(index) => PACKED[usize::from(index)].places,
        }
    }

    /// The class of its channels after decoding.
    pub fn class(self) -> Class {
        match self.kind {
            Kind::Uint => Class::Unsigned,
            Kind::Sint => Class::Signed,
            _ => Class::Float,
        }
    }

    /// Returns the format without sRGB encoding: the channels are used as they are in memory.
    pub fn without_curve(self) -> Format {
        Format { kind: if self.kind == Kind::Srgb { Kind::Unorm } else { self.kind }, ..self }
    }

    /// Whether its channels range from 0 to 1 or from -1 to 1.
    pub fn is_normalised(self) -> bool {
        matches!(self.kind, Kind::Unorm | Kind::Snorm | Kind::Srgb)
    }

    /// The number of channels if each of them is a word.
    pub(super) fn words(self) -> Option<usize> {
        match self.layout {
            Layout::Even { channels, bits: 32 } => Some(channels.into()),
            _ => None,
        }
    }

    /// The default channels: 0, with alpha 1.
    pub(super) fn empty(self) -> [u32; 4] {
        [0, 0, 0, if self.class() == Class::Float { ONE } else { 1 }]
    }

    /// Creates a texel of those channels that the format has; the others are 0, and alpha is 1.
    pub(super) fn complete(self, channels: [u32; 4]) -> Texel {
        let mut all = self.empty();
        for ((channel, place), given) in all.iter_mut().zip(self.places()).zip(channels) {
            if place != ABSENT {
                *channel = given;
            }
        }
        Texel { channels: all, class: self.class() }
    }

    /// Decodes a texel. Channels that the format does not have are 0, and alpha is 1; the same holds for channels
    /// beyond the end of `bytes`.
    pub fn decode(self, bytes: &[u8]) -> Texel {
        if let (Layout::Even { bits: 32, .. }, words) = (self.layout, bytes.as_chunks::<4>().0) {
            let mut channels = self.empty();
            for (channel, word) in channels.iter_mut().zip(&words[..words.len().min(self.size() / 4)]) {
                *channel = u32::from_le_bytes(*word);
            }
            return Texel { channels, class: self.class() };
        }
        if let (Layout::Even { bits: 8, .. }, Kind::Unorm) = (self.layout, self.kind) {
            let mut channels = self.empty();
            for (channel, byte) in channels.iter_mut().zip(&bytes[..bytes.len().min(self.size())]) {
                *channel = fraction((*byte).into()).to_bits();
            }
            return Texel { channels, class: Class::Float };
        }
        let mut raw = [0; 16];
        let known = bytes.len().min(self.size());
        raw[..known].copy_from_slice(&bytes[..known]);
        let texel = u128::from_le_bytes(raw);
        let mut channels = self.empty();
        for (index, place) in self.places().into_iter().enumerate() {
            if place != ABSENT && usize::from(place.at + place.bits) <= 8 * known {
                channels[index] = match self.kind {
                    Kind::SharedExponent => packed::shared_exponent(texel as u32, place.take(texel)),
                    _ => self.decode_channel(place.take(texel), place.bits.into(), index),
                };
            }
        }
        Texel { channels, class: self.class() }
    }

    fn decode_channel(self, raw: u32, bits: u32, index: usize) -> u32 {
        let signed = ((raw << (32 - bits)) as i32) >> (32 - bits);
        let unorm = || f64::from(raw) / f64::from(u32::MAX >> (32 - bits));
        match self.kind {
            Kind::Unorm => (unorm() as f32).to_bits(),
            Kind::Snorm => ((f64::from(signed) / f64::from(i32::MAX >> (32 - bits))).max(-1.0) as f32).to_bits(),
            Kind::Srgb if index == 3 => (unorm() as f32).to_bits(),
            Kind::Srgb => (to_linear(unorm()) as f32).to_bits(),
            // Floats without a sign are halves without their sign and low bits.
            Kind::Float if bits < 16 => widen((raw << (15 - bits)) as u16),
            Kind::Float if bits == 16 => widen(raw as u16),
            Kind::Float | Kind::Uint | Kind::SharedExponent => raw,
            Kind::Sint => signed as u32,
        }
    }

    /// Encodes a texel. Values out of range become the nearest that fits, and NaN becomes 0 if it cannot be
    /// represented.
    pub fn encode(self, texel: Texel) -> ([u8; 16], usize) {
        let channels = texel.to(self.class()).channels;
        if let (Layout::Even { bits: 8, .. }, Kind::Unorm) = (self.layout, self.kind) {
            let mut bytes = [0; 16];
            for (byte, channel) in bytes.iter_mut().zip(channels).take(self.size()) {
                *byte = eighth(f32::from_bits(channel)) as u8;
            }
            return (bytes, self.size());
        }
        let mut raw = 0;
        if self.kind == Kind::SharedExponent {
            raw = packed::with_shared_exponent([channels[0], channels[1], channels[2]]).into();
        } else {
            for (index, (place, channel)) in self.places().into_iter().zip(channels).enumerate() {
                if place != ABSENT {
                    let bits = self.encode_channel(channel, place.bits.into(), index) & place.mask();
                    raw |= u128::from(bits) << place.at;
                }
            }
        }
        (raw.to_le_bytes(), self.size())
    }

    fn encode_channel(self, value: u32, bits: u32, index: usize) -> u32 {
        let unused = 32 - bits;
        let float = f64::from(f32::from_bits(value));
        // Casts from floats to integers turn NaN into 0.
        let unorm = |value: f64| (value.clamp(0.0, 1.0) * f64::from(u32::MAX >> unused) + 0.5) as u32;
        match self.kind {
            Kind::Unorm => unorm(float),
            Kind::Snorm => (float.clamp(-1.0, 1.0) * f64::from(i32::MAX >> unused)).round() as i32 as u32,
            Kind::Srgb if index == 3 => unorm(float),
            Kind::Srgb => unorm(to_srgb(float)),
            Kind::Float if bits < 16 => packed::without_sign(value, bits),
            Kind::Float if bits == 16 => narrow(value).into(),
            Kind::Float | Kind::SharedExponent => value,
            Kind::Uint => value.min(u32::MAX >> unused),
            Kind::Sint => (value as i32).clamp(i32::MIN >> unused, i32::MAX >> unused) as u32,
        }
    }

    /// Clamps a number for blending to the range of a channel, if it has one. NaN becomes 0 then.
    pub(super) fn limit(self, value: f32) -> f32 {
        match self.kind {
            Kind::Unorm | Kind::Srgb | Kind::Snorm if value.is_nan() => 0.0,
            Kind::Unorm | Kind::Srgb => value.clamp(0.0, 1.0),
            Kind::Snorm => value.clamp(-1.0, 1.0),
            Kind::Float | Kind::Uint | Kind::Sint | Kind::SharedExponent => value,
        }
    }

    /// The word that represents this format in a conversion descriptor. It need not match the hardware's, since
    /// programs only pass it on.
    pub(crate) fn descriptor(self) -> u32 {
        TAG | match self.layout {
            Layout::Even { channels, bits } => (self.kind as u32) << 16 | u32::from(bits) << 8 | u32::from(channels),
            Layout::Packed(index) => IS_PACKED | u32::from(index),
        }
    }

    /// Returns the format that a conversion descriptor represents. `None` when the word is not a descriptor.
    pub(crate) fn from_descriptor(word: u32) -> Option<Format> {
        let format = if word & IS_PACKED == IS_PACKED {
            Format::packed((word & 0xff) as usize)?
        } else {
            let kinds = [Kind::Unorm, Kind::Snorm, Kind::Srgb, Kind::Float, Kind::Uint, Kind::Sint];
            even(word as u8, (word >> 8) as u8, *kinds.get(word as usize >> 16 & 0xff)?)
        };
        let valid = match format.layout {
            Layout::Even { channels, bits } => matches!(channels, 1..=4) && matches!(bits, 8 | 16 | 32),
            Layout::Packed(_) => true,
        };
        (valid && format.descriptor() == word).then_some(format)
    }
}

/// Decodes eight bits from 0 to 1.
#[inline(always)]
pub(super) fn fraction(byte: u32) -> f32 {
    // The exact product of the first bits of 1/255, and the rest: their sum is rounded as the quotient would be, which
    // takes longer.
    const FIRST: f32 = 257.0 / 65536.0;
    const REST: f32 = (1.0 / 255.0 - 257.0 / 65536.0) as f32;
    let byte = byte as i32 as f32;
    byte * FIRST + byte * REST
}

/// Encodes a number from 0 to 1 in eight bits.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "what is not a number becomes 0")]
pub(super) fn eighth(value: f32) -> u32 {
    // Numbers that begin here have no bits after the point: the sum rounds to the nearest, and its low bits are the
    // result. Only 1/2 is as near to the next, which is even.
    const WHOLE: f64 = (1u64 << 52) as f64;
    (f64::from(value.max(0.0).min(1.0)) * 255.0 + WHOLE).to_bits() as u32
}

/// The highest byte of the descriptors.
const TAG: u32 = 0x1d00_0000;
/// Replaces the kind in the descriptors of packed formats.
const IS_PACKED: u32 = 0x00ff_0000;

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
        for wrong in
            ["", "8", "RGBA", "RGBA9", "R8F", "R32", "BGRA16", "RGBA8UIX", "RGB10", "D8", "rgba8", "RGBA08888888888"]
        {
            assert_eq!(Format::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn channels_that_are_missing_are_black_and_opaque() {
        assert_eq!(floats(format("RG8").decode(&[255, 51])), [1.0, 0.2, 0.0, 1.0]);
        assert_eq!(format("R32I").decode(&[0xfe, 0xff, 0xff, 0xff]).channels, [-2i32 as u32, 0, 0, 1]);
        assert_eq!(floats(format("RGBA8").decode(&[255])), [1.0, 0.0, 0.0, 1.0]);
        // The lowest number in two's complement is clamped to -1.
        assert_eq!(floats(format("RG8_SNORM").decode(&[0x80, 0x81])), [-1.0, -1.0, 0.0, 1.0]);
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
    fn eight_bits_are_read_and_written_as_any_number_of_bits() {
        for byte in 0..256 {
            let value = fraction(byte);
            assert_eq!(value.to_bits(), Format::RGBA8.decode_channel(byte, 8, 0));
            assert_eq!(value, byte as f32 / 255.0);
            for near in [value.next_down(), value, value.next_up(), value + 0.5 / 255.0, value - 0.5 / 255.0] {
                for near in [near.next_down(), near, near.next_up(), -near] {
                    assert_eq!(eighth(near), Format::RGBA8.encode_channel(near.to_bits(), 8, 0), "{near}");
                }
            }
        }
        for odd in [f32::NAN, f32::INFINITY, -f32::INFINITY, -0.0, 1e-40, 3e9] {
            assert_eq!(eighth(odd), Format::RGBA8.encode_channel(odd.to_bits(), 8, 0), "{odd}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_written_as_zero() {
        assert_eq!(Format::RGBA8.encode(Texel::floats([f32::NAN, f32::INFINITY, -1.0, 0.5])).0[..4], [0, 255, 0, 128]);
    }

    #[test]
    fn a_descriptor_stands_for_one_format() {
        let packed = PACKED.iter().map(|packed| packed.names[0]);
        for name in ["RGBA8", "R32UI", "RGB16F", "RG8_SNORM", "SRGB8", "RGBA32I"].into_iter().chain(packed) {
            assert_eq!(Format::from_descriptor(format(name).descriptor()), Some(format(name)), "{name}");
        }
        let beyond = TAG | IS_PACKED | PACKED.len() as u32;
        for wrong in [0, u32::MAX, 0x010b_f000, TAG, TAG | 0x0003_0805, TAG | IS_PACKED | 0x100, beyond] {
            assert_eq!(Format::from_descriptor(wrong), None);
        }
    }
}
