//! Text without allocation: constant strings that are fast to copy, and a line to copy them into.

use core::fmt;

/// A constant string, stored twice: as it is, and padded to 32 bytes so that a copy takes two vector moves.
#[derive(Clone, Copy)]
pub struct Text {
    padded: [u8; 32],
    /// The string.
    pub str: &'static str,
}

impl Text {
    /// The empty text.
    pub const EMPTY: Text = Text::new("");

    /// Wraps a string. Strings longer than 32 bytes work, but are copied the ordinary way.
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

    /// The first eight bytes, little-endian, padded with zeros.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.padded;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The first sixteen bytes, as for [`first`](Self::first). Longer texts give 0, which no text of one to sixteen
    /// bytes does.
    #[inline(always)]
    pub(crate) fn sixteen(&self) -> u128 {
        match self.padded.split_first_chunk() {
            Some((first, [0, ..])) => u128::from_le_bytes(*first),
            _ => 0,
        }
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

/// Whether a character is invisible or changes how its neighbours are displayed; tabs and line breaks are not.
pub fn is_unseen(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        // Direction marks and overrides, zero-width spaces, line and paragraph separators, byte order marks, and
        // noncharacters.
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Fillers of Hangul, which are letters without a glyph.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

/// The maximum length of a [`Label`] in bytes.
pub const LABEL_MAX: usize = 31;

/// A short constant string that is faster to copy than a [`Text`]: padded and followed by its length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label {
    padded: [u8; LABEL_MAX],
    len: u8,
}

impl Label {
    /// Wraps a string of at most [`LABEL_MAX`] bytes; any further bytes are dropped.
    pub const fn new(str: &str) -> Self {
        let bytes = str.as_bytes();
        let mut padded = [0; LABEL_MAX];
        let mut i = 0;
        while i < bytes.len() && i < LABEL_MAX {
            padded[i] = bytes[i];
            i += 1;
        }
        Label { padded, len: i as u8 }
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        self.padded.get(..self.len as usize).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The capacity of a [`Line`] in bytes. The compiler rejects a specification whose longest text would not fit.
pub const LINE_CAPACITY: usize = 640;

/// A line of text under construction. Text that does not fit is dropped; writing never panics.
///
/// # Examples
///
/// ```
/// use isaforge_core::text::Line;
///
/// let mut line = Line::new();
/// line.push_str("FMA.f32 r0");
/// assert_eq!(line.as_str(), "FMA.f32 r0");
/// ```
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

    /// Removes everything after the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
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

    /// Appends a constant string.
    #[inline]
    pub fn push(&mut self, text: &Text) {
        self.write(|pen| pen.push(text));
    }

    /// Appends the whole string if it fits; otherwise leaves the line unchanged.
    #[inline]
    pub fn push_str(&mut self, str: &str) {
        self.write(|pen| pen.push_str(str));
    }

    /// Appends a number in decimal if all of it fits; otherwise leaves the line unchanged.
    pub fn push_decimal(&mut self, value: u64) {
        self.write(|pen| pen.push_decimal(value));
    }

    /// Appends a number in hexadecimal: `0x`, upper-case digits, no padding. The prefix and the digits are each dropped
    /// if they do not fit.
    pub fn push_hex(&mut self, value: u64) {
        self.write(|pen| pen.push_hex(value));
    }

    /// Calls `with` with a pen at the end of the line.
    #[inline(always)]
    pub(crate) fn write(&mut self, with: impl FnOnce(&mut Pen<'_>)) {
        let mut pen = Pen { bytes: &mut self.bytes, len: self.len };
        with(&mut pen);
        self.len = pen.len;
    }
}

/// Writes to a line. It holds the length itself, which can then stay in a register between writes.
pub(crate) struct Pen<'a> {
    bytes: &'a mut [u8; LINE_CAPACITY],
    len: usize,
}

/// Calls `write` out of line, to keep it from slowing down its caller. The fields of the pen are passed in registers.
#[inline(always)]
pub(crate) fn apart(pen: &mut Pen<'_>, write: impl FnOnce(&mut Pen<'_>)) {
    #[inline(never)]
    fn call(bytes: &mut [u8; LINE_CAPACITY], len: usize, write: impl FnOnce(&mut Pen<'_>)) -> usize {
        let mut pen = Pen { bytes, len };
        write(&mut pen);
        pen.len
    }
    pen.len = call(pen.bytes, pen.len, write);
}

impl Pen<'_> {
    #[inline(always)]
    pub(crate) fn push(&mut self, text: &Text) {
        let len = text.str.len();
        match self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut()) {
            Some(room) if len <= 32 => {
                *room = text.padded;
                self.len += len;
            }
            _ => self.push_str(text.str),
        }
    }

    #[inline(always)]
    pub(crate) fn push_label(&mut self, label: &Label) {
        match self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut()) {
            Some(room) => {
                *room = label.padded;
                self.len += label.len as usize;
            }
            None => self.push_str(label.as_str()),
        }
    }

    #[inline(always)]
    pub(crate) fn push_str(&mut self, str: &str) {
        self.push_bytes(str.as_bytes());
    }

    /// Appends all bytes if they fit; otherwise does nothing.
    #[inline(always)]
    fn push_bytes(&mut self, bytes: &[u8]) {
        let Some(room) = self.bytes.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) else { return };
        // Most strings are a few bytes long, for which a call to `memcpy` costs more than the copy.
        match bytes {
            [byte] => room[0] = *byte,
            _ => room.copy_from_slice(bytes),
        }
        self.len += bytes.len();
    }

    pub(crate) fn push_decimal(&mut self, value: u64) {
        self.push_digits(value, 10, value.checked_ilog10().unwrap_or(0) as usize + 1);
    }

    pub(crate) fn push_hex(&mut self, value: u64) {
        self.push_str("0x");
        self.push_digits(value, 16, value.checked_ilog2().unwrap_or(0) as usize / 4 + 1);
    }

    /// Writes the digits in place, last one first: a copy would have to wait for them to reach memory.
    #[inline(always)]
    fn push_digits(&mut self, value: u64, radix: u64, count: usize) {
        let Some(room) = self.bytes.get_mut(self.len..).and_then(|rest| rest.get_mut(..count)) else { return };
        let mut rest = value;
        for digit in room.iter_mut().rev() {
            *digit = b"0123456789ABCDEF"[(rest % radix) as usize & 15];
            rest /= radix;
        }
        self.len += count;
    }

    #[inline(always)]
    pub(crate) fn push_byte(&mut self, byte: u8) {
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

/// A short piece of input text, copied into an error so that the error need not borrow the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word {
    bytes: [u8; 32],
    len: u8,
    is_cut: bool,
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
        Word { bytes, len: end as u8, is_cut: end < text.len() }
    }

    /// The copied text. When displayed, an ellipsis follows if there was more.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len as usize]).unwrap_or_default()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        f.write_str(if self.is_cut { "…" } else { "" })
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
        // The texts fill the line exactly; there is no room for another digit.
        assert_eq!(line.as_str().len(), LINE_CAPACITY);
        line.push_decimal(1);
        assert_eq!(line.as_str().len(), LINE_CAPACITY);
        assert!(line.as_str().ends_with("789"));
    }

    #[test]
    fn a_word_is_cut_at_a_character() {
        assert_eq!(Word::new(&"é".repeat(40)).as_str(), "é".repeat(16));
    }
}
