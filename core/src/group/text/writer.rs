//! Prints one operation of a group, and follows what the assembler makes of its text.

use crate::group::operand::{Draft, Printed};
use crate::group::operation::named_bits;
use crate::group::spelling::{push_value, register};
use crate::group::table::{GroupIsa, OperandKind, Operation, Token};
use crate::group::value::{Values, there};
use crate::text::Line;

/// Prints one operation and reports it to a [`Replay`].
pub(super) struct Writer<'a> {
    pub(super) isa: &'a GroupIsa,
    pub(super) operation: &'a Operation,
    pub(super) slot: usize,
    pub(super) values: &'a Values,
    pub(super) hints: bool,
    pub(super) printed: &'a mut u64,
    pub(super) replay: Option<&'a mut Replay>,
    pub(super) out: &'a mut Line,
}

impl Writer<'_> {
    pub(super) fn all(&mut self, begin: usize) {
        if let Some(replay) = &mut self.replay {
            replay.start(self.isa, self.operation, self.slot);
        }
        for token in self.operation.syntax {
            self.token(token, begin);
        }
    }

    fn token(&mut self, token: &Token, begin: usize) {
        let isa = self.isa;
        let own = |at: u8| if at == Token::OWN { self.slot } else { at as usize };
        match *token {
            Token::Text(text) => self.out.push_str(text),
            Token::Flag(at, field, text) => {
                if self.values.get(isa, own(at), field.into()) != 0 {
                    self.out.push_str(text);
                    self.said(own(at), field, 1);
                }
            }
            Token::Suffix(at, field, optional) => {
                let value = self.values.get(isa, own(at), field.into());
                if !optional || value != isa.default_of(own(at), field.into()) {
                    self.out.push_str(".");
                    push_value(isa, own(at), field.into(), value, self.out);
                    self.said(own(at), field, value);
                }
            }
            Token::Value(at, field) => {
                let value = self.values.get(isa, own(at), field.into());
                push_value(isa, own(at), field.into(), value, self.out);
                self.said(own(at), field, value);
            }
            Token::Words(at, field, words) => {
                let slot = own(at);
                let value = self.values.get(isa, slot, field.into());
                let word = usize::try_from(value).ok().and_then(|v| words.get(v)).copied().unwrap_or_default();
                // Words of the header have no leading space at the start of a piece.
                let first = self.out.as_bytes().len() == begin;
                self.out.push_str(if first { word.trim_start() } else { word });
                if let Some(replay) = &mut self.replay {
                    let decides = self.operation.is.iter().any(|(s, f, _)| *f == field && own(*s) == slot);
                    replay.word(isa, (slot, field), words, word, token.is_suffix(), decides);
                }
            }
            Token::Optional(at, field, text) => {
                let value = self.values.get(isa, own(at), field.into());
                if value != isa.default_of(own(at), field.into()) {
                    let first = self.out.as_bytes().len() == begin;
                    self.out.push_str(if first { text.trim_start() } else { text });
                    push_value(isa, own(at), field.into(), value, self.out);
                    self.said(own(at), field, value);
                }
            }
            Token::Bits(at, field, words) => {
                let value = self.values.get(isa, own(at), field.into());
                let (silent, words) = named_bits(words);
                if value == 0 && !silent {
                    self.out.push_str(".none");
                }
                let mut said = 0;
                for (bit, word) in words.iter().enumerate().filter(|(bit, _)| value >> bit & 1 != 0) {
                    self.out.push_str(".");
                    self.out.push_str(word);
                    said |= 1 << bit;
                }
                self.said(own(at), field, said);
            }
            Token::Operand(index) => self.operand(index),
            Token::Role(role) => {
                let found = isa.slots.get(self.slot).and_then(|s| s.roles.iter().find(|(name, _)| *name == role));
                if let Some((_, index)) = found {
                    self.operand(*index);
                }
            }
        }
    }

    fn said(&mut self, slot: usize, field: u8, value: i64) {
        if let Some(replay) = &mut self.replay {
            replay.failed |= replay.draft.set(self.isa, slot, field, value).is_none();
        }
    }

    fn operand(&mut self, index: u8) {
        *self.printed |= 1 << (index & 63);
        let Some(mut printed) = operand(self.isa, index.into(), self.values, self.hints) else {
            self.out.push_str("?");
            if let Some(replay) = &mut self.replay {
                replay.failed = true;
            }
            return;
        };
        match printed {
            Printed::Wire(wire) => self.out.push_str(wire),
            Printed::Register(found, source) => {
                match found {
                    Some((bank, number)) => register(self.isa, bank, number, self.out),
                    None => self.out.push_str("_"),
                }
                if let Some(source) = source {
                    self.out.push_str("@");
                    self.out.push_str(source);
                }
            }
        }
        if let Some(replay) = &mut self.replay {
            replay.failed |= replay.draft.operand(self.isa, index.into(), &mut printed).is_none();
        }
    }
}

/// Simulates what the assembler makes of text while it is printed: the same steps, without parsing.
pub(super) struct Replay {
    pub(super) draft: Draft,
    /// The assembler would reject the text.
    pub(super) failed: bool,
}

impl Replay {
    pub(super) fn new(isa: &GroupIsa) -> Self {
        Replay { draft: Draft::new(isa), failed: false }
    }

    fn start(&mut self, isa: &GroupIsa, operation: &Operation, slot: usize) {
        self.draft.start_part();
        self.draft.start_operation(operation.remark);
        for (at, field, allowed) in operation.is {
            if let (&Token::OWN, Some(value)) = (at, allowed.first()) {
                self.failed |= self.draft.set(isa, slot, *field, *value).is_none();
            }
        }
        if !operation.remark {
            self.draft.values.insert(slot);
        }
    }

    /// Reports the word for a value. Values may share a word; `decides` means that the field determines the operation.
    fn word(
        &mut self,
        isa: &GroupIsa,
        (slot, field): (usize, u8),
        words: &[&str],
        word: &str,
        suffix: bool,
        decides: bool,
    ) {
        let now = self.draft.get(isa, slot, field);
        let same = usize::try_from(now).ok().and_then(|v| words.get(v)).is_some_and(|w| w.eq_ignore_ascii_case(word));
        let keeps = same && if suffix { word.is_empty() } else { decides };
        let read = match words.iter().position(|w| w.eq_ignore_ascii_case(word)) {
            _ if keeps => Some(()),
            Some(first) => self.draft.set(isa, slot, field, first as i64),
            None => None,
        };
        self.failed |= read.is_none();
    }
}

/// An operand of a group. `None` when a selector selects nothing.
fn operand(isa: &GroupIsa, mut index: usize, values: &Values, hints: bool) -> Option<Printed> {
    let mut selected = false;
    // Bounds the nesting of operands.
    for _ in 0..8 {
        let operand = isa.operands.get(index)?;
        match operand.kind {
            OperandKind::Wire(wire) => return Some(Printed::Wire(wire)),
            OperandKind::Register(places) => {
                let found = places.iter().find(|p| there(isa, p, values)).map(|place| {
                    let get = |field: u8| values.get(isa, place.slot.into(), field.into());
                    (get(place.bank), get(place.number))
                });
                return Some(Printed::Register(found, (hints && selected).then_some(operand.name)));
            }
            OperandKind::Select { slot, field, options, .. } => {
                let value = values.get(isa, slot.into(), field.into());
                selected = true;
                index = options.iter().find(|(v, _)| *v == value)?.1.into();
            }
        }
    }
    None
}
