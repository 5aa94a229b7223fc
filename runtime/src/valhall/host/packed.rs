//! Formats whose channels are not byte-aligned.

use super::channel::{ChannelBits, Kind};

/// A format whose channels share bytes, or are not in the order red, green, blue, alpha.
pub(super) struct Packed {
    /// Its names, in the spelling of OpenGL and in others.
    pub names: &'static [&'static str],
    /// The size of a texel in bytes.
    pub bytes: usize,
    /// The encoding of the channels.
    pub kind: Kind,
    /// The positions of red, green, blue and alpha.
    pub places: [ChannelBits; 4],
}

/// The position of a channel that the format does not have.
pub(super) const ABSENT: ChannelBits = ChannelBits { at: 0, bits: 0 };

const fn packed(names: &'static [&'static str], bytes: usize, kind: Kind, places: [(u8, u8); 4]) -> Packed {
    const fn place((at, bits): (u8, u8)) -> ChannelBits {
        ChannelBits { at, bits }
    }
    let [red, green, blue, alpha] = places;
    Packed { names, bytes, kind, places: [place(red), place(green), place(blue), place(alpha)] }
}

/// The packed formats, with the bits in the order of OpenGL's packed types: red highest in 16 bits, lowest in 32.
/// 24-bit depths are in the low bits, as in Vulkan; a stencil value above them is ignored.
pub(super) const PACKED: [Packed; 10] = [
    packed(&["RGB10_A2", "RGB10A2"], 4, Kind::Unorm, [(0, 10), (10, 10), (20, 10), (30, 2)]),
    packed(&["RGB10_A2UI", "RGB10A2UI"], 4, Kind::Uint, [(0, 10), (10, 10), (20, 10), (30, 2)]),
    packed(&["R11F_G11F_B10F", "R11G11B10F", "RG11B10F"], 4, Kind::Float, [(0, 11), (11, 11), (22, 10), (0, 0)]),
    packed(&["RGB9_E5", "RGB9E5"], 4, Kind::SharedExponent, [(0, 9), (9, 9), (18, 9), (0, 0)]),
    packed(&["RGB565"], 2, Kind::Unorm, [(11, 5), (5, 6), (0, 5), (0, 0)]),
    packed(&["RGB5_A1", "RGB5A1"], 2, Kind::Unorm, [(11, 5), (6, 5), (1, 5), (0, 1)]),
    packed(&["RGBA4"], 2, Kind::Unorm, [(12, 4), (8, 4), (4, 4), (0, 4)]),
    packed(&["BGRA8"], 4, Kind::Unorm, [(16, 8), (8, 8), (0, 8), (24, 8)]),
    packed(&["SBGRA8"], 4, Kind::Srgb, [(16, 8), (8, 8), (0, 8), (24, 8)]),
    packed(&["D24", "D24X8", "D24S8"], 4, Kind::Unorm, [(0, 24), (0, 0), (0, 0), (0, 0)]),
];

/// Encodes an f32 without a sign in 10 or 11 bits. Negative values become 0, and only infinity becomes infinity.
pub(super) fn without_sign(value: u32, bits: u32) -> u32 {
    // The number of fraction bits, and the encoding of infinity: five ones above them.
    let fraction = if bits == 10 { 5 } else { 6 };
    let infinity = 0x1f << fraction;
    let float = f32::from_bits(value);
    if float.is_nan() {
        return infinity | 1 << (fraction - 1);
    }
    if float.is_sign_negative() || float == f32::INFINITY {
        return if float > 0.0 { infinity } else { 0 };
    }
    if float < power(-14) {
        // A subnormal number, in units of the smallest one.
        return (float * power(14 + fraction)).round_ties_even() as u32;
    }
    // Rounds to nearest even: adds half a unit of the last place, minus 1 if the result would be even. A carry
    // increments the exponent.
    let cut = 23 - fraction;
    let rounded = (value + (1 << (cut - 1)) - 1 + (value >> cut & 1)) >> cut;
    (rounded - ((127 - 15) << fraction)).min(infinity - 1)
}

/// Decodes a 9-bit channel of a texel whose highest 5 bits are the exponent, to the f32 channel · 2^(exponent - 24).
pub(super) fn shared_exponent(texel: u32, channel: u32) -> u32 {
    (channel as f32 * power((texel >> 27) as i32 - 24)).to_bits()
}

/// Encodes three f32 with the smallest shared exponent that can represent the greatest of them.
pub(super) fn with_shared_exponent(channels: [u32; 3]) -> u32 {
    const MAX_SHARED: f32 = 511.0 * 128.0;
    // NaN becomes 0 as well.
    let values = channels.map(|bits| f32::from_bits(bits).max(0.0)).map(|value| value.min(MAX_SHARED));
    let greatest = values.into_iter().fold(0.0, f32::max);
    let rounded = |value: f32, exponent: i32| (value * power(24 - exponent) + 0.5).floor() as u32;
    let floor = (greatest.to_bits() >> 23) as i32 - 127;
    let first = floor.max(-16) + 16;
    // Rounding up may carry into another bit.
    let exponent = if rounded(greatest, first) < 512 { first } else { first + 1 };
    let [red, green, blue] = values.map(|value| rounded(value, exponent));
    red | green << 9 | blue << 18 | (exponent as u32) << 27
}

/// 2^`exponent`, which must be in the range of normal f32.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::host::format::{Format, Texel};

    fn decoded(name: &str, bytes: &[u8]) -> [f32; 4] {
        Format::parse(name).unwrap().decode(bytes).channels.map(f32::from_bits)
    }

    fn encoded(name: &str, channels: [f32; 4]) -> u32 {
        let (bytes, size) = Format::parse(name).unwrap().encode(Texel::floats(channels));
        assert!(bytes[size..].iter().all(|&byte| byte == 0));
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    #[test]
    fn channels_lie_where_the_packed_types_of_opengl_have_them() {
        let of = |n: u32, most: u32| n as f32 / most as f32;
        let word = |word: u32| word.to_le_bytes();
        assert_eq!(
            decoded("RGB10_A2", &word(1 << 30 | 3 << 20 | 2 << 10 | 1023)),
            [1.0, of(2, 1023), of(3, 1023), of(1, 3)]
        );
        assert_eq!(decoded("RGB565", &[0x61, 0xf8]), [1.0, of(3, 63), of(1, 31), 1.0]);
        assert_eq!(decoded("RGB5_A1", &[0x85, 0x00]), [0.0, of(2, 31), of(2, 31), 1.0]);
        assert_eq!(decoded("RGBA4", &[0x34, 0xf2]), [1.0, of(2, 15), of(3, 15), of(4, 15)]);
        assert_eq!(decoded("BGRA8", &[1, 2, 255, 4]), [1.0, of(2, 255), of(1, 255), of(4, 255)]);
        assert_eq!(decoded("D24S8", &[0xff, 0xff, 0xff, 0x12]), [1.0, 0.0, 0.0, 1.0]);
        let whole = Format::parse("RGB10_A2UI").unwrap().decode(&word(3 << 30 | 5 << 20 | 1023 << 10 | 7));
        assert_eq!(whole.channels, [7, 1023, 5, 3]);
        assert_eq!([Format::parse("RGB565").unwrap().size(), Format::parse("D24").unwrap().size()], [2, 4]);
        // Channels beyond the bytes have their defaults.
        assert_eq!(decoded("RGB10_A2", &[0xff, 0x07, 0x00]), [1.0, of(1, 1023), 0.0, 1.0]);
    }

    #[test]
    fn texels_of_every_packed_format_are_written_as_they_were_read() {
        for packed in &PACKED {
            let format = Format::parse(packed.names[0]).unwrap();
            for name in packed.names {
                assert_eq!(Format::parse(name), Some(format));
            }
            let mut random = isaforge_core::sample::Random(7);
            for _ in 0..10_000 {
                let texel = format.decode(&(random.below(1 << 32) as u32).to_le_bytes());
                let (bytes, size) = format.encode(texel);
                let again = format.decode(&bytes[..size]);
                let same = |(a, b): (&u32, &u32)| a == b || f32::from_bits(*a).is_nan() && f32::from_bits(*b).is_nan();
                assert!(texel.channels.iter().zip(&again.channels).all(same), "{format:?} {texel:?} {again:?}");
            }
        }
    }

    #[test]
    fn floats_without_a_sign_are_rounded_and_keep_to_their_range() {
        let red = |value: f32| encoded("R11F_G11F_B10F", [value, 0.0, 0.0, 0.0]);
        assert_eq!([red(1.0), red(1.5), red(65024.0), red(1e9), red(-1.0)], [0x3c0, 0x3e0, 0x7bf, 0x7bf, 0]);
        assert_eq!([red(f32::INFINITY), red(f32::NEG_INFINITY), red(f32::NAN)], [0x7c0, 0, 0x7e0]);
        // The smallest number, half of it (a tie), and more than half.
        let least = 2f32.powi(-20);
        assert_eq!([red(least), red(least / 2.0), red(least * 0.51)], [1, 0, 1]);
        // 1 + 2^-7 is a tie between two numbers with 11 bits.
        assert_eq!([red(1.0 + 2f32.powi(-7)), red(1.0 + 3.0 * 2f32.powi(-7))], [0x3c0, 0x3c2]);
        let blue = |value: f32| encoded("R11F_G11F_B10F", [0.0, 0.0, value, 0.0]) >> 22;
        assert_eq!([blue(1.0), blue(64512.0), blue(1e9), blue(f32::INFINITY)], [0x1e0, 0x3df, 0x3df, 0x3e0]);
        assert_eq!(
            decoded("R11F_G11F_B10F", &(0x3c0u32 | 1 << 11 | 0x1f0 << 22).to_le_bytes()),
            [1.0, least, 1.5, 1.0]
        );
    }

    #[test]
    fn a_shared_exponent_is_that_of_the_greatest_channel() {
        let texel =
            |channels: [u32; 3], exponent: u32| channels[0] | channels[1] << 9 | channels[2] << 18 | exponent << 27;
        let encoded = |r, g, b| encoded("RGB9_E5", [r, g, b, 0.0]);
        // 1 is 256 units of 2^-8.
        assert_eq!(encoded(1.0, 0.5, 0.0), texel([256, 128, 0], 16));
        // 511.6 of 512 units rounds up to a value that needs the next exponent.
        assert_eq!(encoded(511.6 / 512.0, 0.0, 0.25), texel([256, 0, 64], 16));
        assert_eq!(encoded(1e9, -1.0, f32::NAN), texel([511, 0, 0], 31));
        assert_eq!(encoded(0.0, 2f32.powi(-24), 2f32.powi(-26)), texel([0, 1, 0], 0));
        let word = texel([511, 1, 256], 31).to_le_bytes();
        assert_eq!(decoded("RGB9_E5", &word), [65408.0, 128.0, 32768.0, 1.0]);
    }
}
