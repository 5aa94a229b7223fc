//! The bits of a field in a word: runs of bits, the lowest first.

use super::wide::Wide;

/// A run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub at: u16,
    /// The number of bits, at most 64.
    pub width: u8,
}

/// Reads the value of a field that consists of several pieces.
#[inline]
pub fn extract(word: &Wide, pieces: &[Piece]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    for piece in pieces {
        value |= word.get(piece.at.into(), piece.width.into()).checked_shl(shift).unwrap_or(0);
        shift += u32::from(piece.width);
    }
    value
}

/// Writes the value of a field to its pieces; bits that they cannot hold are lost.
pub fn insert(word: &mut Wide, pieces: &[Piece], value: u64) {
    let mut rest = value;
    for piece in pieces {
        word.set(piece.at.into(), piece.width.into(), rest);
        rest = rest.checked_shr(piece.width.into()).unwrap_or(0);
    }
}
