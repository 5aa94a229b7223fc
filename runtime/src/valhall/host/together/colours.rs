//! The colours of lanes in the formats of texels.

use isaforge_core::semantics::evaluate::each;

use super::Lanes;
use crate::valhall::host::format::{Class, Format, Texel, eighth, fraction};
use crate::valhall::warp::LANES;
use crate::wide::{Wide, wide};

/// The channels of each lane.
type Colours = [Lanes<u32>; 4];

/// Colours with the precision of eight bits from 0 to 1.
struct Rounded<'a>(&'a Colours);

impl Wide for Rounded<'_> {
    type Result = Colours;

    #[inline(always)]
    fn compute(self) -> Colours {
        let mut rounded = [[0; LANES]; 4];
        for (rounded, colours) in rounded.iter_mut().zip(self.0) {
            *rounded = each(colours, |bits| fraction(eighth(f32::from_bits(bits))).to_bits());
        }
        rounded
    }
}

/// Colours as words of four channels with eight bits from 0 to 1.
struct Packed<'a>(&'a Colours);

impl Wide for Packed<'_> {
    type Result = Lanes<u32>;

    #[inline(always)]
    fn compute(self) -> Lanes<u32> {
        let mut words = [0; LANES];
        for (channel, colours) in self.0.iter().enumerate() {
            for (word, bits) in words.iter_mut().zip(colours) {
                *word |= eighth(f32::from_bits(*bits)) << (8 * channel);
            }
        }
        words
    }
}

/// The colours of such words.
struct Unpacked<'a>(&'a Lanes<u32>);

impl Wide for Unpacked<'_> {
    type Result = Colours;

    #[inline(always)]
    fn compute(self) -> Colours {
        let mut colours = [[0; LANES]; 4];
        for (channel, colours) in colours.iter_mut().enumerate() {
            *colours = each(self.0, |word| fraction(word >> (8 * channel) & 0xff).to_bits());
        }
        colours
    }
}

impl Format {
    /// Returns colours with the precision and range of this format. `None` if they must be converted lane by lane.
    pub(in crate::valhall::host) fn held_together(self, colours: &Colours) -> Option<Colours> {
        match self {
            Format::RGBA8 => Some(wide(Rounded(colours))),
            Format::RGBA32F => Some(*colours),
            _ => None,
        }
    }

    /// Decodes the texels of all lanes, as [`Format::decode`] does; lanes without a texel get zeros.
    pub(in crate::valhall) fn decode_together(self, texels: &Lanes<Option<&[u8]>>) -> Colours {
        let mut colours = [[0; LANES]; 4];
        if self == Format::RGBA8 {
            let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
            return wide(Unpacked(&each(texels, |texel| texel.map_or(0, word))));
        }
        for (lane, texel) in texels.iter().enumerate() {
            let channels = texel.map_or([0; 4], |texel| self.decode(texel).channels);
            (0..4).for_each(|channel| colours[channel][lane] = channels[channel]);
        }
        colours
    }

    /// Encodes the colours of all lanes, which are floats, as [`Format::encode`] does.
    pub(in crate::valhall) fn encode_together(self, colours: &Colours) -> Lanes<[u8; 16]> {
        let mut texels = [[0; 16]; LANES];
        if self == Format::RGBA8 {
            for (texel, word) in texels.iter_mut().zip(wide(Packed(colours))) {
                texel[..4].copy_from_slice(&word.to_le_bytes());
            }
            return texels;
        }
        for (lane, texel) in texels.iter_mut().enumerate() {
            let channels = colours.each_ref().map(|channel| channel[lane]);
            (*texel, _) = self.encode(Texel { channels, class: Class::Float });
        }
        texels
    }
}
