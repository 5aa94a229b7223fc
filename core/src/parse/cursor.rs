//! A position in the text of an instruction, and what can be read there.

use crate::error::{ParseError, ParseReason};
use crate::number;
use crate::table::{Isa, find_name};
use crate::text::Word;

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) struct Cursor<'a> {
    pub(super) isa: &'static Isa,
    pub(super) line: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    pub(super) fn spaces(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    pub(super) fn error_span(&self, start: usize, end: usize, reason: ParseReason) -> ParseError {
        let found = Word::new(self.line.get(start..end).unwrap_or_default());
        ParseError { at: start, len: (end - start).max(1), reason, found, isa: self.isa }
    }

    /// An error about the word at the current position.
    pub(super) fn error_word(&self, reason: ParseReason) -> ParseError {
        let rest = self.rest();
        let len = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
        let len = if len == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { len };
        self.error_span(self.at, self.at + len, reason)
    }

    pub(super) fn mnemonic(&mut self) -> Result<u16, ParseError> {
        let rest = self.rest().as_bytes();
        let head = rest.iter().position(|&b| !is_word(b) && b != b'.').unwrap_or(rest.len());
        // Find the longest name that ends at a dot or at the end of the head.
        let mut ends = [0usize; 16];
        let mut n = 0;
        for (i, &b) in rest[..head].iter().enumerate() {
            if b == b'.' && n <= self.isa.names.dots as usize && n < ends.len() - 1 {
                ends[n] = i;
                n += 1;
            }
        }
        if n <= self.isa.names.dots as usize {
            ends[n] = head;
            n += 1;
        }
        for &end in ends[..n].iter().rev() {
            if let Some(opcode) = find_name(self.isa, &rest[..end]) {
                self.at += end;
                return Ok(opcode);
            }
        }
        match head {
            0 => Err(self.error_word(ParseReason::UnknownMnemonic)),
            _ => Err(self.error_span(self.at, self.at + head, ParseReason::UnknownMnemonic)),
        }
    }

    /// Expects a fixed text. Any white space is accepted around it and where it has a blank, or none, except between
    /// words.
    pub(super) fn text(&mut self, text: &'static str) -> Result<(), ParseError> {
        self.spaces();
        let (wanted, start) = (text.trim(), self.at);
        let (mut before, mut blank) = (b' ', false);
        for byte in wanted.bytes() {
            if byte == b' ' {
                blank = true;
                continue;
            }
            let at = self.at;
            if blank {
                self.spaces();
            }
            let apart = !blank || self.at > at || !is_word(before) || !is_word(byte);
            if !apart || self.byte() != Some(byte) {
                self.at = start;
                return Err(self.error_word(ParseReason::Expected(wanted)));
            }
            (before, blank) = (byte, false);
            self.at += 1;
        }
        if text.ends_with(|c: char| c.is_whitespace()) {
            self.spaces();
        }
        Ok(())
    }

    /// Returns the longest of `words` at the current position that ends at a word boundary.
    pub(super) fn longest(&self, words: impl Iterator<Item = &'static str>) -> Option<&'static str> {
        let rest = self.rest().as_bytes();
        let first = rest.first();
        let mut best: Option<&'static str> = None;
        for word in words {
            // Most words differ in their first byte.
            if word.as_bytes().first() == first
                && rest.starts_with(word.as_bytes())
                && !rest.get(word.len()).is_some_and(|&b| is_word(b))
                && best.is_none_or(|b| b.len() < word.len())
            {
                best = Some(word);
            }
        }
        best
    }

    /// Reads a number: decimal, or with the prefix `0x`, `0o` or `0b`; underscores are allowed. `None` when there is
    /// none here.
    pub(super) fn number(&mut self) -> Option<Result<i128, ParseError>> {
        let start = self.at;
        let rest = self.rest();
        let (negative, digits) = match rest.as_bytes().first()? {
            b'-' => (true, &rest[1..]),
            b'+' => (false, &rest[1..]),
            _ => (false, rest),
        };
        let (radix, digits) = number::radix(digits);
        let len = digits.bytes().take_while(|&b| is_word(b)).count();
        if !digits.bytes().next().is_some_and(|b| b.is_ascii_hexdigit())
            || (radix == 10 && !digits.as_bytes()[0].is_ascii_digit())
        {
            return None;
        }
        let end = start + (rest.len() - digits.len()) + len;
        let mut value: i128 = 0;
        for c in digits[..len].chars().filter(|&c| c != '_') {
            match c.to_digit(radix) {
                Some(digit) if value < 1 << 64 => value = value * radix as i128 + digit as i128,
                Some(_) => {}
                None => return Some(Err(self.error_span(start, end, ParseReason::Wanted("a number")))),
            }
        }
        self.at = end;
        Some(Ok(if negative { -value } else { value }))
    }
}
