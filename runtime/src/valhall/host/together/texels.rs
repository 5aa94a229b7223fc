//! Texels in memory: where those of several warps are, and what they hold.

use super::{Lanes, WARPS};
use crate::valhall::host::Image;
use crate::valhall::host::format::{Format, fraction};
use crate::valhall::warp::{LANES, lanes, mask_of};
use crate::wide::{Wide, wide};

/// One value for each lane of the warps.
type Batch<T> = [T; WARPS * LANES];

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
        let batches = addresses.chunks_mut(WARPS).zip(masks.chunks_mut(WARPS));
        for ((addresses, masks), (xy, z)) in batches.zip(xy.chunks(WARPS).zip(z.chunks(WARPS))) {
            let mut inside: Batch<bool> = [false; _];
            let places = addresses.as_flattened_mut().iter_mut().zip(&mut inside);
            for ((address, inside), (xy, z)) in places.zip(xy.as_flattened().iter().zip(z.as_flattened())) {
                (*address, *inside) = image.place([xy & 0xffff, xy >> 16, z & 0xffff]);
            }
            for (mask, inside) in masks.iter_mut().zip(inside.as_chunks::<LANES>().0) {
                *mask = mask_of(|lane| inside[lane]);
            }
        }
    }
}

impl Image {
    /// Finds the addresses of texels of some warps, given x and y in the halves of a word and z in the low half of
    /// another, and the lanes in which they are inside the image.
    pub(in crate::valhall) fn texels(&self, at: [&[Lanes<u32>]; 2], addresses: &mut [Lanes<u64>], masks: &mut [u16]) {
        wide(Places { image: self, at, addresses, masks });
    }
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
            let mut beyond = 0;
            for ((start, known), address) in starts.iter_mut().zip(&known).zip(addresses.as_flattened()) {
                let offset = address.wrapping_sub(base);
                beyond |= u32::from(offset > last as u64) & known;
                *start = offset.min(last as u64) as usize;
            }
            if beyond != 0 {
                return None;
            }
            let (words, absent) = match format.words() {
                _ if format == Format::RGBA8 => (1, [0; 4]),
                Some(words) => (words, format.empty()),
                None => {
                    for (warp, (found, mask)) in found.iter_mut().zip(masks).enumerate() {
                        for lane in lanes(*mask) {
                            let texel = format.decode(&bytes[starts[warp * LANES + lane]..]);
                            (0..4).for_each(|channel| found[channel][lane] = texel.channels[channel]);
                        }
                    }
                    continue;
                }
            };
            for word in 0..words {
                for (to, start) in row.iter_mut().zip(&starts) {
                    let at = start + 4 * word;
                    *to =
                        bytes.get(at..at + 4).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word));
                }
                let rows = row.as_chunks::<LANES>().0.iter().zip(known.as_chunks::<LANES>().0);
                for (found, (row, known)) in found.iter_mut().zip(rows) {
                    if format == Format::RGBA8 {
                        for (channel, found) in found.iter_mut().enumerate() {
                            for (found, (word, known)) in found.iter_mut().zip(row.iter().zip(known)) {
                                *found = fraction(word >> (8 * channel) & 0xff).to_bits() & known;
                            }
                        }
                    } else {
                        for (found, (word, known)) in found[word].iter_mut().zip(row.iter().zip(known)) {
                            *found = word & known;
                        }
                    }
                }
            }
            for (found, known) in found.iter_mut().zip(known.as_chunks::<LANES>().0) {
                let channels = if format == Format::RGBA8 { 4 } else { words };
                for (found, absent) in found.iter_mut().zip(absent).skip(channels) {
                    found.iter_mut().zip(known).for_each(|(found, known)| *found = absent & known);
                }
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
