//! Whole programs as text, with labels.
//!
//! ```text
//! 0 : first part of a group
//!     second part
//! l1:
//! 1 : a branch to l1
//! ```
//!
//! A line with a number and a colon starts a group, a line with a word and a colon is a label. What the last groups need
//! so that the program ends where it must is not written: it follows.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::group::encode::encode;
use crate::group::error::{BuildError, GroupError};
use crate::group::parse::{Assembled, TextError, TextReason, assemble};
use crate::group::program::{seal, target, walk};
use crate::group::table::GroupIsa;
use crate::group::text::{SEPARATOR, print};
use crate::group::value::{Form, Group};
use crate::text::Line;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingError {
    /// The line, from 1, on which the group or label starts.
    pub line: usize,
    /// What is wrong.
    pub reason: ListingReason,
}

/// What is wrong with a program's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListingReason {
    /// A group cannot be read.
    Text(TextError),
    /// A group cannot be encoded.
    Build(BuildError),
    /// There is no such label.
    Unknown(String),
    /// A label stands twice.
    Twice(String),
}

impl fmt::Display for ListingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.reason {
            ListingReason::Text(error) => error.fmt(f),
            ListingReason::Build(error) => error.fmt(f),
            ListingReason::Unknown(label) => write!(f, "there is no label `{label}`"),
            ListingReason::Twice(label) => write!(f, "the label `{label}` stands twice"),
        }
    }
}

impl core::error::Error for ListingError {}

/// The groups' lengths as the program needs them, from the lengths they have by themselves.
fn sealed(isa: &GroupIsa, mut lengths: Vec<usize>) -> Vec<usize> {
    let n = lengths.len();
    if n == 0 {
        return lengths;
    }
    let start: usize = lengths.iter().take(n.saturating_sub(2)).sum();
    let before = n.checked_sub(2).and_then(|i| lengths.get(i).copied());
    let last = lengths.last().copied().unwrap_or(0);
    let (before, last) = seal(isa, start, before, last);
    if let (Some(i), Some(before)) = (n.checked_sub(2), before)
        && let Some(place) = lengths.get_mut(i)
    {
        *place = before;
    }
    if let Some(place) = lengths.last_mut() {
        *place = last;
    }
    lengths
}

/// Writes a program.
///
/// # Errors
/// The offset of the first bytes that are no group, and why.
pub fn disassemble(isa: &GroupIsa, bytes: &[u8]) -> Result<String, (usize, GroupError)> {
    let mut groups = Vec::new();
    for (at, group) in walk(isa, bytes) {
        groups.push((at, group.map_err(|error| (at, error))?));
    }
    let shortest =
        |group: &Group| encode(isa, &group.values(isa), &Form { length: 0, ..group.form() }).unwrap_or(*group);
    let plain: Vec<Group> = groups.iter().map(|(_, g)| shortest(g)).collect();
    let natural = sealed(isa, plain.iter().map(Group::len).collect());
    let starts: Vec<usize> = groups.iter().map(|(at, _)| *at).collect();
    let label =
        |to: i64| usize::try_from(to).ok().and_then(|to| starts.binary_search(&to).ok()).map(|i| format!("l{i}"));
    let targets: Vec<Option<String>> = groups.iter().map(|(at, g)| target(isa, g, *at).and_then(label)).collect();
    let mut out = String::new();
    for (i, (_, group)) in groups.iter().enumerate() {
        let name = format!("l{i}");
        if targets.iter().flatten().any(|t| *t == name) {
            out.push_str(&name);
            out.push_str(":\n");
        }
        let mut line = Line::new();
        let follows = natural.get(i) == Some(&group.len());
        print(isa, if follows { plain.get(i).unwrap_or(group) } else { group }, SEPARATOR, &mut line);
        let mut text = line.as_str().to_string();
        if let Some(label) = targets.get(i).and_then(Option::as_ref) {
            text = with_label(isa, group, &text, label);
        }
        let head = format!("{i} : ");
        let gap = format!("\n{:width$}", "", width = head.len());
        out.push_str(&head);
        out.push_str(&text.replace(SEPARATOR, &gap));
        out.push('\n');
    }
    Ok(out)
}

/// A branch's text with a label in the place of its offset.
fn with_label(isa: &GroupIsa, group: &Group, text: &str, label: &str) -> String {
    let Some(found) = isa.program.targets.iter().find(|t| group.has(t.slot as usize)) else { return text.to_string() };
    let offset = group.get(isa, found.slot as usize, found.field as usize).to_string();
    let replace = |part: &str| match part.strip_suffix(&offset) {
        Some(before) if before.ends_with(' ') => format!("{before}{label}"),
        _ => part.to_string(),
    };
    let parts: Vec<String> = text.split(SEPARATOR).map(replace).collect();
    parts.join(SEPARATOR)
}

/// A group of a text, with the label that it branches to.
struct Part {
    line: usize,
    text: String,
    label: Option<String>,
}

/// Reads a program.
///
/// # Errors
/// The first line that is wrong.
pub fn assemble_program(isa: &GroupIsa, text: &str) -> Result<Vec<u8>, ListingError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut labels: Vec<(String, usize)> = Vec::new();
    let fail = |line: usize, reason: ListingReason| ListingError { line, reason };
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        let head = code.split_once(':').map(|(head, rest)| (head.trim(), rest.trim()));
        match head {
            Some((name, "")) if is_label(name) => {
                if labels.iter().any(|(known, _)| known == name) {
                    return Err(fail(number + 1, ListingReason::Twice(name.to_string())));
                }
                labels.push((name.to_string(), parts.len()));
            }
            Some((index, rest)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
                parts.push(Part { line: number + 1, text: rest.to_string(), label: None });
            }
            _ if code.trim().is_empty() => {}
            _ => match parts.last_mut() {
                Some(part) => {
                    part.text.push('\n');
                    part.text.push_str(code);
                }
                None => parts.push(Part { line: number + 1, text: code.to_string(), label: None }),
            },
        }
    }
    let mut read: Vec<Assembled> = Vec::new();
    for part in &mut parts {
        take_label(part, &labels);
        let group = assemble(isa, &part.text).map_err(|error| {
            match undefined(&part.text).filter(|_| error.reason == TextReason::Operands) {
                // What a branch leads to is no number: a label that nothing defines.
                Some(label) => fail(part.line, ListingReason::Unknown(label)),
                None => fail(part.line, ListingReason::Text(error)),
            }
        })?;
        read.push(group);
    }
    let mut lengths = Vec::new();
    for (part, group) in parts.iter().zip(&read) {
        lengths.push(group.encode(isa).map_err(|error| fail(part.line, ListingReason::Build(error)))?.len());
    }
    let lengths = sealed(isa, lengths);
    let mut bytes = Vec::new();
    for (i, (part, group)) in parts.iter().zip(&mut read).enumerate() {
        if let Some(label) = &part.label {
            let to = labels.iter().find(|(name, _)| name == label).map_or(0, |(_, index)| *index);
            let to: usize = lengths.iter().take(to).sum();
            for target in isa.program.targets {
                if !group.values.has(target.slot as usize) {
                    continue;
                }
                let absolute = group.values.get(isa, target.slot as usize, target.absolute as usize) != 0;
                let offset = to as i64 - if absolute { 0 } else { bytes.len() as i64 };
                group.values.set(isa, target.slot as usize, target.field as usize, offset);
            }
        }
        group.form.length = lengths.get(i).copied().unwrap_or(0).try_into().unwrap_or(0);
        let group = group.encode(isa).map_err(|error| fail(part.line, ListingReason::Build(error)))?;
        bytes.extend_from_slice(group.as_bytes());
    }
    Ok(bytes)
}

fn is_label(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Puts 0 in the place of a label at the end of a line.
fn take_label(part: &mut Part, labels: &[(String, usize)]) {
    let mut lines: Vec<String> = Vec::new();
    for line in part.text.split('\n') {
        let trimmed = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '}'));
        let last = trimmed.rsplit(char::is_whitespace).next().unwrap_or_default();
        if trimmed.trim_start() != last && labels.iter().any(|(name, _)| name == last) && part.label.is_none() {
            part.label = Some(last.to_string());
            lines.push(format!("{}0", trimmed.strip_suffix(last).unwrap_or(trimmed)));
        } else {
            lines.push(line.to_string());
        }
    }
    part.text = lines.join("\n");
}

/// The last word of a group's last line, if it looks like a label.
fn undefined(text: &str) -> Option<String> {
    let line = text.trim_end().rsplit('\n').next()?.trim();
    let (before, last) = line.rsplit_once(char::is_whitespace)?;
    let name = last.trim_end_matches(';');
    (!before.ends_with(',') && is_label(name)).then(|| name.to_string())
}
