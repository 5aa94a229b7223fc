//! The colours of lanes in the formats of texels and pixels.

use super::{Lanes, WARPS};
use crate::valhall::host::format::{Class, Format, Texel, eighth, fraction};
use crate::valhall::warp::{LANES, lanes};
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

/// Texels in memory, and their channels.
struct Texels<'a> {
    format: Format,
    bytes: &'a [u8],
    offsets: &'a [Lanes<u64>],
    masks: &'a [u16],
    found: &'a mut [[Lanes<u32>; 4]],
}

impl Wide for Texels<'_> {
    type Result = Option<()>;

    #[inline(always)]
    fn compute(self) -> Option<()> {
        let Texels { format, bytes, offsets, masks, found } = self;
        let last = bytes.len().checked_sub(format.size())? as u64;
        for (mask, offsets) in masks.iter().zip(offsets) {
            let beyond = |beyond: u16, (lane, offset): (usize, &u64)| beyond | u16::from(*offset > last) << lane;
            if offsets.iter().enumerate().fold(0, beyond) & mask != 0 {
                return None;
            }
        }
        let word = |offset: u64, word: usize| {
            let start = last.min(offset) as usize + 4 * word;
            bytes.get(start..start + 4).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
        };
        let words = if format == Format::RGBA8 { Some(1) } else { format.words() };
        let mut row = [0; WARPS * LANES];
        for (batch, found) in found.chunks_mut(WARPS).enumerate() {
            let of_batch = batch * WARPS..;
            let masks = masks.get(of_batch.clone()).unwrap_or_default();
            let offsets = offsets.get(of_batch).unwrap_or_default();
            let Some(words) = words else {
                for ((found, mask), offsets) in found.iter_mut().zip(masks).zip(offsets) {
                    for lane in lanes(*mask) {
                        let texel = format.decode(bytes.get(offsets[lane] as usize..).unwrap_or_default());
                        (0..4).for_each(|channel| found[channel][lane] = texel.channels[channel]);
                    }
                }
                continue;
            };
            for index in 0..words {
                row.iter_mut().zip(offsets.as_flattened()).for_each(|(to, offset)| *to = word(*offset, index));
                for ((found, mask), row) in found.iter_mut().zip(masks).zip(row.as_chunks::<LANES>().0) {
                    let keep = |lane: usize, word: u32| if mask >> lane & 1 != 0 { word } else { 0 };
                    match format == Format::RGBA8 {
                        false => (0..LANES).for_each(|lane| found[index][lane] = keep(lane, row[lane])),
                        true => {
                            for (channel, found) in found.iter_mut().enumerate() {
                                for lane in 0..LANES {
                                    let value = fraction(row[lane] >> (8 * channel) & 0xff);
                                    found[lane] = keep(lane, value.to_bits());
                                }
                            }
                        }
                    }
                }
            }
            if format == Format::RGBA8 {
                continue;
            }
            let absent = format.empty();
            for (found, mask) in found.iter_mut().zip(masks) {
                for (found, absent) in found.iter_mut().zip(absent).skip(words) {
                    (0..LANES).for_each(|lane| found[lane] = if mask >> lane & 1 != 0 { absent } else { 0 });
                }
            }
        }
        Some(())
    }
}

impl Format {
    /// Decodes the texels at some offsets in the lanes of masks, as [`Format::decode`] does; other lanes of the warps
    /// get zeros. `None` if some end after the bytes.
    pub(in crate::valhall) fn decode_together(
        self,
        bytes: &[u8],
        offsets: &[Lanes<u64>],
        masks: &[u16],
        found: &mut [[Lanes<u32>; 4]],
    ) -> Option<()> {
        wide(Texels { format: self, bytes, offsets, masks, found })
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
