//! Splits `AsmString` into fixed text and operands.
//!
//! LLVM's printers write more than the string contains: the suffix of a vector instruction's encoding, and the
//! condition mask if the encoding has no bits for it. `texts.tsv` lists the latter.

use std::collections::HashSet;

use super::generation::{Generation, WAVES_OF_32};
use super::records::Record;

/// Replacements in the texts of records: prefix and part of the record's name, old text, new text. `$vcc` stands for
/// the condition mask of the generation.
const TABLE: &str = include_str!("texts.tsv");

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Fixed text.
    Text(String),
    /// An operand.
    Operand(String),
}

/// The vector instructions with several encodings, which need a suffix.
pub(super) struct Suffixes {
    short: HashSet<String>,
    long: HashSet<String>,
}

fn mnemonic(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let name = &text[..end];
    name.strip_suffix("_e32").unwrap_or(name)
}

impl Suffixes {
    /// Collects them from all records of a generation.
    pub fn of(records: &[Record]) -> Suffixes {
        let mut found = Suffixes { short: HashSet::new(), long: HashSet::new() };
        for record in records {
            let name = mnemonic(&record.text).to_owned();
            let packed = record.name.contains("_dpp") || record.name.contains("_sdwa");
            match (record.bits.len() / 8, is_long(record)) {
                (_, true) if !packed => drop(found.long.insert(name)),
                (4, false) => drop(found.short.insert(name)),
                _ => {}
            }
        }
        found
    }

    /// The suffix of a vector instruction's mnemonic.
    fn suffix(&self, record: &Record) -> &'static str {
        let name = mnemonic(&record.text);
        let dpp = record.name.contains("_dpp");
        match (is_long(record), dpp) {
            (true, true) => "_e64_dpp",
            (false, true) if record.bits.len() > 64 => "_e64_dpp",
            (true, false) if self.short.contains(name) => "_e64",
            (false, true) => "_dpp",
            (false, false) if record.name.contains("_sdwa") => "_sdwa",
            (false, false) if record.bits.len() == 32 && self.long.contains(name) => "_e32",
            _ => "",
        }
    }
}

fn is_long(record: &Record) -> bool {
    record.bits.len() >= 64 && !record.name.contains("_e32") && record.name.contains("_e64")
        || record.bits.len() == 64 && !record.name.contains("_dpp") && !record.name.contains("_sdwa") && is_vop3(record)
}

/// Whether a record has the longer encoding of vector instructions without a mark in its name.
fn is_vop3(record: &Record) -> bool {
    record.name.starts_with("V_") && !record.name.contains("_e32")
}

/// Splits the text of a record.
pub(super) fn pieces(record: &Record, suffixes: &Suffixes, generation: &Generation) -> Vec<Piece> {
    let mut text = record.text.clone();
    let vcc = if generation.number < WAVES_OF_32 { "vcc" } else { "vcc_lo" };
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [start, part, from, to] = cells[..] else { continue };
        // Some records already contain the condition mask.
        if to.contains("$vcc") && text.contains(vcc) {
            continue;
        }
        let (start, also) = start.split_once('*').unwrap_or((start, ""));
        if record.name.starts_with(start) && record.name.contains(also) && record.name.contains(part) {
            text = text.replacen(from, &to.replace("$vcc", vcc), 1);
        }
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let mut whole = name.to_owned();
    let mut rest = rest;
    // Some strings have the suffix in braces, which denote a variant of the assembler.
    if let Some((inner, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        whole.push_str(inner);
        rest = after;
    } else if rest.starts_with("$vdst") || rest.starts_with("$sdst") {
        whole.push_str(suffixes.suffix(record));
        whole.push(' ');
    }
    let mut pieces = vec![Piece::Text(whole)];
    while let Some((before, after)) = rest.split_once('$') {
        push(&mut pieces, before);
        let (name, tail) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(named) => named,
            None => {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        pieces.push(Piece::Operand(name.to_owned()));
        rest = tail;
    }
    push(&mut pieces, rest);
    pieces
}

/// Adds text, with runs of blanks reduced to one.
fn push(pieces: &mut Vec<Piece>, text: &str) {
    let mut text = text.to_owned();
    while text.contains("  ") {
        text = text.replace("  ", " ");
    }
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(&text),
        _ => pieces.push(Piece::Text(text)),
    }
}
