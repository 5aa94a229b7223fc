//! Bit fields of a word, possibly in several pieces.

/// A run of adjacent bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit; relative to the operand that owns the field, unless `shared`.
    pub at: u8,
    /// Number of bits, 1 to 64.
    pub width: u8,
    /// Whether the position is counted from bit 0 of the word even in an operand, because several operands share these
    /// bits.
    pub shared: bool,
}

impl Piece {
    /// A piece whose position is relative to its owner.
    pub const fn new(at: u8, width: u8) -> Self {
        Piece { at, width, shared: false }
    }

    /// A piece at a fixed position in the word.
    pub const fn shared(at: u8, width: u8) -> Self {
        Piece { at, width, shared: true }
    }

    #[inline]
    const fn shift(self, base: u8) -> u32 {
        (if self.shared { self.at } else { self.at + base }) as u32
    }
}

/// Returns a value with the `width` lowest bits set.
#[inline]
pub const fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Returns the word that consists of these bytes, least significant first. Bytes after the eighth are ignored.
///
/// # Examples
///
/// ```
/// assert_eq!(isaforge_core::bits::word_of(&[0x02, 0x00, 0xc1]), 0xc1_0002);
/// ```
#[inline]
pub fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The position of a field: a low piece and, in rare cases, further pieces of higher significance.
///
/// # Examples
///
/// ```
/// use isaforge_core::bits::Bits;
///
/// // Four bits from bit 8 on.
/// let field = Bits::new(8, 4);
/// assert_eq!(field.get(0x0a00, 0), 0xa);
/// assert_eq!(field.set(0, 0, 0xa), 0x0a00);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// The piece that holds the least significant bits.
    pub low: Piece,
    /// Further pieces, each more significant than the one before it.
    pub high: &'static [Piece],
}

impl Bits {
    /// A field in one piece.
    pub const fn new(at: u8, width: u8) -> Self {
        Bits { low: Piece::new(at, width), high: &[] }
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.low.width as u32 + self.high.iter().map(|p| p.width as u32).sum::<u32>()
    }

    /// The pieces, least significant first, each with its shift within the value.
    pub fn pieces(&self) -> impl Iterator<Item = (Piece, u32)> {
        let mut shift = 0;
        core::iter::once(self.low).chain(self.high.iter().copied()).map(move |piece| {
            let at = shift;
            shift += piece.width as u32;
            (piece, at)
        })
    }

    /// Reads the field from `word`; `base` is the first bit of the operand that owns it (0 for the word's own fields).
    #[inline]
    pub fn get(&self, word: u64, base: u8) -> u64 {
        let mut value = (word >> self.low.shift(base)) & ones(self.low.width as u32);
        if !self.high.is_empty() {
            let mut shift = self.low.width as u32;
            for piece in self.high {
                value |= ((word >> piece.shift(base)) & ones(piece.width as u32)) << shift;
                shift += piece.width as u32;
            }
        }
        value
    }

    /// Replaces the field in `word` with the low bits of `value`.
    #[inline]
    pub fn set(&self, mut word: u64, base: u8, value: u64) -> u64 {
        if self.high.is_empty() {
            let mask = ones(self.low.width as u32);
            let at = self.low.shift(base);
            return (word & !(mask << at)) | ((value & mask) << at);
        }
        for (piece, shift) in self.pieces() {
            let mask = ones(piece.width as u32);
            let at = piece.shift(base);
            word = (word & !(mask << at)) | (((value >> shift) & mask) << at);
        }
        word
    }

    /// The bits of the word that the field covers.
    pub fn mask(&self, base: u8) -> u64 {
        self.set(0, base, u64::MAX)
    }
}

/// Sign-extends the low `width` bits of `value`.
#[inline]
pub const fn sign_extend(value: u64, width: u32) -> i64 {
    let shift = 64 - if width == 0 || width > 64 { 64 } else { width };
    ((value << shift) as i64) >> shift
}

/// Whether `value` fits in `width` bits of two's complement.
pub const fn fits_signed(value: i64, width: u32) -> bool {
    sign_extend(value as u64, width) == value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_field_reads_back_what_was_set() {
        const HIGH: &[Piece] = &[Piece::shared(57, 2)];
        let field = Bits { low: Piece::new(0, 6), high: HIGH };
        for value in 0..256 {
            let word = field.set(u64::MAX, 16, value);
            assert_eq!(field.get(word, 16), value);
            assert_eq!(word | field.mask(16), u64::MAX);
        }
        assert_eq!(field.mask(16), 0x3f << 16 | 3 << 57);
        assert_eq!(field.width(), 8);
    }

    #[test]
    fn signs_extend_from_the_top_bit() {
        assert_eq!(sign_extend(0x7ff_ffff, 27), -1);
        assert_eq!(sign_extend(0x3ff_ffff, 27), 0x3ff_ffff);
        assert!(fits_signed(-(1 << 26), 27) && !fits_signed(1 << 26, 27));
        assert_eq!(sign_extend(u64::MAX, 64), -1);
    }
}
