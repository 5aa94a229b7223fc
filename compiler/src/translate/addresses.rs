//! The place of a word in its program, and the places that its branches lead to.

use isaforge_core::table::{Base, Isa, Target};

/// Where a word is, in both revisions.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    /// The length of a word in bytes, in the source and in the target.
    lengths: [u64; 2],
    /// The index of the word and the number of words, if that is known.
    program: Option<(u64, u64)>,
}

impl Addresses {
    /// Anywhere in any program.
    pub(super) fn unknown(from: &Isa, to: &Isa) -> Addresses {
        Addresses { lengths: [from, to].map(|isa| u64::from(isa.word_bits.div_ceil(8))), program: None }
    }

    /// The word with this index in a program of `count` words.
    pub(super) fn within(from: &Isa, to: &Isa, index: usize, count: usize) -> Addresses {
        Addresses { program: Some((index as u64, count as u64)), ..Addresses::unknown(from, to) }
    }

    /// The addresses of the word and of the next one, in the source or in the target.
    fn addresses(&self, length: u64) -> (u64, u64) {
        let index = self.program.map_or(0, |(index, _)| index);
        (index * length, (index + 1) * length)
    }

    /// The address that a number encodes in the source.
    pub(super) fn address(&self, counts: Target, number: i64) -> u64 {
        let (this, next) = self.addresses(self.lengths[0]);
        counts.address(number, this, next)
    }

    /// The address in the target of what is at an address in the source. `None` within a word. Code outside of the
    /// program is unknown, so it keeps its address.
    pub(super) fn moved(&self, address: u64) -> Option<u64> {
        let [length, other] = self.lengths.map(|length| length.max(1));
        match self.program {
            Some((_, count)) if address > count * length => Some(address),
            None if length == other => Some(address),
            _ => {
                let whole = address as i64 % length as i64 == 0;
                whole.then(|| (address as i64 / length as i64).wrapping_mul(other as i64) as u64)
            }
        }
    }

    /// The number that encodes an address of the target there. `None` if there is none, or it depends on where the word
    /// is and that is not known.
    pub(super) fn number(&self, counts: Target, other: Target, address: u64) -> Option<i64> {
        let is_fixed = |target: Target| matches!(target.base, Base::Fixed(_));
        if self.program.is_none() && is_fixed(counts) != is_fixed(other) {
            return None;
        }
        let (this, next) = self.addresses(self.lengths[1]);
        other.number(address, this, next)
    }
}
