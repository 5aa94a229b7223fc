//! Texels in memory: where those of several warps are, and what they hold.

use super::{Batch, Lanes, WARPS};
use crate::valhall::host::Image;
use crate::valhall::host::format::{Format, fraction};
use crate::valhall::warp::{LANES, lanes, mask_of};
use crate::wide::{Wide, wide};

/// Texels of an image: x and y in the halves of a word and z in the low half of another, and their addresses.
struct Places<'a> {
    image: &'a Image,
    at: [&'a [Lanes<u32>]; 2],
    addresses: &'a mut [Lanes<u64>],
    masks: &'a mut [u16],
}

impl Wide for Places<'_> {
    type Result = ();

    #[inline(always)]
    fn compute(self) {
        let Places { image, at: [xy, z], addresses, masks } = self;
        let ([width, height, depth], size) = (image.size, image.format.size() as u32);
        // Words hold the offsets of most images.
        let is_small = image.size.iter().try_fold(size, |bytes, texels| bytes.checked_mul(*texels)).is_some();
        let (mut offsets, mut inside): (Batch<u32>, Batch<u32>) = ([0; _], [0; _]);
        let batches = addresses.chunks_mut(WARPS).zip(masks.chunks_mut(WARPS));
        for ((addresses, masks), (xy, z)) in batches.zip(xy.chunks(WARPS).zip(z.chunks(WARPS))) {
            let (addresses, xy, z) = (addresses.as_flattened_mut(), xy.as_flattened(), z.as_flattened());
            for ((offset, inside), (xy, z)) in offsets.iter_mut().zip(&mut inside).zip(xy.iter().zip(z)) {
                let [x, y, z] = [xy & 0xffff, xy >> 16, z & 0xffff];
                *inside = u32::from((x < width) & (y < height) & (z < depth));
                let row = z.wrapping_mul(height).wrapping_add(y);
                *offset = row.wrapping_mul(width).wrapping_add(x).wrapping_mul(size);
            }
            if is_small {
                let places = addresses.iter_mut().zip(&offsets);
                places.for_each(|(address, offset)| *address = image.address.wrapping_add(u64::from(*offset)));
            } else {
                for (address, (xy, z)) in addresses.iter_mut().zip(xy.iter().zip(z)) {
                    *address = image.place([xy & 0xffff, xy >> 16, z & 0xffff]);
                }
            }
            for (mask, inside) in masks.iter_mut().zip(inside.as_chunks::<LANES>().0) {
                *mask = mask_of(|lane| inside[lane] != 0);
            }
        }
    }
}

impl Image {
    /// Finds the lanes of some warps whose texels are inside the image, and their addresses, given x and y in the halves
    /// of a word and z in the low half of another. The addresses of other lanes are unspecified.
    pub(in crate::valhall) fn texels(&self, at: [&[Lanes<u32>]; 2], addresses: &mut [Lanes<u64>], masks: &mut [u16]) {
        wide(Places { image: self, at, addresses, masks });
    }
}

/// Computes a channel of the texels of some warps from words, in the lanes that `known` selects; the others are zeros.
#[inline(always)]
fn put(found: &mut [[Lanes<u32>; 4]], channel: usize, words: &Batch<u32>, known: &Batch<u32>, f: impl Fn(u32) -> u32) {
    let mut values: Batch<u32> = [0; _];
    for (value, (word, known)) in values.iter_mut().zip(words.iter().zip(known)) {
        *value = f(*word) & known;
    }
    found.iter_mut().zip(values.as_chunks::<LANES>().0).for_each(|(found, values)| found[channel] = *values);
}

/// Texels in a region of memory, and their channels.
struct Texels<'a> {
    format: Format,
    base: u64,
    bytes: &'a [u8],
    addresses: &'a [Lanes<u64>],
    masks: &'a [u16],
    found: &'a mut [[Lanes<u32>; 4]],
}

impl Wide for Texels<'_> {
    type Result = Option<()>;

    #[inline(always)]
    fn compute(self) -> Option<()> {
        let Texels { format, base, bytes, addresses, masks, found } = self;
        let last = bytes.len().checked_sub(format.size())?;
        let (mut starts, mut known, mut row): (Batch<usize>, Batch<u32>, Batch<u32>) = ([0; _], [0; _], [0; _]);
        let batches = found.chunks_mut(WARPS).zip(addresses.chunks(WARPS).zip(masks.chunks(WARPS)));
        for (found, (addresses, masks)) in batches {
            for (known, mask) in known.as_chunks_mut::<LANES>().0.iter_mut().zip(masks) {
                for (lane, known) in known.iter_mut().enumerate() {
                    *known = (u32::from(*mask) >> lane & 1).wrapping_neg();
                }
            }
            let (mut beyond, mut offsets) = (0, 0);
            for ((start, known), address) in starts.iter_mut().zip(&known).zip(addresses.as_flattened()) {
                let offset = address.wrapping_sub(base);
                beyond |= u32::from(offset > last as u64) & known;
                offsets |= offset as u32 & known;
                *start = offset.min(last as u64) as usize;
            }
            if beyond != 0 {
                return None;
            }
            let (count, absent) = match format.words() {
                _ if format == Format::RGBA8 && offsets % 4 == 0 => (1, [0; 4]),
                Some(count) if offsets % 4 == 0 => (count, format.empty()),
                _ => {
                    for (warp, (found, mask)) in found.iter_mut().zip(masks).enumerate() {
                        for lane in lanes(*mask) {
                            let texel = format.decode(&bytes[starts[warp * LANES + lane]..]);
                            (0..4).for_each(|channel| found[channel][lane] = texel.channels[channel]);
                        }
                    }
                    continue;
                }
            };
            let words = bytes.as_chunks::<4>().0;
            for word in 0..count {
                for (to, start) in row.iter_mut().zip(&starts) {
                    *to = u32::from_le_bytes(words[(start / 4 + word).min(words.len() - 1)]);
                }
                if format == Format::RGBA8 {
                    for channel in 0..4 {
                        put(found, channel, &row, &known, |word| fraction(word >> (8 * channel) & 0xff).to_bits());
                    }
                } else {
                    put(found, word, &row, &known, |word| word);
                }
            }
            let channels = if format == Format::RGBA8 { 4 } else { count };
            for (channel, absent) in absent.into_iter().enumerate().skip(channels) {
                put(found, channel, &known, &known, |_| absent);
            }
        }
        Some(())
    }
}

impl Format {
    /// Decodes the texels of some warps in the lanes of masks, as [`Format::decode`] does, from a region of memory and
    /// its first address. The other lanes of `found` become or stay zeros. `None` if some texels are not in the region.
    pub(in crate::valhall) fn decode_together(
        self,
        (base, bytes): (u64, &[u8]),
        addresses: &[Lanes<u64>],
        masks: &[u16],
        found: &mut [[Lanes<u32>; 4]],
    ) -> Option<()> {
        wide(Texels { format: self, base, bytes, addresses, masks, found })
    }
}
