//! Parses lines of JSON to records with their places.

use serde::Deserialize;

use super::generation::Generation;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};

/// The raw contents of a line.
#[derive(Deserialize)]
struct Line {
    name: String,
    #[serde(rename = "Inst")]
    inst: String,
    #[serde(rename = "Size")]
    size: String,
    #[serde(rename = "DecoderNamespace")]
    table: String,
    #[serde(rename = "OutOperandList")]
    outs: String,
    #[serde(rename = "InOperandList")]
    ins: String,
    #[serde(rename = "AsmString")]
    text: String,
    /// The predicate that a processor must satisfy.
    #[serde(rename = "SubtargetPredicate", default)]
    predicate: String,
    /// `1` for an instruction that may branch.
    #[serde(rename = "isBranch", default)]
    branches: String,
    /// `1` for an instruction after which another one does not simply follow.
    #[serde(rename = "isTerminator", default)]
    terminates: String,
    /// Pairs of operands in the same registers, such as `$vdst = $vdst_in`.
    #[serde(rename = "Constraints", default)]
    constraints: String,
}

/// A bit of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// A constant.
    Is(bool),
    /// Ignored by a decoder, 0 for an encoder.
    Open,
    /// A bit of an operand.
    Of(String, u8),
}

/// An operand: name and class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub name: String,
    pub class: String,
}

/// An instruction in one encoding.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: String,
    /// The line.
    pub span: Span,
    /// The value of `AsmString` in the line.
    pub text_span: Span,
    /// The text with `$operand`, without quotes.
    pub text: String,
    /// The bits, lowest first.
    pub bits: Vec<Bit>,
    /// The decoder table, as an index into the tables of the generation.
    pub table: usize,
    /// The operands it writes.
    pub outs: Vec<Operand>,
    /// The operands it reads.
    pub ins: Vec<Operand>,
    /// Pairs of operands in the same registers.
    pub tied: Vec<(String, String)>,
    /// Whether it may branch.
    pub branches: bool,
    /// Whether another instruction does not simply follow.
    pub terminates: bool,
}

impl Record {
    /// The mnemonic, and the text after it.
    pub fn split(&self) -> (&str, &str) {
        let end = self.text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.text.len());
        self.text.split_at(end)
    }

    /// The class of an operand; results take precedence.
    pub fn class(&self, name: &str) -> Option<&str> {
        self.outs.iter().chain(&self.ins).find(|operand| operand.name == name).map(|operand| &operand.class[..])
    }

    /// The positions of an operand's bits: pairs of a bit of the operand and a bit of the instruction, ordered by the
    /// former.
    pub fn places(&self, name: &str) -> Vec<(u8, u8)> {
        let of = |(at, bit): (usize, &Bit)| match bit {
            Bit::Of(operand, index) if operand == name => Some((*index, at as u8)),
            _ => None,
        };
        let mut places: Vec<_> = self.bits.iter().enumerate().filter_map(of).collect();
        places.sort_unstable();
        places
    }

    /// The position of one bit of an operand.
    pub fn place(&self, name: &str, index: u8) -> Option<u8> {
        self.bits
            .iter()
            .position(|bit| matches!(bit, Bit::Of(operand, i) if operand == name && *i == index))
            .map(|at| at as u8)
    }
}

/// The records of a generation, in document order.
pub(super) fn read(text: &str, file: FileId, generation: &Generation, out: &mut Diagnostics) -> Option<Vec<Record>> {
    let mut records = Vec::new();
    let mut complete = true;
    let mut start = 0;
    // Most lines belong to other generations and need not be parsed.
    let marks: Vec<String> =
        generation.tables.iter().map(|table| format!(r#""DecoderNamespace":"\"{table}\"""#)).collect();
    for line in text.split_inclusive('\n') {
        let span = Span::new(file, start..start + line.trim_end().len());
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let table = marks.iter().position(|mark| line.contains(mark));
        let other = table.is_none() && line.contains(r#""DecoderNamespace":"\""#) && line.trim_end().ends_with('}');
        if other {
            continue;
        }
        let found = serde_json::from_str::<Line>(line).map_err(|error| {
            let at = error.column().saturating_sub(1).min(line.len());
            (span.slice(at..at + 1), format!("this line is not a record: {error}"))
        });
        let found = found.and_then(|line_of| {
            if !generation.has(&line_of.predicate) || !generation.has(&line_of.name) {
                return Ok(None);
            }
            let table = generation.tables.iter().position(|table| *table == unquoted(&line_of.table));
            table.map(|table| record(line, line_of, table, span)).transpose()
        });
        match found {
            Ok(record) => records.extend(record),
            Err((at, message)) => {
                complete = false;
                let help = "a record has the keys `name`, `Inst`, `Size`, `DecoderNamespace`, `AsmString` and both lists of operands";
                out.push(Diagnostic::error("E0020", at, message).help(help));
            }
        }
    }
    if records.is_empty() && complete {
        let message = format!("no record of this document belongs to `{}`", generation.name);
        out.push(Diagnostic::error("E0022", Span::new(file, 0..1), message));
        return None;
    }
    complete.then_some(records)
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

/// The place of a value within a line.
fn place(line: &str, key: &str, whole: Span) -> Span {
    let mark = format!("\"{key}\":");
    match line.find(&mark) {
        Some(at) => {
            let from = at + mark.len();
            let end = line[from..].find("\",\"").map_or(line.len(), |len| from + len + 1);
            whole.slice(from..end)
        }
        None => whole,
    }
}

fn record(line: &str, found: Line, table: usize, span: Span) -> Result<Record, (Span, String)> {
    let at = |key: &str| place(line, key, span);
    let wrong = |key: &str, message: String| (at(key), message);
    let mut bits = Vec::new();
    let list = found.inst.trim().strip_prefix('{').and_then(|list| list.strip_suffix('}'));
    let list = list.ok_or_else(|| wrong("Inst", "the bits must be in braces".to_owned()))?;
    for item in items(list).into_iter().rev() {
        bits.push(bit(item.trim()).ok_or_else(|| wrong("Inst", format!("`{}` is not a bit", item.trim())))?);
    }
    let size: usize =
        found.size.parse().map_err(|_| wrong("Size", format!("`{}` is not a number of bytes", found.size)))?;
    if !matches!(size, 4 | 8 | 12 | 16) || bits.len() < 8 * size {
        return Err(wrong("Inst", format!("{} bits for {size} bytes", bits.len())));
    }
    bits.truncate(8 * size);
    let operands = |text: &str, key: &str| {
        let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let inner = inner.and_then(|text| text.strip_prefix("outs").or_else(|| text.strip_prefix("ins")));
        let inner = inner.ok_or_else(|| wrong(key, "a list of operands is `(outs …)` or `(ins …)`".to_owned()))?;
        let named = inner.split(',').filter_map(|operand| operand.trim().split_once(":$"));
        Ok(named.map(|(class, name)| Operand { name: name.to_owned(), class: class.to_owned() }).collect())
    };
    Ok(Record {
        outs: operands(&found.outs, "OutOperandList")?,
        ins: operands(&found.ins, "InOperandList")?,
        tied: tied(unquoted(&found.constraints)),
        branches: found.branches == "1",
        terminates: found.terminates == "1",
        text: unquoted(&found.text).to_owned(),
        text_span: at("AsmString"),
        name: found.name,
        span,
        bits,
        table,
    })
}

/// The pairs of operands that constraints put in the same registers.
fn tied(constraints: &str) -> Vec<(String, String)> {
    let pairs = constraints.split(',').filter_map(|pair| pair.split_once('='));
    let name = |text: &str| text.trim().strip_prefix('$').map(str::to_owned);
    pairs.filter_map(|(one, other)| Some((name(one)?, name(other)?))).collect()
}

/// The items of a list, which are separated by commas outside of brackets.
fn items(list: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0u32, 0);
    let mut found = Vec::new();
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[start..]);
    found
}

fn bit(text: &str) -> Option<Bit> {
    match text {
        "0" => Some(Bit::Is(false)),
        "1" => Some(Bit::Is(true)),
        "?" => Some(Bit::Open),
        // A choice left open by TableGen concerns another encoding, which has its own record.
        _ if text.starts_with("!if(") && text.contains(", ?){") => Some(Bit::Open),
        _ => match text.strip_suffix('}').and_then(|text| text.split_once('{')) {
            Some((name, index)) => Some(Bit::Of(name.to_owned(), index.parse().ok()?)),
            None => {
                let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
                (is_name && begins).then(|| Bit::Of(text.to_owned(), 0))
            }
        },
    }
}
