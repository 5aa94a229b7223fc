//! Text without allocation: constant strings that copy fast, and a line to copy them into.

use core::fmt;

/// A constant string, kept twice: as itself, and padded to 32 bytes so that copying it is two vector moves.
#[derive(Clone, Copy)]
pub struct Text {
    padded: [u8; 32],
    /// The string.
    pub str: &'static str,
}

impl Text {
    /// No text.
    pub const EMPTY: Text = Text::new("");

    /// Wraps a string; strings longer than 32 bytes work and copy the ordinary way.
    pub const fn new(str: &'static str) -> Self {
        let bytes = str.as_bytes();
        let mut padded = [0; 32];
        let mut i = 0;
        while i < bytes.len() && i < 32 {
            padded[i] = bytes[i];
            i += 1;
        }
        Text { padded, str }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.str.fmt(f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.str == other.str
    }
}
impl Eq for Text {}

/// How many bytes a [`Line`] holds. The compiler refuses a specification whose longest text would not fit.
pub const LINE_CAPACITY: usize = 512;

/// One line of text being written. What does not fit is dropped, never a panic.
#[derive(Clone)]
pub struct Line {
    bytes: [u8; LINE_CAPACITY],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

impl Line {
    /// An empty line.
    pub const fn new() -> Self {
        Line { bytes: [0; LINE_CAPACITY], len: 0 }
    }

    /// Empties the line for the next instruction.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The text so far.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The text so far, as bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Appends a constant.
    #[inline]
    pub fn push(&mut self, text: &Text) {
        let len = text.str.len();
        match self.bytes.get_mut(self.len..self.len + 32) {
            Some(room) if len <= 32 => {
                room.copy_from_slice(&text.padded);
                self.len += len;
            }
            _ => self.push_str(text.str),
        }
    }

    /// Appends a string; all of it or, when it does not fit, nothing.
    #[inline]
    pub fn push_str(&mut self, str: &str) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + str.len()) {
            room.copy_from_slice(str.as_bytes());
            self.len += str.len();
        }
    }

    /// Appends a number in decimal.
    pub fn push_decimal(&mut self, value: u64) {
        if value < 10 {
            return self.push_byte(b'0' + value as u8);
        }
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = value;
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        for digit in &digits[at..] {
            self.push_byte(*digit);
        }
    }

    /// Appends a number in hexadecimal: `0x`, upper-case digits, no padding.
    pub fn push_hex(&mut self, value: u64) {
        self.push_str("0x");
        let digits = (16 - value.leading_zeros() / 4).max(1);
        for i in (0..digits).rev() {
            self.push_byte(b"0123456789ABCDEF"[(value >> (4 * i)) as usize & 15]);
        }
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.len + s.len() > LINE_CAPACITY {
            return Err(fmt::Error);
        }
        self.push_str(s);
        Ok(())
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// A short piece of somebody's text, copied into an error so that the error owns nothing else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word {
    bytes: [u8; 32],
    len: u8,
}

impl Word {
    /// Copies the first 32 bytes of `text`, cut at a character.
    pub fn new(text: &str) -> Self {
        let mut end = text.len().min(32);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = [0; 32];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        Word { bytes, len: end as u8 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len as usize]).unwrap_or_default()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    #[test]
    fn numbers_print_like_the_standard_library() {
        for value in [0, 7, 10, 99, 100, 255, 0xdead_beef, u64::MAX] {
            let mut line = Line::new();
            line.push_decimal(value);
            line.push_hex(value);
            assert_eq!(line.as_str(), format!("{value}0x{value:X}"));
        }
    }

    #[test]
    fn a_full_line_drops_what_does_not_fit() {
        let mut line = Line::new();
        let text = Text::new("0123456789");
        for _ in 0..100 {
            line.push(&text);
        }
        assert_eq!(line.as_str().len(), 510);
        line.push_decimal(12345);
        assert!(line.as_str().ends_with("912"));
    }

    #[test]
    fn a_word_is_cut_at_a_character() {
        assert_eq!(Word::new(&"é".repeat(40)).as_str(), "é".repeat(16));
    }
}
