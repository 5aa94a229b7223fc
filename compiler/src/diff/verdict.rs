//! A set of words to be compared, and the verdict on it.

use isaforge_core::table::Isa;

use super::parts::reading;

/// The result for all words of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There are no such words.
    Empty,
    /// All words read the same, which is proved.
    Alike,
    /// This word reads differently.
    Differs(u64),
    /// No word was found that reads differently, but not all were checked.
    Unproven,
}

/// The verdict for the union of two sets of words.
pub(super) fn worse(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Differs(word), _) | (_, Verdict::Differs(word)) => Verdict::Differs(word),
        (Verdict::Unproven, _) | (_, Verdict::Unproven) => Verdict::Unproven,
        (Verdict::Alike, _) | (_, Verdict::Alike) => Verdict::Alike,
        (Verdict::Empty, Verdict::Empty) => Verdict::Empty,
    }
}

/// The words of `old` in which certain bits are fixed.
#[derive(Clone, Copy)]
pub(super) struct Cube {
    pub mask: u64,
    pub value: u64,
}

impl Cube {
    pub(super) fn with(self, mask: u64, value: u64) -> Cube {
        Cube { mask: self.mask | mask, value: (self.value & !mask) | (value & mask) }
    }

    pub(super) fn intersects(self, mask: u64, value: u64) -> bool {
        (self.value ^ value) & self.mask & mask == 0
    }
}

/// Two revisions, to be compared in this direction.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub old: &'static Isa,
    pub new: &'static Isa,
}

impl Pair {
    /// Whether a valid word of the old revision reads differently in the new one.
    pub(super) fn differs(self, word: u64) -> bool {
        reading(self.old, word) != reading(self.new, word)
    }
}
