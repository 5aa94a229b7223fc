//! A cursor in text.

use crate::group::table::{GroupIsa, Type};
use crate::number;

/// Text being parsed.
#[derive(Clone, Debug)]
pub(super) struct Scan<'t> {
    rest: &'t str,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Scan { rest: text }
    }

    /// The number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    /// Reads fixed text, ignoring case. White space is optional at its start, at spaces and before punctuation.
    pub(super) fn literal(&mut self, text: &str) -> Option<()> {
        let mut rest = self.rest;
        let mut spaced = true;
        for c in text.chars() {
            if c == ' ' {
                spaced = true;
                continue;
            }
            if spaced || !c.is_ascii_alphanumeric() && c != '.' {
                rest = rest.trim_start();
            }
            spaced = false;
            let mut chars = rest.chars();
            if !chars.next()?.eq_ignore_ascii_case(&c) {
                return None;
            }
            rest = chars.as_str();
        }
        if text.ends_with(' ') {
            rest = rest.trim_start();
        }
        self.rest = rest;
        Some(())
    }

    /// What is missing of a fixed text if the text being parsed ends within it, or before it.
    pub(super) fn missing(&self, text: &'static str) -> Option<&'static str> {
        let mut scan = self.clone();
        if scan.at_end() {
            return Some(text);
        }
        let mut cuts = text.char_indices().map(|(at, _)| at).skip(1);
        let cut = cuts.find(|cut| {
            let mut ahead = scan.clone();
            text.get(..*cut).is_some_and(|start| ahead.literal(start).is_some()) && ahead.rest.is_empty()
        });
        scan.literal(text).is_none().then(|| text.get(cut?..))?
    }

    /// Reads a whole word.
    pub(super) fn word(&mut self, word: &str) -> Option<()> {
        let mut ahead = self.clone();
        ahead.literal(word)?;
        let goes_on = word.ends_with(|c: char| c.is_ascii_alphanumeric())
            && ahead.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if goes_on {
            return None;
        }
        *self = ahead;
        Some(())
    }

    /// Reads a dot and the word after it.
    pub(super) fn suffix(&mut self) -> Option<&'t str> {
        let rest = self.rest.strip_prefix('.')?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        Some(word)
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<i64> {
        self.skip();
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let rest = digits.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let value = number::parse_signed(&self.rest[..self.rest.len() - rest.len()])?;
        self.rest = rest;
        Some(value)
    }

    /// Reads the value of a field: a name from its enum, or a number.
    pub(super) fn value(&mut self, isa: &GroupIsa, ty: Type) -> Option<i64> {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        if let Type::Enum(index) = ty {
            let same =
                |v: &&crate::table::Value| v.text.eq_ignore_ascii_case(word) || v.name.eq_ignore_ascii_case(word);
            if let Some(value) = isa.enums.get(index as usize)?.values.iter().find(same) {
                self.rest = rest;
                return Some(value.bits as i64);
            }
            return None;
        }
        self.number()
    }

    /// Reads a register (bank, number). The inner `None` is `_`.
    pub(super) fn register(&mut self, isa: &GroupIsa) -> Option<Option<(i64, i64)>> {
        if self.word("_").is_some() {
            return Some(None);
        }
        for name in isa.registers {
            let mut ahead = self.clone();
            if ahead.literal(name.before).is_none() || !ahead.rest.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let Some(number) = ahead.digits() else { continue };
            if ahead.literal(name.after).is_none()
                || ahead.rest.starts_with(|c: char| c == '[' || c.is_ascii_alphanumeric())
            {
                continue;
            }
            let number = number.checked_sub(name.first)?.checked_add(name.from)?;
            if (name.from..=name.to).contains(&number) && number < 1 << 32 {
                *self = ahead;
                return Some(Some((name.bank, number << name.low.min(16) | name.is)));
            }
        }
        let mut ahead = self.clone();
        ahead.literal("bank")?;
        let bank = ahead.digits()?;
        ahead.literal(":")?;
        let number = ahead.digits()?;
        *self = ahead;
        Some(Some((bank, number)))
    }

    fn digits(&mut self) -> Option<i64> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(end)?;
        let value = digits.parse::<u32>().ok()?;
        self.rest = rest;
        Some(value.into())
    }
}

/// The name at the start of a text, without suffixes.
pub(super) fn first_word(piece: &str) -> &str {
    piece.split(|c: char| c.is_whitespace() || c == '.').next().unwrap_or_default()
}
