//! What an alternative of a kind writes and what it reads, as automata over bytes.
//!
//! Two of them are walked together to find a text that one writes and the other reads.

use std::collections::{HashSet, VecDeque};

use isaforge_core::bits::ones;

use crate::check::grammar::Bytes;
use crate::model::{Alternative, Field, Isa, Token, Type};

/// Fields with more values than this are any digits.
const LISTED: u64 = 256;

/// An automaton without empty transitions; state 0 is the first.
#[derive(Default)]
pub(super) struct Automaton {
    edges: Vec<Vec<(Bytes, usize)>>,
    ends: HashSet<usize>,
}

/// Whether an automaton is of what is written or of what is read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Writes,
    Reads,
}

impl Automaton {
    /// What one of the texts of an alternative writes or reads.
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

    /// Any of some words; the states after them. They share a state where they end.
    fn words<'w>(&mut self, from: &[usize], words: impl IntoIterator<Item = &'w [u8]>) -> Vec<usize> {
        let end = self.state();
        let mut ends = vec![end];
        for word in words {
            let Some((last, first)) = word.split_last() else {
                ends.extend(from);
                continue;
            };
            let mut at = from.to_vec();
            for byte in first {
                let next = self.state();
                self.edge(&at, Bytes::one(*byte), next);
                at = vec![next];
            }
            self.edge(&at, Bytes::one(*last), end);
        }
        ends
    }

    /// At least one of some bytes.
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

/// A text that one automaton writes and another one reads: `whole` if the other reads all of it, else the other reads on
/// if a byte of `follow` comes next.
pub(super) fn common(writer: &Automaton, reader: &Automaton, follow: Bytes) -> Option<(String, bool)> {
    let mut seen = HashSet::from([(0, 0)]);
    let mut queue = VecDeque::from([(0, 0, Vec::new())]);
    while let Some((a, b, text)) = queue.pop_front() {
        let written = || String::from_utf8_lossy(&text).into_owned();
        if writer.ends.contains(&a) {
            if reader.ends.contains(&b) {
                return Some((written(), true));
            }
            if b != 0 && reader.edges[b].iter().any(|(bytes, _)| bytes.meets(follow)) {
                return Some((written(), false));
            }
        }
        for (bytes, next) in &writer.edges[a] {
            for (other, other_next) in &reader.edges[b] {
                if let Some(byte) = bytes.and(*other).first()
                    && seen.insert((*next, *other_next))
                {
                    let mut text = text.clone();
                    text.push(byte);
                    queue.push_back((*next, *other_next, text));
                }
            }
        }
    }
    None
}
