//! Numbers with `0x` in a text: where each ends, and how many make a word.
//!
//! A number ends with its digits, however many there are, so numbers are never joined unless all of them have the same
//! number of digits, as those of a dump have.

use std::borrow::Cow;

use crate::mistakes::{Mistake, Place};
use crate::order::Order;
use crate::output::count;

/// A text of numbers, rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Their digits on the same lines, with leading zeros and without `0x` and suffixes.
    pub digits: String,
    /// The only byte order in which they make sense, or the one that was asked for.
    pub order: Option<Order>,
    /// How they were read, if it is not obvious.
    pub note: Option<String>,
}

/// A number in a text.
struct Number<'t> {
    /// Its offset in the text.
    at: usize,
    is_prefixed: bool,
    /// Its digits, with underscores.
    digits: &'t str,
    /// The number of digits.
    len: usize,
}

/// What suffixes of integers there are, in small letters.
const SUFFIXES: [&str; 12] = ["", "u", "l", "ul", "lu", "ll", "ull", "llu", "u8", "u16", "u32", "u64"];

/// Splits a number in hexadecimal, with or without `0x`, from the suffix that its type has in source code. `None` if it
/// is something else.
pub fn without_suffix(token: &str) -> Option<(&str, bool)> {
    let prefixed = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X"));
    let text = prefixed.unwrap_or(token);
    let end = text.find(|c: char| !c.is_ascii_hexdigit() && c != '_').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let is_suffix = suffix.is_empty() || prefixed.is_some() && SUFFIXES.contains(&&*suffix.to_ascii_lowercase());
    let digits = digits.trim_end_matches('_');
    (is_suffix && !digits.is_empty() && !digits.starts_with('_')).then_some((digits, prefixed.is_some()))
}

/// Whether a character stands between numbers.
fn is_between(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// The numbers of a text; `Err` for anything else.
fn numbers(text: &str) -> impl Iterator<Item = Result<Number<'_>, ()>> {
    text.split(is_between).filter(|token| !token.is_empty()).map(move |token| {
        let (digits, is_prefixed) = without_suffix(token).ok_or(())?;
        let len = digits.bytes().filter(|byte| *byte != b'_').count();
        Ok(Number { at: token.as_ptr() as usize - text.as_ptr() as usize, is_prefixed, digits, len })
    })
}

/// How numbers make words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// They have the same length, and a word has as many digits as one or several of them.
    Even,
    Bytes,
    /// Halves of a word, the low one first.
    Halves,
    Words,
}

/// Rewrites a text of numbers for words with `digits` digits (two for bytes). `None` if no number begins with `0x`, or
/// the text contains anything else than numbers.
///
/// # Errors
/// When a number fits no word, or the numbers are no whole number of words.
pub fn read(text: &str, digits: usize, order: Option<Order>) -> Option<Result<Numbers, Mistake>> {
    if !text.contains("0x") && !text.contains("0X") {
        return None;
    }
    let (mut all, mut shortest, mut longest, mut prefixed) = (0, usize::MAX, 0, 0);
    for number in numbers(text) {
        let number = number.ok()?;
        all += 1;
        prefixed += usize::from(number.is_prefixed);
        (shortest, longest) = (shortest.min(number.len), longest.max(number.len));
    }
    if prefixed == 0 {
        return None;
    }
    let divides = longest.is_multiple_of(2) && digits.is_multiple_of(longest) || longest.is_multiple_of(digits);
    let way = match longest {
        _ if shortest == longest && divides && (all > 1 || longest >= digits) => Way::Even,
        ..=2 if all > 1 => Way::Bytes,
        ..=8 if digits == 16 && all > 1 => Way::Halves,
        _ => Way::Words,
    };
    let (unit, size) = match way {
        Way::Even => (longest, digits),
        Way::Bytes => (2, 2 * digits.div_ceil(2)),
        Way::Halves => (8, 16),
        Way::Words => (digits, digits),
    };
    Some(rewritten(text, (way, unit, digits), order).and_then(|mut found| {
        let rest = if way == Way::Words { 0 } else { (all * unit % size) / unit };
        if rest > 0 {
            let at = numbers(text).flatten().nth(all - rest).map_or(0, |number| number.at);
            let message = match way {
                Way::Even => format!("the last word has only {} of {digits} hexadecimal digits", rest * unit),
                _ => {
                    let short = format!("{} of at most {unit} digits", count(all as u64, "number"));
                    format!("{short} are not a whole number of words of {digits} digits")
                }
            };
            return Err(Mistake { place: place(text, at), message, help: "write leading zeros, too".to_owned() });
        }
        if way == Way::Bytes {
            found.order = order.or(Some(Order::Memory));
        } else if way == Way::Halves && order != Some(Order::Memory) {
            found.order = Some(Order::Value);
            let note =
                "read every two numbers as the halves of a word, the low one first, as none has more than 32 bits";
            found.note = Some(note.to_owned());
        }
        Ok(found)
    }))
}

fn rewritten(text: &str, (way, unit, word): (Way, usize, usize), order: Option<Order>) -> Result<Numbers, Mistake> {
    let mut digits = String::with_capacity(text.len());
    let mut low: Option<String> = None;
    let turns = way == Way::Halves && order != Some(Order::Memory);
    for line in text.lines() {
        for number in numbers(line).flatten() {
            let whole = number.len % word == 0;
            let is_small = number.len == 1 && number.digits.bytes().all(|digit| digit.is_ascii_digit());
            let is_clear = number.is_prefixed || way == Way::Even || whole || is_small && way != Way::Words;
            if number.len > unit && !whole || !is_clear {
                let at = line.as_ptr() as usize - text.as_ptr() as usize + number.at;
                let shown: String = number.digits.chars().take(32).collect();
                let (message, help) = match is_clear {
                    true => {
                        let message = format!("`0x{shown}` has {} digits, and a word has {word}", number.len);
                        (message, "numbers with more digits must be several whole words".to_owned())
                    }
                    false => {
                        let message = format!("`{shown}` has no `0x`, although other numbers here have it");
                        (message, format!("write `0x{shown}`, or all {word} digits of a word"))
                    }
                };
                return Err(Mistake { place: place(text, at), message, help });
            }
            let plain = || number.digits.chars().filter(|c| *c != '_');
            let padded = std::iter::repeat_n('0', unit.saturating_sub(number.len)).chain(plain());
            if turns && low.is_none() {
                low = Some(padded.collect());
                continue;
            }
            digits.extend(padded);
            digits.push_str(&low.take().unwrap_or_default());
            digits.push(' ');
        }
        digits.push('\n');
    }
    Ok(Numbers { digits, order, note: None })
}

/// The line and column of an offset.
pub fn place(text: &str, at: usize) -> Place {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Place::Text(line, column)
}

/// A text with plain blanks for every character of Unicode that is white space.
pub fn spaced(body: &[u8]) -> Cow<'_, [u8]> {
    if body.is_ascii() {
        return Cow::Borrowed(body);
    }
    let Ok(text) = std::str::from_utf8(body) else { return Cow::Borrowed(body) };
    let is_odd = |c: char| !c.is_ascii() && c.is_whitespace();
    if !text.contains(is_odd) {
        return Cow::Borrowed(body);
    }
    Cow::Owned(text.replace(is_odd, " ").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<String>, String> {
        let found = read(text, 16, None).expect("it is a text of numbers with `0x`");
        let found = found.map_err(|mistake| format!("{}: {}", mistake.place, mistake.message))?;
        Ok(found.digits.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn a_number_ends_with_its_digits() {
        assert_eq!(
            words("0x91c10000000002\n0xb4c00119c0c87cULL, 0X2").unwrap(),
            ["0091c10000000002", "00b4c00119c0c87c", "0000000000000002"]
        );
        assert_eq!(words("0x91c10000000002").unwrap(), ["0091c10000000002"]);
        assert_eq!(words("0x0091c100_00000002u64").unwrap(), ["0091c10000000002"]);
        assert_eq!(words("0x2, 0x91c100").unwrap(), ["0091c10000000002"]);
        assert_eq!(words("0x2, 0x0, 0, 0x0\n0, 0xc1 0x91 0x0").unwrap().join(""), "0200000000c19100");
    }

    #[test]
    fn numbers_of_the_same_length_are_joined() {
        assert_eq!(words("0x0091 0xc100 0000 0x0002").unwrap().join(""), "0091c10000000002");
        assert_eq!(words("0x0091c100 0x00000002").unwrap().join(""), "0091c10000000002");
    }

    #[test]
    fn numbers_that_are_no_words_have_a_place() {
        for (text, part) in [
            ("0x91c10000000002\n 0x10091c10000000002", "2:2: `0x10091c10000000002` has 17 digits"),
            ("0x91c10000000002, 145", "1:19: `145` has no `0x`"),
            ("0x2, 0x91c100, 0x3", "1:16: 3 numbers of at most 8 digits"),
            ("0x2, 0x0, 0xc1", "1:1: 3 numbers of at most 2 digits"),
            ("0x0091c100 0x00000002 0x00000004", "1:23: the last word has only 8 of 16"),
        ] {
            let error = words(text).unwrap_err();
            assert!(error.starts_with(part), "{text}: {error}");
        }
        assert!(read("0091c10000000002", 16, None).is_none() && read("0x2: 3", 16, None).is_none());
    }

    #[test]
    fn bytes_of_groups_are_not_joined_either() {
        let found = read("0x44 0xa0, 0x5\n0x0", 2, None).unwrap().unwrap();
        assert_eq!(found.digits, "44 a0 05 \n00 \n");
    }
}
