//! Parses a part of a group token by token.

use crate::group::operand::Draft;
use crate::group::operation::named_bits;
use crate::group::record::fits;
use crate::group::scan::Scan;
use crate::group::table::{GroupIsa, Operation, Token, Type};

pub(super) struct Parser<'a> {
    pub(super) isa: &'a GroupIsa,
    pub(super) slot: usize,
    pub(super) draft: &'a mut Draft,
    /// The number of bytes of the part that remained when parsing stopped.
    pub(super) left: usize,
    /// Is told what could continue the part at its end; see [`expected`](super::expected).
    pub(super) tell: Option<&'a dyn Fn(Expected)>,
}

/// What may follow the beginning of a part.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// A fixed text.
    Text(&'static str),
    /// One of these words; an empty one stands for none of them.
    Words(&'static [&'static str]),
    /// A value of this type.
    Value(Type),
    /// An operand: index into [`GroupIsa::operands`](crate::group::GroupIsa::operands).
    Operand(u16),
    /// A dot and this word.
    Suffix(&'static str),
    /// A dot and a value of this type.
    SuffixValue(Type),
    /// Nothing: the part is complete.
    Nothing,
}

impl Parser<'_> {
    /// Parses a whole part. `None` when it does not match.
    pub(super) fn all(&mut self, piece: &str, syntax: &[Token], operation: &Operation) -> Option<()> {
        let mut scan = Scan::new(piece);
        let mut at = 0;
        while let Some(token) = syntax.get(at) {
            self.left = scan.left();
            let run = syntax.get(at..).unwrap_or_default().iter().take_while(|t| t.is_suffix()).count();
            if run > 0 {
                self.run(&mut scan, syntax.get(at..at + run).unwrap_or_default())?;
                at += run;
                continue;
            }
            self.could_follow(&scan, token);
            self.one(&mut scan, token, operation)?;
            at += 1;
        }
        self.left = scan.left();
        scan.at_end().then_some(())
    }

    /// Reports a token that could follow if the part ends here.
    fn could_follow(&self, scan: &Scan<'_>, token: &Token) {
        let Some(tell) = self.tell else { return };
        let at_end = scan.clone().at_end();
        match *token {
            Token::Text(text) => {
                if let Some(missing) = scan.missing(text) {
                    tell(Expected::Text(missing));
                }
            }
            Token::Optional(slot, field, text) => {
                let mut ahead = scan.clone();
                match scan.missing(text) {
                    Some(missing) => tell(Expected::Text(missing)),
                    None if ahead.literal(text).is_some() && ahead.at_end() => tell(self.value(slot, field)),
                    None => {}
                }
            }
            Token::Words(_, _, words) if at_end => tell(Expected::Words(words)),
            Token::Value(slot, field) if at_end => tell(self.value(slot, field)),
            Token::Operand(index) if at_end => tell(Expected::Operand(index.into())),
            Token::Role(role) if at_end => {
                let roles = self.isa.slots.get(self.slot).map_or(&[][..], |slot| slot.roles);
                roles.iter().filter(|(name, _)| *name == role).for_each(|role| tell(Expected::Operand(role.1.into())));
            }
            _ => {}
        }
    }

    fn value(&self, slot: u8, field: u8) -> Expected {
        Expected::Value(self.isa.type_of(self.own(slot), field.into()))
    }

    /// Reports the suffixes that could follow if the part ends here.
    fn suffixes_could_follow(&self, scan: &Scan<'_>, tokens: &[Token], seen: u64) {
        let Some(tell) = self.tell.filter(|_| scan.left() == 0) else { return };
        for (i, token) in tokens.iter().enumerate() {
            let again = seen >> (i & 63) & 1 != 0;
            let words = |words: &'static [&'static str]| {
                let words = words.iter().filter(|word| !word.is_empty());
                words.for_each(|word| tell(Expected::Suffix(word.strip_prefix('.').unwrap_or(word))));
            };
            match *token {
                Token::Flag(_, _, text) if !again => {
                    tell(Expected::Suffix(text.strip_prefix('.').unwrap_or(text)));
                }
                Token::Suffix(slot, field, _) if !again => {
                    tell(Expected::SuffixValue(self.isa.type_of(self.own(slot), field.into())));
                }
                Token::Words(_, _, names) if !again => words(names),
                Token::Bits(slot, field, names) => {
                    let (silent, names) = named_bits(names);
                    let now = if again { self.draft.get(self.isa, self.own(slot), field) } else { 0 };
                    let left = names.iter().enumerate().filter(|(bit, _)| now >> (bit & 63) & 1 == 0);
                    left.for_each(|(_, word)| tell(Expected::Suffix(word)));
                    if !silent && !again {
                        tell(Expected::Suffix("none"));
                    }
                }
                _ => {}
            }
        }
    }

    fn own(&self, slot: u8) -> usize {
        if slot == Token::OWN { self.slot } else { slot as usize }
    }

    fn set(&mut self, slot: u8, field: u8, value: i64, operation: Option<&Operation>) -> Option<()> {
        let at = self.own(slot);
        // The syntax cannot set a field to a value that would make this a different operation.
        if let Some(operation) = operation {
            let is = operation.is.iter().find(|(s, f, _)| *f == field && self.own(*s) == at);
            if is.is_some_and(|(_, _, allowed)| !allowed.contains(&value)) {
                return None;
            }
        }
        self.draft.set(self.isa, at, field, value)
    }

    fn one(&mut self, scan: &mut Scan<'_>, token: &Token, operation: &Operation) -> Option<()> {
        match *token {
            Token::Text(text) => scan.literal(text),
            Token::Value(slot, field) => {
                let value = scan.value(self.isa, self.isa.type_of(self.own(slot), field.into()))?;
                if !fits(self.isa, self.own(slot), field.into(), value) {
                    return None;
                }
                self.set(slot, field, value, Some(operation))
            }
            Token::Words(slot, field, words) => {
                // The longest matching word; the empty word always matches.
                let there = |(i, word): (usize, &&'static str)| {
                    let mut ahead = scan.clone();
                    ahead.literal(word).map(|()| (word.len(), i, ahead))
                };
                let best =
                    words.iter().enumerate().filter_map(there).max_by_key(|(len, i, _)| (*len, usize::MAX - i))?;
                *scan = best.2;
                // Several values may share a word; the operation's conditions determine which one applies.
                let at = self.own(slot);
                let now = self.draft.get(self.isa, at, field);
                let same = usize::try_from(now).ok().and_then(|v| words.get(v)).is_some_and(|w| *w == words[best.1]);
                if same && operation.is.iter().any(|(s, f, _)| *f == field && self.own(*s) == at) {
                    return Some(());
                }
                self.set(slot, field, best.1 as i64, Some(operation))
            }
            Token::Optional(slot, field, text) => {
                let mut ahead = scan.clone();
                if ahead.literal(text).is_none() || ahead.at_end() {
                    return Some(());
                }
                let value = ahead.value(self.isa, self.isa.type_of(self.own(slot), field.into()))?;
                *scan = ahead;
                self.set(slot, field, value, Some(operation))
            }
            Token::Operand(index) => self.draft.operand(self.isa, index.into(), scan),
            Token::Role(role) => {
                let found = self.isa.slots.get(self.slot)?.roles.iter().find(|(name, _)| *name == role)?;
                self.draft.operand(self.isa, found.1.into(), scan)
            }
            Token::Flag(..) | Token::Suffix(..) | Token::Bits(..) => None,
        }
    }

    /// Parses suffixes, in any order.
    fn run(&mut self, scan: &mut Scan<'_>, tokens: &[Token]) -> Option<()> {
        let mut seen = 0u64;
        while let Some(word) = scan.suffix() {
            let (index, slot, field, value) =
                tokens.iter().enumerate().find_map(|(i, t)| self.suffix(i, t, word, seen))?;
            seen |= 1 << (index & 63);
            self.set(slot, field, value, None)?;
        }
        self.suffixes_could_follow(scan, tokens, seen);
        for (_, token) in tokens.iter().enumerate().filter(|(i, _)| seen >> (i & 63) & 1 == 0) {
            match token {
                Token::Suffix(_, _, false) => return None,
                Token::Bits(slot, field, words) => {
                    if !named_bits(words).0 {
                        return None;
                    }
                    self.set(*slot, *field, 0, None)?;
                }
                Token::Words(slot, field, words) => {
                    let now = self.draft.get(self.isa, self.own(*slot), *field);
                    let silent =
                        |v: i64| usize::try_from(v).ok().and_then(|v| words.get(v)).is_some_and(|w| w.is_empty());
                    if !silent(now) {
                        let first = words.iter().position(|w| w.is_empty())?;
                        self.set(*slot, *field, first as i64, None)?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    fn suffix(&self, i: usize, token: &Token, word: &str, seen: u64) -> Option<(usize, u8, u8, i64)> {
        let again = seen >> (i & 63) & 1 != 0;
        let same = |text: &str| text.strip_prefix('.').unwrap_or(text).eq_ignore_ascii_case(word);
        match *token {
            Token::Flag(slot, field, text) if same(text) && !again => Some((i, slot, field, 1)),
            Token::Suffix(slot, field, _) if !again => {
                let mut scan = Scan::new(word);
                let value = scan.value(self.isa, self.isa.type_of(self.own(slot), field.into()))?;
                scan.at_end().then_some((i, slot, field, value))
            }
            Token::Words(slot, field, words) if !again => {
                let found = words.iter().position(|w| !w.is_empty() && same(w))?;
                Some((i, slot, field, found as i64))
            }
            Token::Bits(slot, field, words) => {
                let now = if again { self.draft.get(self.isa, self.own(slot), field) } else { 0 };
                let (silent, words) = named_bits(words);
                if !silent && same("none") {
                    return Some((i, slot, field, now));
                }
                let bit = words.iter().position(|w| same(w))?;
                Some((i, slot, field, now | 1 << bit))
            }
            _ => None,
        }
    }
}
