//! The colours of lanes in the formats of texels and pixels.

use super::{Lanes, WARPS};
use crate::valhall::host::format::{Class, Format, Texel, eighth, fraction};
use crate::valhall::warp::LANES;
use crate::wide::{Wide, wide};

/// The channels of each lane.
type Colours = [Lanes<u32>; 4];

/// The colours that lanes of some warps draw, and where. Each list has an item for each warp.
#[derive(Clone, Copy, Debug)]
pub struct Blends<'a> {
    /// The lanes, lane 0 in bit 0.
    pub masks: &'a [u16],
    /// The pixels: their columns and their rows.
    pub pixels: [&'a [Lanes<u32>]; 2],
    /// Red, green, blue and alpha: the bits of f32.
    pub colours: [&'a [Lanes<u32>]; 4],
}

/// Rows of pixels with one sample, whose colours are replaced.
pub(in crate::valhall::host) struct Replaced<'a, 'b> {
    /// Whether colours have the precision of eight bits from 0 to 1. Otherwise they are stored as they are.
    pub eighths: bool,
    pub pixels: &'a mut [[u32; 4]],
    pub width: u32,
    /// The row of the first pixel.
    pub first: u32,
    pub blends: &'a Blends<'b>,
    /// The previous colours.
    pub before: &'a mut [Lanes<[u32; 4]>],
}

impl Wide for Replaced<'_, '_> {
    type Result = ();

    #[inline(always)]
    fn compute(self) {
        let Replaced { eighths, pixels, width, first, blends, before } = self;
        let rows = (pixels.len() as u32).checked_div(width).unwrap_or(0);
        let (mut colours, mut places) = ([[0; WARPS * LANES]; 4], [0; WARPS * LANES]);
        for (batch, before) in before.chunks_mut(WARPS).enumerate() {
            let from = batch * WARPS;
            for (to, colours) in colours.iter_mut().zip(blends.colours) {
                let colours = colours.get(from..).unwrap_or_default();
                for (to, from) in to.iter_mut().zip(colours.as_flattened()) {
                    *to = if eighths { fraction(eighth(f32::from_bits(*from))).to_bits() } else { *from };
                }
            }
            let [x, y] = blends.pixels.map(|pixels| pixels.get(from..).unwrap_or_default().as_flattened());
            for (place, (x, y)) in places.iter_mut().zip(x.iter().zip(y)) {
                // Targets have far fewer pixels than the largest index.
                let row = y.wrapping_sub(first);
                *place = if *x < width && row < rows { row.wrapping_mul(width).wrapping_add(*x) } else { u32::MAX };
            }
            let [red, green, blue, alpha] = &colours;
            let masks = blends.masks.get(from..).unwrap_or_default();
            for (warp, (mask, before)) in masks.iter().zip(before).enumerate() {
                for (lane, at) in (0..LANES).zip(warp * LANES..).filter(|(lane, _)| mask >> lane & 1 != 0) {
                    if let Some(pixel) = pixels.get_mut(places[at] as usize) {
                        before[lane] = std::mem::replace(pixel, [red[at], green[at], blue[at], alpha[at]]);
                    }
                }
            }
        }
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

impl Format {
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
