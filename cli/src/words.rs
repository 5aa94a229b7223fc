//! Machine words in files: raw little-endian words, or their numeric values in hexadecimal.

use isaforge_core::Isa;
use isaforge_core::bits::word_of;

use crate::mistakes::{Mistake, Place};
use crate::numbers;
use crate::order::Order;

/// How words are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Encoding {
    /// Text: each word's numeric value in hexadecimal digits.
    Hex,
    /// Raw words, least significant byte first.
    Bin,
}

/// The size of a word in a binary file in bytes.
pub fn word_bytes(isa: &Isa) -> usize {
    usize::from(isa.word_bits.clamp(1, 64)).div_ceil(8)
}

/// The number of hexadecimal digits of a word.
pub fn word_digits(isa: &Isa) -> usize {
    usize::from(isa.word_bits.clamp(1, 64)).div_ceil(4)
}

/// The words up to the first error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The words before the error, or all of them.
    pub words: Vec<u64>,
    /// The error, if there is one.
    pub mistake: Option<Mistake>,
}

/// Detects whether a file is hexadecimal text or raw words.
///
/// Raw words nearly always contain a byte that does not occur in text, such as zero. Text, of any language, that is not
/// valid hexadecimal is treated as a hexadecimal file with an error.
pub fn detect(bytes: &[u8]) -> Encoding {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let is_text = !bytes.iter().any(is_control)
        && (bytes.is_ascii() || std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(is_unseen)));
    if is_text { Encoding::Hex } else { Encoding::Bin }
}

/// Whether a character is a control character beyond those of ASCII.
fn is_unseen(c: char) -> bool {
    !c.is_ascii() && c.is_control()
}

/// Reads words in the given encoding, or in the detected one.
pub fn read(isa: &Isa, bytes: &[u8], encoding: Option<Encoding>) -> Words {
    match encoding.unwrap_or_else(|| detect(bytes)) {
        Encoding::Hex => {
            let body = numbers::spaced(bytes);
            let text = std::str::from_utf8(&body).ok();
            match text.and_then(|text| numbers::read(text, word_digits(isa), None)) {
                None => hex_digits(&body, word_digits(isa)),
                Some(Err(mistake)) => Words { words: Vec::new(), mistake: Some(mistake) },
                Some(Ok(found)) if found.order == Some(Order::Memory) => {
                    let found = hex_digits(found.digits.as_bytes(), 2);
                    let bytes: Vec<u8> = found.words.iter().map(|byte| *byte as u8).collect();
                    Words { words: of_bytes(isa, &bytes), mistake: found.mistake }
                }
                Some(Ok(found)) => hex_digits(found.digits.as_bytes(), word_digits(isa)),
            }
        }
        Encoding::Bin => {
            let mut bytes = bytes.to_vec();
            let mistake = cut(&mut bytes, word_bytes(isa));
            Words { words: of_bytes(isa, &bytes), mistake }
        }
    }
}

/// Removes the incomplete word at the end; the error says so. Words have `size` bytes.
pub fn cut(bytes: &mut Vec<u8>, size: usize) -> Option<Mistake> {
    let rest = bytes.len() % size;
    bytes.truncate(bytes.len() - rest);
    (rest > 0).then(|| Mistake {
        place: Place::Byte(bytes.len()),
        message: format!("{} left over at the end: a word has {size}", crate::output::count(rest as u64, "byte")),
        help: "is the file cut off, or is it hexadecimal text (`--in hex`)?".to_owned(),
    })
}

/// Converts bytes to words, least significant byte first.
pub fn of_bytes(isa: &Isa, bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(word_bytes(isa)).map(word_of).collect()
}

/// Whether a column of text follows the words of a line: something like `FADD`, of letters alone, although the next
/// line begins with a word again.
fn is_column(rest: &[u8], digits: usize) -> bool {
    let (line, after) = match rest.iter().take(LONG).position(|byte| *byte == b'\n') {
        Some(end) => rest.split_at(end),
        None if rest.len() < LONG => (rest, &[][..]),
        None => return false,
    };
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let first = |text: &[u8]| text.iter().position(ends).unwrap_or(text.len());
    let word = &line[..first(line)];
    if !word.iter().all(u8::is_ascii_alphabetic) || word.len() >= digits {
        return false;
    }
    let next = after.trim_ascii_start();
    let number = &next[..first(next)];
    number.is_empty() || number.len() == digits && number.iter().all(u8::is_ascii_hexdigit)
}

/// The maximum length of a column of text.
const LONG: usize = 256;

/// Reads hexadecimal digits, grouped by the number of digits of a word. `0x`, white space, commas and underscores are
/// ignored, and so is a column of text after words.
pub fn hex_digits(bytes: &[u8], digits: usize) -> Words {
    let mut found = Words::default();
    let (mut line, mut column) = (1, 0);
    let (mut word, mut have, mut started) = (0u64, 0, (1, 1));
    let (mut at, mut before, mut in_line) = (0, b'\n', false);
    while let Some(&byte) = bytes.get(at) {
        let begins = before.is_ascii_whitespace() && byte.is_ascii_alphabetic();
        if begins && have == 0 && in_line && digits > 2 && is_column(&bytes[at..], digits) {
            at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
            before = b' ';
            continue;
        }
        (at, before) = (at + 1, byte);
        in_line &= byte != b'\n';
        // Continuation bytes of a UTF-8 character do not count as columns.
        column += usize::from(byte & 0xc0 != 0x80);
        match byte {
            b'\n' => (line, column) = (line + 1, 0),
            b',' | b'_' => {}
            _ if byte.is_ascii_whitespace() => {}
            b'0' if matches!(bytes.get(at), Some(b'x' | b'X')) && have > 0 => {
                found.mistake = Some(Mistake {
                    place: Place::Text(started.0, started.1),
                    message: format!("a word has {digits} hexadecimal digits, and there are only {have} before `0x`"),
                    help: "put a blank or a comma between numbers".to_owned(),
                });
                return found;
            }
            b'0' if matches!(bytes.get(at), Some(b'x' | b'X')) => {
                at += 1;
                column += 1;
            }
            _ => {
                let Some(digit) = char::from(byte).to_digit(16) else {
                    let shown = String::from_utf8_lossy(&bytes[at - 1..bytes.len().min(at + 3)]);
                    let shown = shown.chars().next().unwrap_or('?').escape_debug();
                    found.mistake = Some(Mistake {
                        place: Place::Text(line, column),
                        message: format!("`{shown}` is not a hexadecimal digit"),
                        help: format!("a word is {digits} digits, most significant first; raw words need `--in bin`"),
                    });
                    return found;
                };
                if have == 0 {
                    started = (line, column);
                }
                word = word << 4 | u64::from(digit);
                have += 1;
                if have == digits {
                    found.words.push(word);
                    (word, have, in_line) = (0, 0, true);
                }
            }
        }
    }
    if have > 0 {
        found.mistake = Some(Mistake {
            place: Place::Text(started.0, started.1),
            message: format!("the last word has only {have} of {digits} hexadecimal digits"),
            help: "write leading zeros, too".to_owned(),
        });
    }
    found
}

/// Writes words as [`read`] reads them: one per line in hexadecimal, or raw.
pub fn write(isa: &Isa, words: &[u64], encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Hex => {
            let digits = word_digits(isa);
            let mut text = Vec::with_capacity(words.len() * (digits + 1));
            for word in words {
                let nibble = |i: usize| b"0123456789abcdef"[(word >> (4 * i)) as usize & 15];
                text.extend((0..digits).rev().map(nibble));
                text.push(b'\n');
            }
            text
        }
        Encoding::Bin => {
            let size = word_bytes(isa);
            words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(size)).collect()
        }
    }
}

/// Parses a word given as an argument: `0x` and digits, perhaps with the suffix of a type, or exactly as many digits as
/// a word has.
pub fn parse_word(isa: &Isa, text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, is_prefixed) = numbers::without_suffix(text)?;
    if !is_prefixed && text.len() != word_digits(isa) {
        return None;
    }
    let digits = digits.replace('_', "");
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = if plain { u64::from_str_radix(&digits, 16).ok()? } else { return None };
    (isa.word_bits >= 64 || word >> isa.word_bits == 0).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Words {
        hex_digits(text.as_bytes(), 16)
    }

    #[test]
    fn hexadecimal_may_be_spaced_prefixed_and_broken_over_lines() {
        let expected = vec![0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff];
        for text in [
            "00112233445566778899aabbccddeeff",
            "0x0011223344556677\r\n0x8899AABBCCDDEEFF\r\n",
            "0011 2233 4455 6677, 8899aabb\nccddeeff",
            "0X00112233_44556677,0x8899aabb_ccddeeff,",
        ] {
            assert_eq!(hex(text), Words { words: expected.clone(), mistake: None }, "{text}");
        }
    }

    #[test]
    fn digits_are_not_joined_across_0x() {
        let mistake = hex("0x91c100000000020x91c30000000004").mistake.expect("there is no blank");
        assert_eq!((mistake.place, mistake.message.contains("only 14 before `0x`")), (Place::Text(1, 3), true));
        assert_eq!(hex("0x0091c100000000020x0091c30000000004").words.len(), 2);
    }

    #[test]
    fn a_column_of_text_is_not_digits() {
        let line = "0011223344556677 FADD\n";
        assert_eq!(hex(&line.repeat(4)), Words { words: vec![0x0011_2233_4455_6677; 4], mistake: None });
        assert_eq!(hex("0011223344556677 ccddeeff\n00112233").words, [0x0011_2233_4455_6677, 0xccdd_eeff_0011_2233]);
    }

    #[test]
    fn a_slip_in_hexadecimal_has_a_line_and_a_column() {
        let found = hex("0011223344556677\n  00112g33");
        assert_eq!(found.words.len(), 1);
        let mistake = found.mistake.expect("g is no digit");
        assert_eq!((mistake.place, mistake.message.as_str()), (Place::Text(2, 8), "`g` is not a hexadecimal digit"));
    }

    #[test]
    fn a_piece_of_a_word_at_the_end_is_a_mistake_where_it_starts() {
        let found = hex("0011223344556677\n\n  123\n");
        let mistake = found.mistake.expect("three digits are no word");
        assert_eq!(mistake.place, Place::Text(3, 3));
        let found = read(isaforge_valhall::ISA, &[1, 0, 0, 0, 0, 0, 0, 0, 7, 7], Some(Encoding::Bin));
        assert_eq!(found.words, [1]);
        assert_eq!(found.mistake.map(|m| m.place), Some(Place::Byte(8)));
    }

    #[test]
    fn detection_tells_text_from_words() {
        assert_eq!(detect(b"0091c10000000002\n"), Encoding::Hex);
        assert_eq!(detect(b""), Encoding::Hex);
        assert_eq!(detect(b"0091c10000zz0002\n"), Encoding::Hex);
        assert_eq!(detect("0091\u{a0}c10000000002 // größer\n".as_bytes()), Encoding::Hex);
        assert_eq!(detect("0091\u{85}".as_bytes()), Encoding::Bin);
        assert_eq!(detect(b"0091\xa0"), Encoding::Bin);
        assert_eq!(detect(&0x0091_c100_0000_0002u64.to_le_bytes()), Encoding::Bin);
    }
}
