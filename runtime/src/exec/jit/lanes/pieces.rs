//! Values as pieces of words.
//!
//! Components, parts and concatenations only say where bits lie. No instruction is made for them until somebody asks for
//! the word; one rotation and one ternary operation then put each piece in its place.

use isaforge_core::bits::ones;

use super::graph::{Graph, Kind, Shifted, Value};

/// Bits of a value that lie in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first of them in the value.
    at: u32,
    /// How many.
    bits: u32,
    /// The word, and the first of them in it.
    word: Value,
    from: u32,
}

/// A value of at most 64 bits, as pieces that do not overlap; all else are zeros.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// Most values are one piece, which needs no memory of its own.
    One(Piece),
    Many(Vec<Piece>),
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::Many(Vec::new())
    }
}

impl Pieces {
    /// The low bits of a word.
    pub fn of(word: Value, bits: u32) -> Self {
        Pieces::One(Piece { at: 0, bits, word, from: 0 })
    }

    /// A low and a high word.
    pub fn pair([low, high]: [Value; 2]) -> Self {
        Pieces::of(low, 32).with(Pieces::of(high, 32).raised(32, 64))
    }

    fn list(&self) -> &[Piece] {
        match self {
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Many(pieces) => pieces,
        }
    }

    /// So many bits from one on, as a value of their own.
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

    /// Shifted left, in a value of a width.
    pub fn raised(&self, by: u32, size: u32) -> Self {
        let mut moved = self.slice(0, size.saturating_sub(by));
        match &mut moved {
            Pieces::One(piece) => piece.at += by,
            Pieces::Many(pieces) => pieces.iter_mut().for_each(|piece| piece.at += by),
        }
        moved
    }

    /// With the pieces of another value, which lie elsewhere.
    pub fn with(self, other: Pieces) -> Self {
        match (self.list(), other.list()) {
            ([], _) => other,
            (_, []) => self,
            (one, other) => Pieces::Many([one, other].concat()),
        }
    }

    /// The word that the value is, if it is one.
    pub fn whole(&self) -> Option<Value> {
        match *self.list() {
            [Piece { at: 0, bits: 32, word, from: 0 }] => Some(word),
            _ => None,
        }
    }

    /// The word that all of the value lies in, the first of its bits there, and how many there are.
    pub fn single(&self) -> Option<(Value, u32, u32)> {
        match *self.list() {
            [Piece { at: 0, bits, word, from }] => Some((word, from, bits)),
            _ => None,
        }
    }
}

/// Pieces of one word that a rotation to the left moves to their places.
struct Group {
    word: Value,
    by: u32,
    /// Their places.
    mask: u32,
    /// Whether some of them move up, or down.
    up: bool,
    down: bool,
}

impl Graph {
    /// The number that a value is, if that is known.
    pub fn number(&self, pieces: &Pieces) -> Option<u64> {
        pieces.list().iter().try_fold(0, |all, piece| {
            let word = u64::from(self.constant(piece.word)?);
            Some(all | (word >> piece.from & ones(piece.bits)) << piece.at)
        })
    }

    /// A value of at most 32 bits as a word, for a reader of a kind.
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
        // What was moved is overwritten by the next operation; a word of others would be copied before.
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

    /// A group at its place; what lies elsewhere is not said.
    fn moved(&mut self, group: &Group) -> Value {
        match (group.up, group.down) {
            _ if group.by == 0 => group.word,
            (true, false) => self.shift_by(Shifted::Left, group.word, group.by),
            (false, true) => self.shift_by(Shifted::Right, group.word, 32 - group.by),
            _ => self.rotate(group.word, group.by),
        }
    }

    /// A group at its place, and zeros elsewhere.
    fn isolated(&mut self, group: &Group) -> Value {
        let moved = self.moved(group);
        if self.possible(moved) & !group.mask == 0 {
            return moved;
        }
        let width = group.mask.trailing_ones();
        if group.by != 0 && ones(width) as u32 == group.mask && !group.up {
            // Up to the top and down again, without a constant.
            let from = 32 - group.by;
            let raised = self.shift_by(Shifted::Left, group.word, 32 - width - from);
            return self.shift_by(Shifted::Right, raised, 32 - width);
        }
        let mask = self.splat(group.mask);
        self.and(moved, mask)
    }

    /// Other bits with those of a group at its place.
    fn joined(&mut self, others: Value, group: &Group) -> Value {
        let moved = self.moved(group);
        if (self.possible(moved) & !group.mask) | (self.possible(others) & group.mask) == 0 {
            return self.or(others, moved);
        }
        let mask = self.splat(group.mask);
        // For each bit, the third where the second is set, else the first.
        self.logic(0b1011_1000, others, mask, moved)
    }
}
