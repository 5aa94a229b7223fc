//! Words of up to 256 bits, in four chunks of 64.

use crate::bits::ones;

/// The bits of an instruction or of an operand; bit 0 is the lowest of the first chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wide(pub [u64; Wide::CHUNKS]);

impl Wide {
    /// The number of 64-bit chunks.
    pub const CHUNKS: usize = 4;
    /// The capacity in bits.
    pub const BITS: u32 = 64 * Self::CHUNKS as u32;
    /// The capacity in bytes.
    pub const BYTES: usize = Self::BITS as usize / 8;
    /// No bit set.
    pub const ZERO: Wide = Wide([0; Self::CHUNKS]);

    /// A number of at most 64 bits.
    pub const fn new(value: u64) -> Self {
        let mut chunks = [0; Self::CHUNKS];
        chunks[0] = value;
        Wide(chunks)
    }

    /// Loads bytes in little-endian order, padded with zeros. Bytes beyond the capacity are ignored.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut chunks = [0; Self::CHUNKS];
        // Load whole chunks if there are enough bytes.
        if let Some(all) = bytes.first_chunk::<{ Self::BYTES }>() {
            for (chunk, bytes) in chunks.iter_mut().zip(all.as_chunks().0) {
                *chunk = u64::from_le_bytes(*bytes);
            }
        } else if let Some(first) = bytes.first_chunk() {
            chunks[0] = u64::from_le_bytes(*first);
            let rest = bytes.get(8..).unwrap_or_default().chunks(8);
            for (chunk, bytes) in chunks.iter_mut().skip(1).zip(rest) {
                *chunk = little(bytes);
            }
        } else {
            chunks[0] = little(bytes);
        }
        Wide(chunks)
    }

    /// The bytes in little-endian order.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (out, chunk) in bytes.chunks_mut(8).zip(self.0) {
            out.copy_from_slice(&chunk.to_le_bytes());
        }
        bytes
    }

    /// A word with the `bits` lowest bits set.
    pub fn ones(bits: u32) -> Self {
        Wide(core::array::from_fn(|i| ones(bits.saturating_sub(64 * i as u32).min(64))))
    }

    /// The `width` bits from bit `at`, at most 64; bits past the end are zero.
    #[inline]
    pub fn get(&self, at: u32, width: u32) -> u64 {
        let (chunk, shift) = (at as usize / 64, at % 64);
        let low = self.0.get(chunk).map_or(0, |low| low >> shift);
        let high = match self.0.get(chunk + 1) {
            Some(high) if shift + width > 64 => high << (64 - shift),
            _ => 0,
        };
        (low | high) & ones(width)
    }

    /// The same as [`get`](Self::get), optimised for bits in the first chunk.
    #[inline]
    pub(super) fn get_near(&self, at: u32, width: u32) -> u64 {
        if at + width <= 64 { self.0[0] >> at & ones(width) } else { self.get(at, width) }
    }

    /// The low `bits` bits.
    #[inline]
    pub fn low(self, bits: u32) -> Wide {
        if bits <= 64 { Wide::new(self.0[0] & ones(bits)) } else { self & Wide::ones(bits) }
    }

    /// Replaces `width` bits, at most 64, from bit `at`. Bits past the end are dropped.
    #[inline]
    pub fn set(&mut self, at: u32, width: u32, value: u64) {
        let (chunk, shift) = (at as usize / 64, at % 64);
        let (mask, value) = (ones(width), value & ones(width));
        if let Some(low) = self.0.get_mut(chunk) {
            *low = *low & !(mask << shift) | value << shift;
        }
        if let Some(high) = self.0.get_mut(chunk + 1)
            && shift + width > 64
        {
            let down = 64 - shift;
            *high = *high & !(mask >> down) | value >> down;
        }
    }

    /// Whether no bit is set.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|chunk| *chunk == 0)
    }

    /// The number of set bits.
    pub fn count_ones(&self) -> u32 {
        self.0.iter().map(|chunk| chunk.count_ones()).sum()
    }

    /// The index of the lowest set bit.
    pub fn first_one(&self) -> Option<u32> {
        let (i, chunk) = self.0.iter().enumerate().find(|(_, chunk)| **chunk != 0)?;
        Some(64 * i as u32 + chunk.trailing_zeros())
    }

    /// The index of the highest set bit plus 1; 0 for zero.
    pub fn width(&self) -> u32 {
        let highest = self.0.iter().enumerate().rev().find(|(_, chunk)| **chunk != 0);
        highest.map_or(0, |(i, chunk)| 64 * i as u32 + 64 - chunk.leading_zeros())
    }

    /// The runs of set bits, lowest first: first bit and width. Runs longer than 64 bits are split.
    pub fn runs(self) -> impl Iterator<Item = (u32, u32)> {
        let mut from = 0;
        core::iter::from_fn(move || {
            let rest = self & !Wide::ones(from);
            let at = rest.first_one()?;
            let ends = !rest & !Wide::ones(at);
            let end = ends.first_one().unwrap_or(Self::BITS);
            let width = (end - at).min(64);
            from = at + width;
            Some((at, width))
        })
    }

    /// Whether the bits in `mask` equal those of `value`.
    #[inline]
    pub fn matches(&self, mask: &Wide, value: &Wide) -> bool {
        let wrong = |i: usize| (self.0[i] ^ value.0[i]) & mask.0[i];
        // The first chunk usually decides.
        wrong(0) == 0 && (1..Self::CHUNKS).all(|i| wrong(i) == 0)
    }
}

fn little(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(all)
}

impl core::ops::BitAnd for Wide {
    type Output = Wide;
    fn bitand(self, other: Wide) -> Wide {
        Wide(core::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl core::ops::BitOr for Wide {
    type Output = Wide;
    fn bitor(self, other: Wide) -> Wide {
        Wide(core::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl core::ops::BitXor for Wide {
    type Output = Wide;
    fn bitxor(self, other: Wide) -> Wide {
        Wide(core::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl core::ops::Not for Wide {
    type Output = Wide;
    fn not(self) -> Wide {
        Wide(self.0.map(|chunk| !chunk))
    }
}

impl core::ops::BitOrAssign for Wide {
    fn bitor_assign(&mut self, other: Wide) {
        *self = *self | other;
    }
}

impl core::fmt::LowerHex for Wide {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if f.alternate() {
            f.write_str("0x")?;
        }
        let digits = f.width().unwrap_or(1).max(self.width().div_ceil(4).max(1) as usize);
        for digit in (0..digits as u32).rev() {
            write!(f, "{:x}", self.get(4 * digit, 4))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_field_across_two_chunks_reads_back_what_was_set() {
        for at in [0, 1, 60, 63, 64, 127, 190, 250] {
            for width in [1, 5, 6, 33, 64] {
                for start in [Wide::ZERO, !Wide::ZERO] {
                    let mut word = start;
                    word.set(at, width, 0x9abc_def0_1234_5677);
                    let fits = (Wide::BITS - at).min(width);
                    assert_eq!(word.get(at, width), 0x9abc_def0_1234_5677 & ones(fits), "{at} {width}");
                    let own = Wide::ones((at + width).min(Wide::BITS)) & !Wide::ones(at);
                    assert_eq!(word & !own, start & !own, "{at} {width}: others stay");
                }
            }
        }
    }

    #[test]
    fn bytes_lie_in_the_order_of_memory() {
        let bytes: std::vec::Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            let word = Wide::from_bytes(&bytes[..len]);
            let back = word.to_bytes();
            let kept = len.min(Wide::BYTES);
            assert_eq!(back[..kept], bytes[..kept]);
            assert!(back[kept..].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn runs_are_those_of_the_mask() {
        let mut mask = Wide::new(0b1011_0000);
        mask.set(120, 12, 0xfff);
        assert_eq!(mask.runs().collect::<std::vec::Vec<_>>(), [(4, 2), (7, 1), (120, 12)]);
        assert_eq!((!Wide::ZERO).runs().count(), 4);
        assert_eq!((mask.width(), mask.count_ones(), mask.first_one()), (132, 15, Some(4)));
        assert_eq!(std::format!("{:x}", mask), "fff0000000000000000000000000000b0");
    }
}
