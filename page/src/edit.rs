//! Changes an instruction of a program in its source, and nothing else there.

use std::ops::Range;

use isaforge_core::Tables;
use isaforge_core::assembly::Placed;
use isaforge_core::explain::hex;
use isaforge_core::program::ProgramError;

use crate::explain;
use crate::input::Digit;
use crate::json::Json;
use crate::program::{self, Listing};

/// A change of a text: what replaces a range of bytes.
struct Change {
    range: Range<usize>,
    text: String,
}

/// Answers with the change of the source that gives an instruction another code or text. The lines of the request are
/// the index of the instruction, its new code, its new text if that is what is known instead, and the source.
pub fn answer(tables: Tables, request: &str, swapped: Option<bool>, json: &mut Json) {
    let mut lines = request.splitn(4, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (index, code, text, source) = (next(), next(), next(), next());
    let change = program::list(tables, source, swapped).and_then(|listing| {
        let index = index.parse().ok().filter(|index| *index < listing.rows.len());
        let index = index.ok_or_else(|| problem("there is no such instruction".to_owned()))?;
        match &listing.digits {
            Some(digits) => in_digits(tables, &listing, digits, index, code, text, source),
            None => in_text(tables, &listing, index, code, text, source),
        }
    });
    json.object(|json| match change {
        Ok(change) => {
            let units = |end: usize| source.get(..end).unwrap_or(source).encode_utf16().count() as i64;
            json.field("from", |json| json.number(units(change.range.start)));
            json.field("to", |json| json.number(units(change.range.end)));
            json.field("text", |json| json.text(&change.text));
        }
        Err(errors) => program::write_errors(&errors, json),
    });
}

fn problem(message: String) -> Vec<ProgramError> {
    vec![ProgramError { line: 1, column: 1, len: 1, message, help: "change it in the source".to_owned() }]
}

/// The digits of code in memory order.
fn digits_of(tables: Tables, bytes: &[u8]) -> String {
    match tables {
        Tables::Words(_) => hex(&bytes.iter().rev().copied().collect::<Vec<u8>>()),
        _ => hex(bytes),
    }
}

/// The bytes of digits, in memory order.
fn bytes_of(tables: Tables, digits: &str) -> Vec<u8> {
    let mut bytes = explain::bytes(&format!("{digits:0>width$}", width = digits.len().next_multiple_of(2)));
    if let (Tables::Words(_), Some(bytes)) = (tables, &mut bytes) {
        bytes.reverse();
    }
    bytes.unwrap_or_default()
}

/// The code of assembly that stands alone.
fn assembled(tables: Tables, text: &str) -> Result<String, Vec<ProgramError>> {
    let read = tables.assemble(text);
    if read.errors.is_empty() { Ok(digits_of(tables, &read.bytes)) } else { Err(read.errors) }
}

fn in_digits(
    tables: Tables,
    listing: &Listing,
    digits: &[Digit],
    index: usize,
    code: &str,
    text: &str,
    source: &str,
) -> Result<Change, Vec<ProgramError>> {
    let code = if text.is_empty() { code.to_owned() } else { assembled(tables, text)? };
    let length = |row: &program::Row| row.code.len();
    let start: usize = listing.rows.iter().take(index).map(length).sum();
    let old = digits.get(start..start + length(&listing.rows[index])).unwrap_or_default();
    let new = match tables {
        // A word that is no whole number of bytes has a leading zero in memory.
        Tables::Words(_) => code.get(code.len().saturating_sub(old.len())..).unwrap_or_default(),
        _ => code.as_str(),
    };
    rewritten(source, old, new)
        .ok_or_else(|| problem("the instruction gets another length, for which this notation has no room".to_owned()))
}

/// Puts new digits where the old ones stand.
fn rewritten(source: &str, old: &[Digit], new: &str) -> Option<Change> {
    if new.len() != old.len() {
        let ascending = old.iter().all(|digit| digit.place.written)
            && old.windows(2).all(|pair| pair[0].place.at < pair[1].place.at);
        let (first, last) = (old.first()?.place.at, old.last()?.place.at);
        return ascending.then(|| Change { range: first..last + 1, text: new.to_owned() });
    }
    let mut digits: Vec<_> = old.iter().zip(new.chars()).map(|(digit, new)| (digit.place, new)).collect();
    // Leading zeros that were left out may stay so.
    if digits.iter().all(|(place, new)| place.written || *new == '0') {
        digits.retain(|(place, _)| place.written);
    }
    digits.sort_by_key(|(place, _)| *place);
    let start = digits.first()?.0.at;
    let (mut text, mut at) = (String::new(), start);
    for (place, digit) in digits {
        text.push_str(source.get(at..place.at)?);
        text.push(digit);
        at = place.at + usize::from(place.written);
    }
    Some(Change { range: start..at, text })
}

fn in_text(
    tables: Tables,
    listing: &Listing,
    index: usize,
    code: &str,
    text: &str,
    source: &str,
) -> Result<Change, Vec<ProgramError>> {
    let row = &listing.rows[index];
    let placed = tables.assemble(source).placed;
    let at = row.at as usize;
    let here = placed.iter().position(|placed| (placed.at..placed.at + placed.len).contains(&at));
    let here = here.ok_or_else(|| problem("the instruction has no line of its own".to_owned()))?;
    let whole = |change: &Change| {
        let (before, after) = (source.get(..change.range.start)?, source.get(change.range.end..)?);
        program::list(tables, &format!("{before}{}{after}", change.text), Some(false)).ok()
    };
    let ranges = [true, false].map(|semicolon| instruction(source, &placed, here, semicolon));
    if !text.is_empty() {
        // Labels are known within the program only.
        let mut changes = ranges.into_iter().flatten().map(|range| Change { range, text: text.to_owned() });
        return match changes.find(|change| whole(change).is_some_and(|new| new.rows.len() == listing.rows.len())) {
            Some(change) => Ok(change),
            None => {
                Err(assembled(tables, text).err().unwrap_or_else(|| problem("this is not one instruction".to_owned())))
            }
        };
    }
    // A line of bytes may be listed as several rows.
    let line = placed[here];
    let code = bytes_of(tables, code);
    let mut wanted = listing.bytes.get(line.at..line.at + line.len).unwrap_or_default().to_vec();
    let old = bytes_of(tables, &row.code).len();
    wanted.splice((at - line.at).min(wanted.len())..(at - line.at + old).min(wanted.len()), code);
    let digits = digits_of(tables, &wanted);
    let raw = match tables {
        Tables::Words(_) => format!(".word 0x{digits}"),
        _ => {
            let bytes: Vec<String> = wanted.iter().map(|byte| format!("{byte:#04x}")).collect();
            format!(".byte {}", bytes.join(", "))
        }
    };
    let printed = program::list(tables, &digits, Some(false)).ok().filter(|found| found.rows.len() == 1);
    let printed = printed.map(|mut found| found.rows.remove(0).text);
    let length = listing.bytes.len() - line.len + wanted.len();
    for text in printed.filter(|text| !text.is_empty()).into_iter().chain([raw]) {
        for range in ranges.iter().flatten() {
            let change = Change { range: range.clone(), text: text.clone() };
            // Not every text that is printed gives the same bits again.
            let same = |new: &Listing| new.bytes.get(line.at..).is_some_and(|bytes| bytes.starts_with(&wanted));
            if whole(&change).is_some_and(|new| new.bytes.len() == length && same(&new)) {
                return Ok(change);
            }
        }
    }
    Err(problem("no line of assembly has these bits".to_owned()))
}

/// Where an instruction stands in the source, without its labels and the comment behind it. `semicolon` tells whether
/// a semicolon starts a comment.
fn instruction(source: &str, placed: &[Placed], here: usize, semicolon: bool) -> Option<Range<usize>> {
    let first = placed.get(here)?.line;
    if here > 0 && placed[here - 1].line == first {
        return None;
    }
    let end = placed.get(here + 1).map_or(usize::MAX, |next| next.line);
    let mut found: Option<Range<usize>> = None;
    let mut start = 0;
    for (number, line) in source.split('\n').enumerate() {
        let part = unmarked(line, semicolon);
        if (first..end).contains(&number) {
            let is_label = line[part.clone()].is_empty();
            match &mut found {
                // A group may have several lines.
                Some(range) if is_label => return Some(range.clone()),
                Some(range) => range.end = start + part.end,
                None if is_label => {}
                None => found = Some(start + part.start..start + part.end),
            }
        }
        start += line.len() + 1;
    }
    found
}

/// The part of a line that is neither a label, nor a comment, nor blank.
fn unmarked(line: &str, semicolon: bool) -> Range<usize> {
    let hash = if line.trim_start().starts_with('#') { line.find('#') } else { line.find(" # ") };
    let comments = [line.find("//"), line.find(';').filter(|_| semicolon), hash];
    let end = comments.into_iter().flatten().min().unwrap_or(line.len());
    let mut rest = &line[..end];
    loop {
        let trimmed = rest.trim_start();
        let name = trimmed.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
        match name.trim_start().strip_prefix(':').filter(|_| name.len() < trimmed.len()) {
            Some(after) => rest = after,
            None => {
                let start = trimmed.as_ptr() as usize - line.as_ptr() as usize;
                return start..start + trimmed.trim_end().len();
            }
        }
    }
}
