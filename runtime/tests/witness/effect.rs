//! The effect of a case: the numbered cells that it changed, and their new words.

use crate::random::Hash;

/// The changed cells with their new values, in ascending order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect(pub Vec<(u32, u32)>);

impl Effect {
    /// Adds a cell that follows all cells added so far.
    pub fn push(&mut self, cell: u32, word: u32) {
        self.0.push((cell, word));
    }

    /// Adds the cells that differ, numbered from `first`.
    pub fn push_changed(&mut self, first: u32, before: &[u32], after: &[u32]) {
        if before != after {
            let changed = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after);
            self.0.extend(changed.map(|(index, (_, &after))| (first + index as u32, after)));
        }
    }

    /// Adds the words in which bytes differ, numbered from `first`.
    pub fn push_changed_bytes(&mut self, first: u32, before: &[u8], after: &[u8]) {
        if before != after {
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            let words = before.chunks(4).zip(after.chunks(4)).enumerate();
            let changed = words.filter(|(_, (before, after))| before != after);
            self.0.extend(changed.map(|(index, (_, after))| (first + index as u32, word(after))));
        }
    }

    /// A 32-bit hash.
    pub fn hash(&self) -> u32 {
        let mut hash = Hash::new();
        for (cell, word) in &self.0 {
            hash.word(*cell);
            hash.word(*word);
        }
        (hash.0 ^ hash.0 >> 32) as u32
    }

    /// Encodes it as bytes: runs of adjacent cells, each with the distance from the previous run, its length and its
    /// words.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![];
        let (mut rest, mut end) = (&self.0[..], 0);
        while let Some(&(first, _)) = rest.first() {
            let length = rest.iter().zip(first..).take_while(|((cell, _), expected)| cell == expected).count();
            put_number(&mut bytes, first - end);
            put_number(&mut bytes, length as u32);
            rest[..length].iter().for_each(|(_, word)| bytes.extend(word.to_le_bytes()));
            end = first + length as u32;
            rest = &rest[length..];
        }
        bytes
    }

    /// Decodes what [`Effect::to_bytes`] encodes.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Effect> {
        let (mut effect, mut end) = (Effect::default(), 0u32);
        while !bytes.is_empty() {
            let first = end.checked_add(number(&mut bytes)?)?;
            end = first.checked_add(number(&mut bytes)?)?;
            for cell in first..end {
                let (word, rest) = bytes.split_first_chunk()?;
                effect.push(cell, u32::from_le_bytes(*word));
                bytes = rest;
            }
        }
        Some(effect)
    }

    /// The cells on which two effects disagree, with both values; `None` for a value that has not changed.
    pub fn differences(&self, other: &Effect) -> Vec<(u32, Option<u32>, Option<u32>)> {
        let mut cells: Vec<u32> = self.0.iter().chain(&other.0).map(|(cell, _)| *cell).collect();
        cells.sort_unstable();
        cells.dedup();
        let word = |of: &Effect, cell: u32| of.0.iter().find(|(at, _)| *at == cell).map(|(_, word)| *word);
        let all = cells.into_iter().map(|cell| (cell, word(self, cell), word(other, cell)));
        all.filter(|(_, a, b)| a != b).collect()
    }
}

/// Writes a number with seven bits per byte, the low bits first.
pub fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that [`put_number`] wrote.
pub fn number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
