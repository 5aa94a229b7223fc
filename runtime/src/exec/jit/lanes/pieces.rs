//! Values as pieces of words.
//!
//! Components, parts and concatenations only determine the position of bits. No instruction is emitted for them until
//! the word itself is needed; one rotation and one ternary operation then put each piece in place.

use isaforge_core::bits::ones;

use super::graph::{Graph, Kind, Shifted, Value};

/// A run of bits of a value that is contiguous in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The position of its first bit in the value.
    at: u32,
    /// The number of bits.
    bits: u32,
    /// The word, and the position of the first bit in it.
    word: Value,
    from: u32,
}

/// A value of at most 64 bits as pieces that do not overlap; all other bits are zero.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// The common case, which needs no allocation.
    One(Piece),
    Many(Vec<Piece>),
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::Many(Vec::new())
    }
}

impl Pieces {
    /// Returns the low bits of a word.
    pub fn of(word: Value, bits: u32) -> Self {
        Pieces::One(Piece { at: 0, bits, word, from: 0 })
    }

    /// Returns a value of a low and a high word.
    pub fn pair([low, high]: [Value; 2]) -> Self {
        Pieces::of(low, 32).with(Pieces::of(high, 32).raised(32, 64))
    }

    fn list(&self) -> &[Piece] {
        match self {
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Many(pieces) => pieces,
        }
    }

    /// Returns `bits` bits starting at `from`, as a value of their own.
    pub fn slice(&self, from: u32, bits: u32) -> Self {
        let end = from + bits;
        let cut = |piece: &Piece| {
            let (first, last) = (piece.at.max(from), (piece.at + piece.bits).min(end));
            let skipped = first - piece.at;
            (first < last).then(|| Piece { at: first - from, bits: last - first, from: piece.from + skipped, ..*piece })
        };
        let mut cut = self.list().iter().filter_map(cut);
        match (cut.next(), cut.next()) {
            (None, _) => Pieces::default(),
            (Some(piece), None) => Pieces::One(piece),
            (Some(one), Some(other)) => Pieces::Many([one, other].into_iter().chain(cut).collect()),
        }
    }

    /// Shifts left, within a value of `size` bits.
    pub fn raised(&self, by: u32, size: u32) -> Self {
        let mut moved = self.slice(0, size.saturating_sub(by));
        match &mut moved {
            Pieces::One(piece) => piece.at += by,
            Pieces::Many(pieces) => pieces.iter_mut().for_each(|piece| piece.at += by),
        }
        moved
    }

    /// Adds the pieces of another value, which must not overlap.
    pub fn with(self, other: Pieces) -> Self {
        match (self.list(), other.list()) {
            ([], _) => other,
            (_, []) => self,
            (one, other) => Pieces::Many([one, other].concat()),
        }
    }

    /// Returns the word that the value is, or `None` if it is not exactly one word.
    pub fn whole(&self) -> Option<Value> {
        match *self.list() {
            [Piece { at: 0, bits: 32, word, from: 0 }] => Some(word),
            _ => None,
        }
    }

    /// Returns the word that contains the whole value, the position of its first bit there, and the number of bits.
    pub fn single(&self) -> Option<(Value, u32, u32)> {
        match *self.list() {
            [Piece { at: 0, bits, word, from }] => Some((word, from, bits)),
            _ => None,
        }
    }
}

/// The pieces of a word that the same left rotation puts in place.
struct Group {
    word: Value,
    by: u32,
    /// The bits that they occupy in the result.
    mask: u32,
    /// Whether some of them move up, or down.
    up: bool,
    down: bool,
}

impl Graph {
    /// Returns the number that a value is, if that is known.
    pub fn number(&self, pieces: &Pieces) -> Option<u64> {
        pieces.list().iter().try_fold(0, |all, piece| {
            let word = u64::from(self.constant(piece.word)?);
            Some(all | (word >> piece.from & ones(piece.bits)) << piece.at)
        })
    }

    /// Returns a value of at most 32 bits as a word, for a reader of a kind.
    pub fn assemble(&mut self, pieces: &Pieces, kind: Kind) -> Value {
        if let Some(word) = pieces.whole() {
            return self.read_as(word, kind);
        }
        let is_half = |piece: &Piece| (piece.at | piece.bits | piece.from).is_multiple_of(16);
        let kind = if kind == Kind::Halves && pieces.list().iter().all(is_half) { kind } else { Kind::Word };
        let (mut constant, mut groups) = (0, Vec::<Group>::new());
        for piece in pieces.list() {
            let word = self.read_as(piece.word, kind);
            let mask = (ones(piece.bits) << piece.at) as u32;
            let by = (32 + piece.at - piece.from) % 32;
            if let Some(number) = self.constant(word) {
                constant |= number.rotate_left(by) & mask;
                continue;
            }
            let known = groups.iter().position(|group| group.word == word && group.by == by);
            let known = known.unwrap_or_else(|| {
                groups.push(Group { word, by, mask: 0, up: false, down: false });
                groups.len() - 1
            });
            let group = &mut groups[known];
            group.mask |= mask;
            group.up |= piece.at > piece.from;
            group.down |= piece.at < piece.from;
        }
        // A moved word is overwritten by the next operation, whereas a word in place would first have to be copied.
        groups.sort_by_key(|group| group.by == 0);
        let covers = constant == 0 && groups.iter().fold(0, |all, group| all | group.mask) == u32::MAX;
        let mut all = None;
        for group in &groups {
            all = Some(match all {
                None if covers => self.moved(group),
                None => self.isolated(group),
                Some(others) => self.joined(others, group),
            });
        }
        match (all, constant) {
            (None, constant) => self.splat(constant),
            (Some(all), 0) => all,
            (Some(all), constant) => {
                let constant = self.splat(constant);
                self.or(all, constant)
            }
        }
    }

    /// Moves a group into place; all other bits are unspecified.
    fn moved(&mut self, group: &Group) -> Value {
        match (group.up, group.down) {
            _ if group.by == 0 => group.word,
            (true, false) => self.shift_by(Shifted::Left, group.word, group.by),
            (false, true) => self.shift_by(Shifted::Right, group.word, 32 - group.by),
            _ => self.rotate(group.word, group.by),
        }
    }

    /// Moves a group into place, with zeros elsewhere.
    fn isolated(&mut self, group: &Group) -> Value {
        let moved = self.moved(group);
        if self.possible(moved) & !group.mask == 0 {
            return moved;
        }
        let width = group.mask.trailing_ones();
        if group.by != 0 && ones(width) as u32 == group.mask && !group.up {
            // Shifts up to the top and down again, which needs no constant.
            let from = 32 - group.by;
            let raised = self.shift_by(Shifted::Left, group.word, 32 - width - from);
            return self.shift_by(Shifted::Right, raised, 32 - width);
        }
        let mask = self.splat(group.mask);
        self.and(moved, mask)
    }

    /// Adds the bits of a group in place to other bits.
    fn joined(&mut self, others: Value, group: &Group) -> Value {
        let moved = self.moved(group);
        if (self.possible(moved) & !group.mask) | (self.possible(others) & group.mask) == 0 {
            return self.or(others, moved);
        }
        let mask = self.splat(group.mask);
        // For each bit: the third operand where the second is set, else the first.
        self.logic(0b1011_1000, others, mask, moved)
    }
}
