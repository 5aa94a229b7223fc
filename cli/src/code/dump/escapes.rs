//! Escapes in strings of C and Python.

use super::source::{mistake, shown};
use crate::mistakes::Mistake;

/// The bytes of a string with escapes, as C or Python writes it.
pub(super) fn unescaped(text: &str, start: usize, content: &str, is_bytes: bool) -> Result<Vec<u8>, Mistake> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(c) = content[at..].chars().next() {
        let escape = content.as_bytes().get(at + 1).copied();
        let digits = |radix: u32, from: usize, most: usize| {
            let digits =
                content[from..].bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
            (digits, u8::from_str_radix(&content[from..from + digits], radix))
        };
        let (value, len) = match (c, escape) {
            ('\\', Some(b'x')) => {
                let (count, value) = digits(16, at + 2, 2);
                let is_long = !is_bytes && content.as_bytes().get(at + 4).is_some_and(u8::is_ascii_hexdigit);
                match value {
                    Ok(value) if count == 2 && !is_long => (Some(value), 4),
                    _ => (None, 2 + count + usize::from(is_long)),
                }
            }
            ('\\', Some(b'0'..=b'7')) => {
                let (count, value) = digits(8, at + 1, 3);
                (value.ok(), 1 + count)
            }
            ('\\', Some(escape)) => {
                let known = b"abtnvfr\\\"'".iter().position(|known| *known == escape);
                (known.and_then(|known| b"\x07\x08\t\n\x0b\x0c\r\\\"'".get(known).copied()), 2)
            }
            (c, _) if c.is_ascii() && c != '\\' => (u8::try_from(c).ok(), 1),
            (c, _) => (None, c.len_utf8()),
        };
        let Some(value) = value else {
            let found = content.get(at..at + len).unwrap_or(&content[at..]);
            let message = format!("`{}` in a string is not one byte", shown(found));
            return Err(mistake(text, start + at, message, "write every byte as `\\x` and two digits"));
        };
        bytes.push(value);
        at += len;
    }
    Ok(bytes)
}
