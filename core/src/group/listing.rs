//! Whole programs as text, with labels.
//!
//! ```text
//! 0 : first part of a group
//!     second part
//! l1:
//! 1 : a branch to l1
//! 2 : .byte 0x00 0xff   # bytes that are no group
//! ```
//!
//! A line with a number and a colon starts a group; a line with a word and a colon is a label. In a text without
//! numbers, every line is a group if any line contains `|`; otherwise the whole text is a single group. Padding that
//! the end of a program requires in its last groups is implied and not written.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::assembly::{Assembly, Label, Placed};
use crate::group::encode::encode;
use crate::group::error::GroupError;
use crate::group::parse::{Assembled, TextError, TextReason, assemble};
use crate::group::program::{branch, extent, is_last, seal, target};
use crate::group::table::{GroupIsa, MAX_BYTES};
use crate::group::text::{SEPARATOR, print_sized};
use crate::group::value::{Form, Group};
use crate::number;
use crate::program::ProgramError;
use crate::suggest::nearest;
use crate::text::Line;

/// The maximum number of errors that get a suggestion.
const HELPED: usize = 100;
/// The maximum number of lines of a group that are searched for a label; no group is written in more.
const MAX_ROWS: usize = 256;
/// Introduces a line of bytes that are not a group.
const BYTES: &str = ".byte";

/// A group, or bytes that are not a group.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The offset of its first byte.
    pub at: usize,
    /// Its length in bytes.
    pub len: usize,
    /// The group, or the error.
    pub group: Result<Group, GroupError>,
}

/// Splits bytes into consecutive groups. The end of a program does not stop it.
///
/// Bytes that are not a group extend as far as their header says, but never beyond their line: for bytes that come from
/// text, `lines` are the offsets at which lines start. If a line of at most [`MAX_BYTES`] bytes does not start with a
/// group, all of it is one piece.
pub fn pieces<'a>(isa: &'a GroupIsa, bytes: &'a [u8], lines: &'a [usize]) -> impl Iterator<Item = Piece> + use<'a> {
    let (mut at, mut next) = (0, 0);
    core::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        while lines.get(next).is_some_and(|line| *line <= at) {
            next += 1;
        }
        let end = lines.get(next).map_or(bytes.len(), |line| *line).min(bytes.len());
        let starts = next.checked_sub(1).and_then(|i| lines.get(i)) == Some(&at);
        let line = bytes.get(at..end).unwrap_or_default();
        let alone = starts && line.len() <= MAX_BYTES;
        let whole = decode_whole(isa, line).filter(|_| alone);
        let group = whole.map_or_else(|| crate::group::decode::decode(isa, rest), Ok);
        let len = match &group {
            Ok(group) => group.len(),
            Err(_) if alone => line.len(),
            Err(_) => extent(isa, rest).min(line.len()),
        };
        let piece = Piece { at, len: len.max(1), group };
        at += piece.len;
        Some(piece)
    })
}

fn decode_whole(isa: &GroupIsa, line: &[u8]) -> Option<Group> {
    crate::group::decode::decode(isa, line).ok().filter(|group| group.len() == line.len())
}

/// The length of each group, including the padding that the program's end requires.
///
/// Takes the length of each group by itself, with whether it may change, and whether the last group ends a program.
fn sealed(isa: &GroupIsa, lengths: &[(usize, bool)], ends: bool) -> Vec<usize> {
    let mut sealed: Vec<usize> = lengths.iter().map(|(length, _)| *length).collect();
    let n = lengths.len();
    let free = |i: usize| lengths.get(i).is_some_and(|(_, free)| *free);
    if n == 0 || !ends {
        return sealed;
    }
    let start: usize = sealed.iter().take(n.saturating_sub(2)).sum();
    let before = n.checked_sub(2);
    let (first, last) =
        seal(isa, start, before.and_then(|i| sealed.get(i).copied()), sealed.last().copied().unwrap_or(0));
    if let (Some(i), Some(first)) = (before.filter(|i| free(*i)), first)
        && first <= usize::from(isa.longest)
    {
        sealed[i] = first;
    }
    if free(n - 1) {
        sealed[n - 1] = last;
    }
    sealed
}

/// Prints a program. Bytes that are not a group are printed as bytes, with the reason in a comment.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::listing::{assemble_program, disassemble};
/// use isaforge_usc::ISA;
///
/// let program = [0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00];
/// let text = disassemble(ISA, &program);
/// assert_eq!(assemble_program(ISA, &text), Ok(program.to_vec()));
/// ```
pub fn disassemble(isa: &GroupIsa, bytes: &[u8]) -> String {
    write(isa, bytes, 0, &pieces(isa, bytes, &[]).collect::<Vec<_>>())
}

/// Prints the [`pieces`] of a program whose first byte has the address `base`, which matters to branches with absolute
/// targets.
pub fn write(isa: &GroupIsa, bytes: &[u8], base: u64, pieces: &[Piece]) -> String {
    let shortest = |group: &Group| {
        let form = Form { length: 0, ..group.form() };
        encode(isa, &group.values(isa), &form).map_or(group.len(), |group| group.len())
    };
    let lengths: Vec<(usize, bool)> = pieces
        .iter()
        .map(|piece| piece.group.as_ref().map_or((piece.len, false), |group| (shortest(group), true)))
        .collect();
    let ends = pieces.last().is_some_and(|p| p.group.as_ref().is_ok_and(|g| is_last(isa, g)));
    let lengths = sealed(isa, &lengths, ends);
    let place = |piece: &Piece| {
        let address = usize::try_from(base).ok()?.checked_add(piece.at)?;
        let to = u64::try_from(target(isa, piece.group.as_ref().ok()?, address)?).ok()?.checked_sub(base)?;
        pieces.binary_search_by_key(&to, |piece| piece.at as u64).ok()
    };
    let mut line = Line::new();
    let mut labels: BTreeSet<usize> = BTreeSet::new();
    let mut texts: Vec<Result<String, GroupError>> = Vec::new();
    for (piece, implied) in pieces.iter().zip(lengths.into_iter().chain(core::iter::repeat(0))) {
        texts.push(piece.group.map(|group| {
            line.clear();
            print_sized(isa, &group, implied.try_into().unwrap_or(0), SEPARATOR, &mut line);
            let text = line.as_str().to_string();
            let labelled = place(piece).and_then(|to| Some((to, with_label(isa, &group, &text, &format!("l{to}"))?)));
            labels.extend(labelled.as_ref().map(|(to, _)| *to));
            labelled.map_or(text, |(_, text)| text)
        }));
    }
    let mut out = String::new();
    for (i, (piece, text)) in pieces.iter().zip(&texts).enumerate() {
        if labels.contains(&i) {
            out.push_str(&format!("l{i}:\n"));
        }
        let head = format!("{i} : ");
        out.push_str(&head);
        match text {
            Ok(text) => {
                let gap = format!("\n{:width$}", "", width = head.len());
                out.push_str(&text.replace(SEPARATOR, &gap));
            }
            Err(error) => {
                out.push_str(BYTES);
                for byte in bytes.get(piece.at..piece.at + piece.len).unwrap_or_default() {
                    out.push_str(&format!(" {byte:#04x}"));
                }
                out.push_str(&format!("   # {error}"));
            }
        }
        out.push('\n');
    }
    out
}

/// Replaces the offset in a branch's text with a label. `None` if it is not the last word of an operation.
fn with_label(isa: &GroupIsa, group: &Group, text: &str, label: &str) -> Option<String> {
    let (slot, field) = branch(isa, group).map(|found| (found.slot.into(), found.field.into()))?;
    let offset = group.get(isa, slot, field).to_string();
    let parts: Vec<&str> = text.split(SEPARATOR).collect();
    let with = |number: usize, before: &str, word: &str| {
        let replaced = |(index, part): (usize, &&str)| {
            if index == number { format!("{before}{word}") } else { (*part).to_string() }
        };
        parts.iter().enumerate().map(replaced).collect::<Vec<_>>().join(SEPARATOR)
    };
    let ends = parts.iter().enumerate().filter_map(|(number, part)| Some((number, part.strip_suffix(&offset)?)));
    let mut ends = ends.filter(|(_, before)| before.ends_with(' '));
    // Other operations may end with the same number: another one in its place has to change the target.
    let other = if offset == "0" { i64::from(isa.unit) } else { 0 };
    let is_target = |(number, before): &(usize, &str)| {
        let read = assemble(isa, &with(*number, before, &other.to_string()));
        read.is_ok_and(|read| read.values.has(slot) && read.values.get(isa, slot, field) == other)
    };
    ends.find(is_target).map(|(number, before)| with(number, before, label))
}

/// A line of a group's text, or the rest of one.
struct Row<'t> {
    /// The line number, from 0.
    number: usize,
    /// The whole line.
    full: &'t str,
    /// The offset in the line at which the text of the group starts.
    from: usize,
}

impl Row<'_> {
    fn text(&self) -> &str {
        self.full.get(self.from..).unwrap_or_default()
    }
}

/// The text of a group.
struct Part<'t> {
    rows: Vec<Row<'t>>,
}

/// A parsed part.
enum Read<'t> {
    Bytes(Vec<u8>),
    Group { read: Box<Assembled>, label: Option<&'t str> },
}

impl<'t> Part<'t> {
    /// The text, with the last word of one row replaced. The row is identified by address, since other rows may end
    /// with the same word.
    fn text(&self, replaced: Option<(&str, &str)>) -> String {
        let rows = self.rows.iter().map(|row| match replaced {
            Some((word, by)) if core::ptr::eq(last_word(row.text()), word) => {
                let start = word.as_ptr() as usize - row.text().as_ptr() as usize;
                let (before, after) = (row.text().get(..start), row.text().get(start + word.len()..));
                format!("{}{by}{}", before.unwrap_or_default(), after.unwrap_or_default())
            }
            _ => row.text().to_string(),
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    /// An error at an offset into [`text`](Part::text).
    fn mistake(&self, at: usize, len: usize, message: String, help: String) -> ProgramError {
        let mut start = 0;
        for row in &self.rows {
            let end = start + row.text().len();
            if at <= end {
                return place(row, at - start, len, message, help);
            }
            start = end + 1;
        }
        match self.rows.first() {
            Some(row) => place(row, 0, 1, message, help),
            None => ProgramError { line: 1, column: 1, len: 1, message, help },
        }
    }

    /// An error about the whole part.
    fn whole(&self, message: String, help: String) -> ProgramError {
        let first = self.rows.iter().find(|row| !row.text().trim().is_empty()).or(self.rows.first());
        match first {
            Some(row) => {
                let text = row.text().split('#').next().unwrap_or_default();
                let at = text.len() - text.trim_start().len();
                place(row, at, text.trim().len(), message, help)
            }
            None => self.mistake(0, 1, message, help),
        }
    }

    /// `helped` tells whether an error gets a suggestion, which takes longer to find than the error.
    fn read(&self, isa: &GroupIsa, labels: &BTreeMap<&'t str, usize>, helped: bool) -> Result<Read<'t>, ProgramError> {
        let text = self.text(None);
        let code = text.split('#').next().unwrap_or_default().trim();
        if let Some(list) = code.strip_prefix(BYTES).filter(|rest| rest.starts_with(char::is_whitespace)) {
            let help = "numbers up to 255, such as `.byte 0x0f 0xff`";
            return byte_list(list)
                .map(Read::Bytes)
                .ok_or_else(|| self.whole("these are not bytes".to_string(), help.to_string()));
        }
        let error = match assemble(isa, &text) {
            Ok(read) => return Ok(Read::Group { read: Box::new(read), label: None }),
            Err(error) => error,
        };
        // The last word of a branch may be a label, and a label may have any name.
        for row in self.rows.iter().take(MAX_ROWS) {
            let word = last_word(row.full);
            if !is_label(word) || row.text().trim_start().starts_with(word) {
                continue;
            }
            let known = labels.get_key_value(word);
            // An operation that starts with an optional word is not known by its first word alone.
            if error.reason != TextReason::Operands && known.is_none() {
                continue;
            }
            let with_zero = assemble(isa, &self.text(Some((last_word(row.text()), "0"))));
            let Ok(read) = with_zero else { continue };
            if !isa.program.targets.iter().any(|t| read.values.has(t.slot.into())) {
                continue;
            }
            return match known {
                Some((label, _)) => Ok(Read::Group { read: Box::new(read), label: Some(label) }),
                None => {
                    let at = word.as_ptr() as usize - row.full.as_ptr() as usize - row.from;
                    let near = if helped { nearest(word, labels.keys().copied()) } else { None };
                    let help = near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
                    Err(place(row, at, word.len(), format!("there is no label `{word}`"), help))
                }
            };
        }
        Err(self.located(isa, &error, helped))
    }

    fn located(&self, isa: &GroupIsa, error: &TextError, helped: bool) -> ProgramError {
        let help = if helped { error.help(isa).to_string() } else { String::new() };
        self.mistake(error.at, error.len, error.to_string(), help)
    }
}

fn place(row: &Row<'_>, at: usize, len: usize, message: String, help: String) -> ProgramError {
    let at = row.from + at;
    let before = row.full.get(..at).unwrap_or(row.full).chars().count();
    let under = row.full.get(at..(at + len).min(row.full.len())).unwrap_or_default().chars().count();
    ProgramError { line: row.number + 1, column: before + 1, len: under.max(1), message, help }
}

/// The last word of a line, without framing characters and comments.
fn last_word(line: &str) -> &str {
    let code = line.split('#').next().unwrap_or_default();
    let code = code.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '}'));
    code.rsplit(char::is_whitespace).next().unwrap_or_default()
}

fn byte_list(list: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for byte in list.split([',', ' ', '\t', '\n']).filter(|n| !n.is_empty()) {
        bytes.push(number::parse(byte)?.try_into().ok()?);
    }
    (!bytes.is_empty()).then_some(bytes)
}

fn is_label(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Strips a number and a colon from the start of a line.
fn heading(code: &str) -> Option<&str> {
    let (number, rest) = code.split_once(':')?;
    let number = number.trim();
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// Splits a text into groups and labels.
fn parts<'t>(text: &'t str, found: &mut Assembly) -> (Vec<Part<'t>>, BTreeMap<&'t str, usize>) {
    let code_of = |line: &'t str| line.split('#').next().unwrap_or_default();
    let numbered = text.lines().any(|line| heading(code_of(line)).is_some());
    let line_by_line = !numbered && text.lines().any(|line| code_of(line).contains('|'));
    let (mut parts, mut labels): (Vec<Part<'t>>, BTreeMap<&str, usize>) = (Vec::new(), BTreeMap::new());
    // Whether the next line starts a group even without a number.
    let mut fresh = true;
    for (number, full) in text.lines().enumerate() {
        let code = code_of(full);
        let label = code.trim().strip_suffix(':').map(str::trim_end).filter(|name| is_label(name));
        if let Some(name) = label {
            let row = Row { number, full, from: 0 };
            found.labels.push(Label::new(full, number, name));
            if labels.insert(name, parts.len()).is_some() {
                let at = full.len() - full.trim_start().len();
                found.errors.push(place(
                    &row,
                    at,
                    name.len(),
                    format!("the label `{name}` is defined twice"),
                    String::new(),
                ));
            }
            fresh = true;
        } else if let Some(rest) = heading(code) {
            let from = code.len() - rest.len();
            parts.push(Part { rows: alloc::vec![Row { number, full, from }] });
            fresh = false;
        } else if !code.trim().is_empty() {
            let row = Row { number, full, from: 0 };
            let bytes = code.trim_start().starts_with(BYTES);
            match parts.last_mut().filter(|_| !fresh && !bytes && !line_by_line) {
                Some(part) => part.rows.push(row),
                None => parts.push(Part { rows: alloc::vec![row] }),
            }
            fresh = bytes;
        }
    }
    (parts, labels)
}

/// Assembles a program.
///
/// # Errors
/// All errors in the text, in order.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::listing::assemble_program;
/// use isaforge_usc::ISA;
///
/// let program = assemble_program(ISA, "0 : byp.imm16 ft0, ft1, c0, 0x0\n    byp ft2, _\n    cbs ft3, _\n");
/// assert_eq!(program, Ok([0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00].to_vec()));
/// ```
pub fn assemble_program(isa: &GroupIsa, text: &str) -> Result<Vec<u8>, Vec<ProgramError>> {
    let read = read_program(isa, text, 0);
    if read.errors.is_empty() { Ok(read.bytes) } else { Err(read.errors) }
}

/// Assembles the parts of a program at `base` that are groups, with the position of each, and collects all errors in
/// order.
pub(crate) fn read_program(isa: &GroupIsa, text: &str, base: u64) -> Assembly {
    let mut whole = Assembly::default();
    let (parts, labels) = parts(text, &mut whole);
    // A part with an error is `None` and has no bytes.
    let mut read: Vec<(&Part<'_>, Option<Read<'_>>, usize, bool)> = Vec::new();
    let mut ends = false;
    for part in &parts {
        let found = match part.read(isa, &labels, whole.errors.len() < HELPED) {
            Ok(found) => found,
            Err(error) => {
                whole.errors.push(error);
                read.push((part, None, 0, false));
                continue;
            }
        };
        let (length, free) = match &found {
            Read::Bytes(bytes) => {
                ends = false;
                (bytes.len(), false)
            }
            Read::Group { read: assembled, .. } => match assembled.encode(isa) {
                Ok(group) => {
                    ends = is_last(isa, &group);
                    (group.len(), assembled.form.length == 0)
                }
                Err(error) => {
                    whole.errors.push(part.whole(error.to_string(), String::new()));
                    read.push((part, None, 0, false));
                    continue;
                }
            },
        };
        read.push((part, Some(found), length, free));
    }
    let lengths: Vec<(usize, bool)> = read.iter().map(|(_, _, length, free)| (*length, *free)).collect();
    let lengths = sealed(isa, &lengths, ends);
    let starts: Vec<usize> = lengths.iter().scan(0, |at, length| Some(core::mem::replace(at, *at + length))).collect();
    let total: usize = lengths.iter().sum();
    // A missing part shifts all following parts, so further errors would be misleading.
    let complete = whole.errors.is_empty();
    for (i, (part, found, ..)) in read.into_iter().enumerate() {
        let at = whole.bytes.len();
        match found {
            None => continue,
            Some(Read::Bytes(list)) => whole.bytes.extend_from_slice(&list),
            Some(Read::Group { read: mut group, label }) => {
                if let Some(to) = label.and_then(|label| labels.get(label)) {
                    let to = starts.get(*to).copied().unwrap_or(total);
                    for target in isa.program.targets {
                        if !group.values.has(target.slot.into()) {
                            continue;
                        }
                        let absolute = group.values.get(isa, target.slot.into(), target.absolute.into()) != 0;
                        let offset = to as i64 + if absolute { base as i64 } else { -(at as i64) };
                        group.values.set(isa, target.slot.into(), target.field.into(), offset);
                    }
                }
                group.form.length = lengths.get(i).copied().unwrap_or(0).try_into().unwrap_or(0);
                match group.encode(isa) {
                    Ok(group) => whole.bytes.extend_from_slice(group.as_bytes()),
                    Err(error) if complete => {
                        whole.errors.push(part.whole(error.to_string(), String::new()));
                        continue;
                    }
                    Err(_) => continue,
                }
            }
        }
        let line = part.rows.first().map_or(0, |row| row.number);
        whole.placed.push(Placed { line, at, len: whole.bytes.len() - at });
    }
    whole.errors.sort_by_key(|e| (e.line, e.column));
    whole
}
