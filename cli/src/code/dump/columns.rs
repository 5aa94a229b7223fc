//! Reads dumps whose lines end in the characters of their bytes: `xxd`, `hexdump -C`, `objdump -s`, `readelf -x`.
//!
//! The characters say where the digits end, and often whether these are values.

use super::listing::digits;
use super::row::{Gap, Row, Token};
use crate::order::Order;

/// The maximum length of a line: that of 256 bytes, as many as `xxd` prints on one.
const MAX_LINE: usize = 2048;

/// Reads such a dump. `None` if the characters of a line are not those of its bytes.
pub(super) fn columns(text: &str) -> Option<Vec<Row>> {
    let (mut rows, mut gap): (Vec<Row>, Gap) = (Vec::new(), Gap::None);
    let (mut in_memory, mut as_values, mut is_plain) = (true, true, false);
    for line in text.lines().map(str::trim_start).filter(|line| !line.trim().is_empty()) {
        if line.trim_end() == "*" {
            gap = Gap::Repeated;
            continue;
        }
        let Some(Line { address, colon, tokens, characters }) = Line::of(line) else {
            if rows.is_empty() && !line.starts_with(|c: char| c.is_ascii_hexdigit()) {
                continue;
            }
            return None;
        };
        let bytes = |order: Order| {
            let bytes = tokens.iter().flat_map(move |token| {
                let value = token.value.to_le_bytes();
                (0..token.bytes).map(move |at| value[if order == Order::Value { at } else { token.bytes - 1 - at }])
            });
            bytes.collect::<Vec<u8>>()
        };
        in_memory &= is_shown(&bytes(Order::Memory), characters);
        as_values &= is_shown(&bytes(Order::Value), characters);
        // Only `xxd -e` prints values, by default of 32 bits.
        is_plain |= !colon || tokens.first().is_some_and(|token| token.bytes == 2);
        rows.push(Row { address, tokens, gap: std::mem::take(&mut gap) });
    }
    let order = match (in_memory, as_values) {
        (false, false) => return None,
        (true, true) if is_plain => Some(Order::Memory),
        (true, true) => None,
        (true, false) => Some(Order::Memory),
        (false, true) => Some(Order::Value),
    };
    rows.iter_mut()
        .flat_map(|row| &mut row.tokens)
        .filter(|token| token.bytes > 1)
        .for_each(|token| token.order = order);
    (gap == Gap::None && rows.iter().any(|row| !row.tokens.is_empty())).then_some(rows)
}

/// A line of a dump.
struct Line<'t> {
    address: u64,
    /// Whether a colon follows the address.
    colon: bool,
    tokens: Vec<Token>,
    characters: &'t str,
}

impl<'t> Line<'t> {
    /// `None` if there is not a character for each byte.
    fn of(line: &'t str) -> Option<Line<'t>> {
        if line.len() > MAX_LINE {
            return None;
        }
        let (address, rest) = digits(line)?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let colon = rest.starts_with(':');
        let mut rest = rest.strip_prefix(':').unwrap_or(rest);
        if rest.trim().is_empty() && !colon {
            return Some(Line { address, colon, tokens: Vec::new(), characters: "" });
        }
        if !rest.starts_with([' ', '\t']) {
            return None;
        }
        rest = rest.trim_start();
        let mut tokens = Vec::new();
        loop {
            let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            if !after.starts_with(' ') || !end.is_multiple_of(2) || end == 0 {
                return None;
            }
            let (value, bytes) = (u128::from_str_radix(number, 16).ok()?, end / 2);
            tokens.push(Token { value, bytes, order: (bytes == 1).then_some(Order::Memory) });
            let all = tokens.iter().map(|token| token.bytes).sum();
            if let Some(characters) = characters(after, all) {
                return Some(Line { address, colon, tokens, characters });
            }
            rest = after.trim_start_matches(' ');
        }
    }
}

/// The characters of this many bytes, behind their digits. Blanks at the end of a line may have been cut off.
fn characters(after: &str, bytes: usize) -> Option<&str> {
    let column = after.trim_start_matches(' ');
    let inside = column.strip_prefix('|').and_then(|column| column.trim_end().strip_suffix('|'));
    if let Some(inside) = inside.filter(|inside| inside.chars().count() == bytes) {
        return Some(inside);
    }
    match after.chars().count().checked_sub(bytes) {
        None | Some(0) => after.strip_prefix("  "),
        Some(gap) => after.get(..gap).filter(|gap| gap.trim_start_matches(' ').is_empty()).and(after.get(gap..)),
    }
}

/// Whether characters are those of bytes. Other bytes than letters, digits and signs are shown as a dot.
fn is_shown(bytes: &[u8], characters: &str) -> bool {
    let mut characters = characters.chars();
    bytes.iter().all(|byte| match characters.next() {
        Some('.') => !matches!(byte, b' ' | b'!'..=b'-' | b'/'..=b'~'),
        Some(character) => character == char::from(*byte),
        None => *byte == b' ',
    })
}
