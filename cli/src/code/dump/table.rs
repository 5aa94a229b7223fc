//! Reads lines of numbers of one size. Nothing in them shows whether the first number of each line counts lines or
//! bytes, nor whether the others are decimal, so there may be several readings.

use super::Dump;
use super::row::{Gap, Row, Rows, Token};
use crate::numbers::without_suffix;
use crate::order::Order;

/// A reading of a table.
pub struct Table {
    /// Its digits.
    pub dump: Dump,
    /// Whether the first number of each line is left out.
    pub is_counted: bool,
    /// Whether the numbers are decimal bytes.
    pub is_decimal: bool,
}

/// The readings of a text other than that of all its digits, the ones that leave out the least first.
pub fn tables(text: &str) -> Vec<Table> {
    let Some(lines) = lines(text) else { return Vec::new() };
    let ways = [(false, true), (true, false), (true, true)];
    let table = |(is_counted, is_decimal)| {
        let rows = if is_counted { counted(&lines, is_decimal)? } else { all(&lines, is_decimal)? };
        let dump = Dump::of_rows(Rows { rows, ..Rows::default() }).filter(|dump| !dump.tokens.is_empty())?;
        Some(Table { dump, is_counted, is_decimal })
    };
    ways.into_iter().filter_map(table).collect()
}

/// The numbers of a line; `None` for a `*`, which stands for lines like the one before.
type Line<'t> = Option<Vec<&'t str>>;

/// The lines of a text. Nothing if it has anything but numbers.
fn lines(text: &str) -> Option<Vec<Line<'_>>> {
    let is_comment = |line: &&str| ["//", "#"].iter().any(|mark| line.starts_with(mark));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    lines.map(|line| if line == "*" { Some(None) } else { numbers(line).map(Some) }).collect()
}

fn numbers(line: &str) -> Option<Vec<&str>> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let numbers = line.split(is_between).filter(|number| !number.is_empty());
    numbers.map(|number| without_suffix(number).map(|(digits, _)| digits)).collect()
}

/// All numbers of the lines.
fn all(lines: &[Line<'_>], is_decimal: bool) -> Option<Vec<Row>> {
    let row = |line: &Line<'_>| {
        let tokens = line.as_ref()?.iter().map(|number| token(number, is_decimal)).collect::<Option<_>>()?;
        Some(Row { address: 0, tokens, gap: Gap::None })
    };
    one_size(lines.iter().map(row).collect::<Option<_>>()?)
}

/// The numbers behind the first of each line, if the first ones are addresses or ascend in another way.
fn counted(lines: &[Line<'_>], is_decimal: bool) -> Option<Vec<Row>> {
    // In decimal, `od` prints bytes, with addresses in octal.
    let radixes = if is_decimal { [8, 10, 16] } else { [16, 10, 8] };
    radixes.into_iter().find_map(|radix| {
        let (mut rows, mut gap): (Vec<Row>, Gap) = (Vec::new(), Gap::None);
        // The last line may be the address of the end.
        let last = lines.len().checked_sub(1)?;
        let (mut is_addressed, mut has_gaps) = (true, false);
        for (at, line) in lines.iter().enumerate() {
            let Some((first, numbers)) = line.as_ref().and_then(|line| line.split_first()) else {
                (gap, has_gaps) = (Gap::Repeated, true);
                continue;
            };
            if numbers.is_empty() && (at < last || rows.is_empty()) {
                return None;
            }
            let address = u64::from_str_radix(first, radix).ok()?;
            let tokens = numbers.iter().map(|number| token(number, is_decimal)).collect::<Option<Vec<_>>>()?;
            if let Some(last) = rows.last() {
                let bytes = last.tokens.iter().map(|token| token.bytes as u64).sum();
                let end = last.address.checked_add(bytes)?;
                is_addressed &= if gap == Gap::None { address == end } else { address > end };
                if address <= last.address {
                    return None;
                }
            }
            rows.push(Row { address, tokens, gap: std::mem::take(&mut gap) });
        }
        (is_addressed || !has_gaps && radix != 8).then_some(())?;
        one_size(rows)
    })
}

/// The lines, if all of their numbers have the same size.
fn one_size(rows: Vec<Row>) -> Option<Vec<Row>> {
    let mut sizes = rows.iter().flat_map(|row| &row.tokens).map(|token| token.bytes);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(rows)
}

/// A number: a decimal byte, or hexadecimal digits.
fn token(number: &str, is_decimal: bool) -> Option<Token> {
    if is_decimal {
        let value: u8 = number.parse().ok()?;
        return Some(Token { value: value.into(), bytes: 1, order: Some(Order::Memory) });
    }
    let digits = number.replace('_', "");
    let bytes = digits.len().is_multiple_of(2).then_some(digits.len() / 2).filter(|bytes| *bytes <= 16)?;
    let order = (bytes == 1).then_some(Order::Memory);
    Some(Token { value: u128::from_str_radix(&digits, 16).ok()?, bytes, order })
}
