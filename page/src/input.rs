//! Reads pasted input: machine code in one of several notations, or assembly. Each digit of machine code has its place
//! in the text, so that an instruction can be changed where it stands.

use isaforge_core::program::ProgramError;

/// Where a digit stands in the text, as an offset in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DigitPosition {
    pub at: usize,
    /// Whether it is written. Leading zeros that are left out belong before the character at `at`.
    pub written: bool,
}

/// A hexadecimal digit.
#[derive(Clone, Copy)]
pub struct Digit {
    pub value: u8,
    pub place: DigitPosition,
}

/// What an instruction set consists of, which decides how digits are read.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Words with this number of digits.
    Word(usize),
    /// Bytes. If `values`, numbers with `0x` are values, whose lowest byte is the first in memory.
    Byte { values: bool },
}

/// Pasted input.
pub enum Pasted {
    /// Pairs of digits, in memory order.
    Bytes(Vec<Digit>),
    /// The digits of words, the highest digit of each word first.
    Words(Vec<Digit>),
    /// Anything else, with the reason if it begins like machine code.
    Text(Option<ProgramError>),
}

/// A number of a text.
struct Token {
    digits: Vec<Digit>,
    /// Whether it begins with `0x`.
    prefixed: bool,
}

/// The value of some digits, the highest first.
pub fn value(digits: &[Digit]) -> u64 {
    digits.iter().fold(0, |value, digit| value << 4 | u64::from(digit.value))
}

/// Digits by pairs, in opposite order.
pub fn reversed(digits: &[Digit]) -> Vec<Digit> {
    digits.rchunks(2).flatten().copied().collect()
}

/// Parses pasted input.
pub fn read(text: &str, unit: Unit) -> Pasted {
    let lines = match tokens(text) {
        Ok(lines) => lines,
        Err((line, column, word)) => {
            let message = format!("this is not hexadecimal because of `{word}`");
            let help = "write machine code as digits or as numbers with `0x`, or assembly".to_owned();
            let error = ProgramError { line, column, len: word.chars().count().max(1), message, help };
            return Pasted::Text(is_code(text).then_some(error));
        }
    };
    if let Some(bytes) = dump(&lines) {
        return match unit {
            Unit::Word(digits) if !bytes.len().is_multiple_of(digits.next_multiple_of(2)) => {
                odd(text, bytes.len(), digits)
            }
            _ => Pasted::Bytes(bytes),
        };
    }
    let mut tokens: Vec<Token> = lines.into_iter().flatten().collect();
    if tokens.is_empty() {
        return Pasted::Text(None);
    }
    let prefixed = tokens.iter().all(|token| token.prefixed);
    let longest = tokens.iter().map(|token| token.digits.len()).max().unwrap_or(0);
    let all = |tokens: Vec<Token>| tokens.into_iter().flat_map(|token| token.digits).collect::<Vec<Digit>>();
    match unit {
        Unit::Byte { values } => {
            let bytes: Vec<Digit> = if prefixed {
                let padded = tokens.iter_mut().map(|token| {
                    let digits = token.digits.len().next_multiple_of(2);
                    pad(token, digits);
                    if values { reversed(&token.digits) } else { token.digits.clone() }
                });
                padded.flatten().collect()
            } else {
                all(tokens)
            };
            if bytes.len().is_multiple_of(2) { Pasted::Bytes(bytes) } else { odd(text, bytes.len(), 2) }
        }
        Unit::Word(digits) => {
            let size = digits.next_multiple_of(2);
            let bytes = if prefixed { longest <= 2 } else { tokens.iter().all(|token| token.digits.len() == 2) };
            if bytes && size > 2 && (2 * tokens.len()).is_multiple_of(size) {
                tokens.iter_mut().for_each(|token| pad(token, 2));
                return Pasted::Bytes(all(tokens));
            }
            if prefixed && digits == 16 && longest <= 8 && tokens.len().is_multiple_of(2) {
                // Numbers of 32 bits, the low half of a word first.
                tokens.iter_mut().for_each(|token| pad(token, 8));
                return Pasted::Words(
                    tokens
                        .chunks(2)
                        .flat_map(|pair| [&pair[1], &pair[0]])
                        .flat_map(|half| half.digits.clone())
                        .collect(),
                );
            }
            if prefixed && longest <= digits {
                tokens.iter_mut().for_each(|token| pad(token, digits));
            }
            let all = all(tokens);
            if all.len().is_multiple_of(digits) { Pasted::Words(all) } else { odd(text, all.len(), digits) }
        }
    }
}

/// Adds the leading zeros of a number.
fn pad(token: &mut Token, digits: usize) {
    let at = token.digits.first().map_or(0, |digit| digit.place.at);
    let missing = digits.saturating_sub(token.digits.len());
    let zero = Digit { value: 0, place: DigitPosition { at, written: false } };
    token.digits.splice(0..0, std::iter::repeat_n(zero, missing));
}

/// The error of digits that are no whole number of words.
fn odd(text: &str, digits: usize, unit: usize) -> Pasted {
    let message = format!("{digits} digits are not a whole number of {unit} digits");
    let help = format!("an instruction or its unit has {unit} digits; a number with `0x` may have fewer");
    Pasted::Text(is_code(text).then_some(ProgramError { line: 1, column: 1, len: 1, message, help }))
}

/// Whether a text begins like machine code, as no assembly does.
fn is_code(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    let digits = first.strip_prefix("0x").or(first.strip_prefix("0X")).unwrap_or(first);
    let numbered = words.next().is_some_and(|next| next.starts_with(':'));
    let starts = first.starts_with(|c: char| c.is_ascii_digit()) && digits.len() >= 2 || digits.len() >= 8;
    starts && !numbered && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_')
}

/// The numbers of each line, or the place of something else: its line and column, from 1, and the word.
fn tokens(text: &str) -> Result<Vec<Vec<Token>>, (usize, usize, String)> {
    // What is between the braces of an array.
    let array = text.split_once('{').filter(|(head, _)| head.trim_end().ends_with('='));
    let start = array.map_or(0, |(head, _)| head.len() + 1);
    let end = array.and_then(|_| text.rfind('}')).filter(|end| *end >= start).unwrap_or(text.len());
    let canonical = text.lines().any(|line| line.trim_end().ends_with('|'));
    let mut lines = Vec::new();
    for (number, line) in text[start..end].split('\n').enumerate() {
        let mut found = Vec::new();
        for word in body(line).split(between).filter(|word| !word.is_empty()) {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            let Some(token) = token(word, at) else {
                let before = &text[..at];
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                return Err((number + 1 + text[..start].matches('\n').count(), column, word.to_owned()));
            };
            found.push(token);
        }
        // The last line of `hexdump -C` is only an offset.
        let is_end = canonical && !line.contains('|') && found.len() == 1 && found[0].digits.len() >= 7;
        if !found.is_empty() && !is_end {
            lines.push(found);
        }
    }
    Ok(lines)
}

/// Whether a character stands between numbers.
fn between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';')
}

fn token(word: &str, at: usize) -> Option<Token> {
    let bare = word.strip_prefix("0x").or(word.strip_prefix("0X"));
    let prefixed = bare.is_some();
    // A number of a program in C has the suffix of its type.
    let digits = bare.map_or(word, |bare| bare.trim_end_matches(['u', 'U', 'l', 'L']));
    let start = at + word.len() - bare.unwrap_or(word).len();
    let digit = |(offset, c): (usize, char)| {
        let place = DigitPosition { at: start + offset, written: true };
        Some(Digit { value: c.to_digit(16)? as u8, place })
    };
    let digits: Option<Vec<Digit>> = digits.char_indices().filter(|(_, c)| *c != '_').map(digit).collect();
    digits.filter(|digits| !digits.is_empty()).map(|digits| Token { digits, prefixed })
}

/// The bytes of a dump whose lines begin with offsets, as `hexdump` and `od -t x` print it: the last line is the offset
/// of its end, in hexadecimal or octal. Its numbers are values.
fn dump(lines: &[Vec<Token>]) -> Option<Vec<Digit>> {
    let (last, rows) = lines.split_last()?;
    let [end] = last.as_slice() else { return None };
    let mut bytes = Vec::new();
    for row in rows {
        let (offset, values) = row.split_first()?;
        if offset.digits.len() < 7
            || offset.prefixed
            || values.iter().any(|value| !value.digits.len().is_multiple_of(2))
        {
            return None;
        }
        values.iter().for_each(|value| bytes.extend(reversed(&value.digits)));
    }
    let octal = end.digits.iter().fold(0, |value, digit| value << 3 | u64::from(digit.value));
    let length = bytes.len() as u64 / 2;
    (length > 0 && end.digits.len() >= 7 && [value(&end.digits), octal].contains(&length)).then_some(bytes)
}

/// A line without comments, the offset and the text of a dump, and what follows the code in a listing.
fn body(line: &str) -> &str {
    let hexadecimal = |text: &str| text.split(between).all(|word| word.is_empty() || token(word, 0).is_some());
    let line = line.split("//").next().unwrap_or_default();
    // A semicolon may also stand between numbers.
    let line = line.split_once(';').filter(|(_, rest)| !hexadecimal(rest)).map_or(line, |(code, _)| code);
    let is_comment = |at: usize| line[..at].trim().is_empty() || line[at + 1..].starts_with(char::is_whitespace);
    let line = line.find('#').filter(|at| is_comment(*at)).map_or(line, |at| &line[..at]);
    let line = match line.split_once(':') {
        Some((offset, rest)) if !offset.trim().is_empty() && offset.trim().bytes().all(|b| b.is_ascii_hexdigit()) => {
            // In the output of `xxd`, two blanks separate bytes and text.
            rest.trim_start().split("  ").next().unwrap_or_default()
        }
        _ => line,
    };
    match line.split_once('|') {
        // `hexdump -C`: offset of eight digits, bytes, text.
        Some((bytes, _)) => bytes.trim_start().split_once("  ").map_or(bytes, |(_, bytes)| bytes),
        // Rows of a table: the code, and what it is.
        None => match line.split_once('\t') {
            Some((code, rest)) if hexadecimal(code) && !code.trim().is_empty() && !hexadecimal(rest) => code,
            _ => line,
        },
    }
}
