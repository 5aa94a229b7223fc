//! Where the bits of a field are.

use isaforge_core::bits::ones;

/// A run of contiguous bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub at: u8,
    /// Number of bits.
    pub width: u8,
    /// The shared field these bits belong to. Their position is then absolute, even within an operand.
    pub shared: Option<usize>,
}

/// The position of a field, least significant piece first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Bits(pub Vec<Piece>);

impl Bits {
    /// A field in one piece.
    pub fn run(at: u8, width: u8) -> Self {
        Bits(vec![Piece { at, width, shared: None }])
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.0.iter().map(|p| u32::from(p.width)).sum()
    }

    /// The bits of the word that the field covers when its owner starts at `base`; bits beyond 63 are lost.
    pub fn mask(&self, base: u8) -> u64 {
        self.0.iter().map(|p| piece_mask(*p, base)).fold(0, |a, b| a | b)
    }

    /// The bits of the field that belong to its owner alone, without those of shared fields.
    pub fn own_mask(&self, base: u8) -> u64 {
        self.0.iter().filter(|p| p.shared.is_none()).map(|p| piece_mask(*p, base)).fold(0, |a, b| a | b)
    }

    /// One above the highest bit covered.
    pub fn end(&self, base: u8) -> u32 {
        let end =
            |p: &Piece| u32::from(p.at) + u32::from(p.width) + if p.shared.is_some() { 0 } else { u32::from(base) };
        self.0.iter().map(end).max().unwrap_or(0)
    }

    /// The shared fields used.
    pub fn shared(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|p| p.shared)
    }

    /// The same field for an owner that starts at `base`.
    pub fn moved(&self, base: u8) -> Bits {
        let moved = |p: &Piece| Piece { at: if p.shared.is_some() { p.at } else { p.at.saturating_add(base) }, ..*p };
        Bits(self.0.iter().map(moved).collect())
    }

    /// The same field relative to an owner that starts at `base`, which is at or below the field's lowest bit.
    pub fn moved_down(&self, base: u8) -> Bits {
        let moved = |p: &Piece| Piece { at: if p.shared.is_some() { p.at } else { p.at.saturating_sub(base) }, ..*p };
        Bits(self.0.iter().map(moved).collect())
    }
}

fn piece_mask(piece: Piece, base: u8) -> u64 {
    let at = u32::from(piece.at) + if piece.shared.is_some() { 0 } else { u32::from(base) };
    ones(u32::from(piece.width)).checked_shl(at).unwrap_or(0)
}
