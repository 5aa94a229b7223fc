//! The texts that an alternative of a kind prints and parses, as automata over bytes.
//!
//! Two automata are walked together to find a text that one prints and the other parses.

use std::collections::{BTreeMap, HashSet};

use isaforge_core::bits::ones;

use crate::model::{Alternative, Field, Isa, Token, Type};

/// A field with more values than this is treated as any sequence of digits.
const LISTED: u64 = 256;

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    pub(super) fn one(byte: u8) -> Self {
        Bytes::range(byte, byte)
    }

    pub(super) fn range(first: u8, last: u8) -> Self {
        let mut set = Bytes::default();
        (first..=last).for_each(|byte| set.0[usize::from(byte >> 6)] |= 1 << (byte & 63));
        set
    }

    /// Letters, digits and `_`: the characters of numbers and words.
    pub(super) fn word() -> Self {
        Bytes::range(b'0', b'9').or(Bytes::range(b'A', b'Z')).or(Bytes::range(b'a', b'z')).or(Bytes::one(b'_'))
    }

    pub(super) fn space() -> Self {
        b" \t\r\n\x0c".iter().fold(Bytes::default(), |set, byte| set.or(Bytes::one(*byte)))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Bytes(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Bytes(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub(super) fn without(self, other: Self) -> Self {
        Bytes(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    pub(super) fn intersects(self, other: Self) -> bool {
        self.and(other) != Bytes::default()
    }

    /// The bytes in ascending order.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        (0..4u8).flat_map(move |part| {
            let mut rest = self.0[usize::from(part)];
            std::iter::from_fn(move || {
                let byte = (rest != 0).then(|| part << 6 | rest.trailing_zeros() as u8);
                rest &= rest.wrapping_sub(1);
                byte
            })
        })
    }

    pub(super) fn first(self) -> Option<u8> {
        self.iter().next()
    }

    pub(super) fn shown(self) -> String {
        match self.first() {
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Some(b' ') => "a space".to_owned(),
            _ => "a byte".to_owned(),
        }
    }
}

/// An automaton without empty transitions; state 0 is the start.
#[derive(Default)]
pub(super) struct Automaton {
    edges: Vec<Vec<(Bytes, usize)>>,
    ends: HashSet<usize>,
}

/// Whether an automaton describes printed or parsed text.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Writes,
    Reads,
}

impl Automaton {
    /// The automaton for one of the texts of an alternative.
    pub(super) fn of(isa: &Isa, alternative: &Alternative, text: &[Token], side: Side) -> Self {
        let mut automaton = Automaton { edges: vec![Vec::new()], ends: HashSet::new() };
        let mut ends = vec![0];
        for token in text {
            match token {
                Token::Text(text) => ends = automaton.words(&ends, [text.as_bytes()]),
                Token::Field(i) => {
                    if let Some(field) = alternative.fields.get(*i) {
                        ends = automaton.field(isa, &ends, field, side);
                    }
                }
                _ => {}
            }
        }
        automaton.ends = ends.into_iter().collect();
        automaton
    }

    fn state(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    fn edge(&mut self, from: &[usize], bytes: Bytes, to: usize) {
        from.iter().for_each(|state| self.edges[*state].push((bytes, to)));
    }

    /// Adds transitions for any of the words, and returns the states after them. Words share their prefixes, so that
    /// walking two lists with thousands of common words takes only as many steps as they have letters. They also share
    /// their final state.
    fn words<'w>(&mut self, from: &[usize], words: impl IntoIterator<Item = &'w [u8]>) -> Vec<usize> {
        let mut words: Vec<&[u8]> = words.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        let end = self.state();
        let mut ends = vec![end];
        if words.first().is_some_and(|word| word.is_empty()) {
            words.remove(0);
            ends.extend(from);
        }
        // The path of the previous word: its letters and the states that they lead to.
        let mut path: Vec<(u8, usize)> = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let goes_on = words.get(i + 1).is_some_and(|next| next.starts_with(word));
            let shared = path.iter().zip(word.iter()).take_while(|((known, _), byte)| known == *byte).count();
            path.truncate(shared);
            for (at, byte) in word.iter().enumerate().skip(shared) {
                let before = path.last().map(|(_, state)| *state);
                let next = if at + 1 == word.len() && !goes_on { end } else { self.state() };
                match before {
                    Some(before) => self.edges[before].push((Bytes::one(*byte), next)),
                    None => self.edge(from, Bytes::one(*byte), next),
                }
                path.push((*byte, next));
            }
            if goes_on {
                ends.extend(path.last().map(|(_, state)| *state));
            } else {
                // The shared final state must not be continued by another word.
                path.pop();
            }
        }
        ends
    }

    /// Adds transitions for one or more of the bytes.
    fn many(&mut self, from: &[usize], bytes: Bytes) -> Vec<usize> {
        let state = self.state();
        self.edge(from, bytes, state);
        self.edge(&[state], bytes, state);
        vec![state]
    }

    fn field(&mut self, isa: &Isa, from: &[usize], field: &Field, side: Side) -> Vec<usize> {
        let codes = ones(field.bits.width());
        let values: Option<Vec<u64>> = match field.ty {
            Type::Enum(e) => {
                let values = isa.enums[e].values.iter().filter(|v| v.bits <= codes);
                return self.words(from, values.map(|v| v.text.as_bytes()));
            }
            Type::Constant(c) => Some(isa.constants[c].values.iter().map(|(value, _)| *value).collect()),
            Type::Register(b) => Some(u64::from(isa.banks[b].count).min(codes.saturating_add(1)))
                .filter(|count| *count <= LISTED)
                .map(|count| (0..count).collect()),
            _ => (codes < LISTED).then(|| (0..=codes).collect()),
        };
        let hex = matches!(field.ty, Type::Hex | Type::Constant(_));
        match values {
            Some(values) if field.ty != Type::Signed => {
                let mut texts: Vec<String> = Vec::new();
                for value in values {
                    if hex || side == Side::Reads {
                        texts.push(format!("{value:#X}").replacen("0X", "0x", 1));
                    }
                    if !hex || side == Side::Reads {
                        texts.push(value.to_string());
                    }
                }
                self.words(from, texts.iter().map(|text| text.as_bytes()))
            }
            _ => self.number(from, hex, field.ty == Type::Signed, side),
        }
    }

    fn number(&mut self, from: &[usize], hex: bool, signed: bool, side: Side) -> Vec<usize> {
        let mut from = from.to_vec();
        if signed {
            let after = self.words(&from, [&b"-"[..]]);
            from.extend(after);
        }
        let mut ends = Vec::new();
        if !hex || side == Side::Reads {
            ends.extend(self.many(&from, Bytes::range(b'0', b'9')));
        }
        if hex || side == Side::Reads {
            let after = self.words(&from, [&b"0x"[..]]);
            let digits = Bytes::range(b'0', b'9').or(Bytes::range(b'A', b'F')).or(Bytes::range(b'a', b'f'));
            ends.extend(self.many(&after, digits));
        }
        ends
    }
}

/// The result of walking two automata together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Common {
    /// A text that one prints and the other parses. `true` if the parser consumes exactly this text; `false` if it goes
    /// on with a byte that may follow.
    Text(String, bool),
    /// There is no such text.
    None,
    /// The steps were used up before the search ended.
    Unknown,
}

/// Looks for a text that one automaton prints and another parses, followed by a byte of `follow`. Each comparison of
/// two edges takes one of the `steps`.
pub(super) fn common(writer: &Automaton, reader: &Automaton, follow: Bytes, steps: &mut usize) -> Common {
    let mut seen = HashSet::from([(0, 0)]);
    // The pairs of states in the order of discovery, each with the index of its predecessor and the byte in between.
    let mut pairs = vec![(0, 0, 0, 0u8)];
    let mut index = 0;
    while let Some(&(a, b, ..)) = pairs.get(index) {
        let written = || {
            let back = |at: &usize| Some(pairs[*at].2).filter(|_| *at > 0);
            let path = std::iter::successors(Some(index), back).take_while(|at| *at > 0);
            let mut text: Vec<u8> = path.map(|at| pairs[at].3).collect();
            text.reverse();
            String::from_utf8_lossy(&text).into_owned()
        };
        if writer.ends.contains(&a) {
            if reader.ends.contains(&b) {
                return Common::Text(written(), true);
            }
            if b != 0 && reader.edges[b].iter().any(|(bytes, _)| bytes.intersects(follow)) {
                return Common::Text(written(), false);
            }
        }
        let Some(left) = steps.checked_sub(1 + writer.edges[a].len() + reader.edges[b].len()) else {
            return Common::Unknown;
        };
        *steps = left;
        // The reader's edges by byte, so that edges without a common byte are not compared.
        let mut by_byte: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for (bytes, next) in &reader.edges[b] {
            bytes.iter().for_each(|byte| by_byte.entry(byte).or_default().push(*next));
        }
        for (bytes, next) in &writer.edges[a] {
            for byte in bytes.iter() {
                for other in by_byte.get(&byte).into_iter().flatten() {
                    let Some(left) = steps.checked_sub(1) else { return Common::Unknown };
                    *steps = left;
                    if seen.insert((*next, *other)) {
                        pairs.push((*next, *other, index, byte));
                    }
                }
            }
        }
        index += 1;
    }
    Common::None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Automaton {
        let mut automaton = Automaton { edges: vec![Vec::new()], ends: HashSet::new() };
        let ends = automaton.words(&[0], words.iter().map(|word| word.as_bytes()));
        automaton.ends = ends.into_iter().collect();
        automaton
    }

    fn after(writer: &[&str], reader: &[&str]) -> Common {
        common(&words(writer), &words(reader), Bytes::one(b','), &mut 10_000)
    }

    #[test]
    fn words_that_begin_alike_are_all_known() {
        let all = ["", "ab", "abc", "abd", "b", "bcd", "bce"];
        for word in all {
            assert_eq!(after(&[word], &all), Common::Text(word.to_owned(), true));
            assert_eq!(after(&all, &[word]), Common::Text(word.to_owned(), true));
        }
        for word in ["a", "abe", "bc", "c", "abcd"] {
            assert_eq!(after(&[word], &all), Common::None, "{word}");
        }
        assert_eq!(after(&["ab"], &["ab,c"]), Common::Text("ab".to_owned(), false));
    }

    #[test]
    fn long_lists_are_compared_in_steps_by_their_length() {
        let list = |sign: &str| (0..4000).map(|i| format!("0x{i:06x}{sign}")).collect::<Vec<_>>();
        let (a, b) = (list("a"), list("b"));
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        let mut steps = 100_000;
        assert_eq!(common(&words(&a), &words(&b), Bytes::one(b','), &mut steps), Common::None);
        assert_eq!(common(&words(&a), &words(&b), Bytes::one(b','), &mut 1000), Common::Unknown);
    }
}
