//! Texts in quotes: how bytes are written, and read back.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::text::is_unseen;

/// Writes bytes in quotes. Those that are no text, or are a character that cannot be seen, become `\x` with two digits;
/// line breaks remain.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    let escape = |bytes: &[u8], out: &mut String| {
        bytes.iter().for_each(|byte| {
            let _ = write!(out, "\\x{byte:02x}");
        });
    };
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid().chars().peekable();
        while let Some(c) = rest.next() {
            let is_alone = c == '\r' && rest.peek() != Some(&'\n');
            if is_alone || is_unseen(c) {
                escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut out);
            } else {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
        }
        escape(chunk.invalid(), &mut out);
    }
    out.push('"');
    out
}

/// The bytes of what is between quotes. A backslash stands for the character behind it, and `\x` with two digits for a
/// byte.
pub(super) fn unquoted(inner: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let escaped = rest.chars().next().filter(|_| c == '\\');
        let digits = rest.strip_prefix('x').and_then(|digits| digits.get(..2)).filter(|_| escaped.is_some());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &rest[3..];
            continue;
        }
        let c = escaped.unwrap_or(c);
        if let Some(escaped) = escaped {
            rest = &rest[escaped.len_utf8()..];
        }
        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    }
    bytes
}
