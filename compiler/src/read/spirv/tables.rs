//! Grammars as the tables of a sequence.

use std::collections::{HashMap, HashSet};

use isaforge_core::stream::sequence as core;

use super::grammar::{Grammar, Instruction, Kind, Operand};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::leak::{slice, text};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// Kinds whose meaning the grammar states in prose.
const KINDS: &str = include_str!("kinds.tsv");
/// Instructions that declare types, or import sets.
const DECLARATIONS: &str = include_str!("declarations.tsv");
/// Names that `spirv-dis` prints, and that the document lists as aliases: the suffix of the document's name, and that
/// of the printed one.
const NAMES: &str = include_str!("names.tsv");
/// Sets whose instructions have identifiers as all their operands, so that their names are enough to read them.
const IDENTIFIERS: &str = include_str!("identifiers.tsv");
/// The kind of an identifier.
const IDENTIFIER: &str = "IdRef";
/// The prefix of instructions, which is omitted where an operand names an instruction.
const PREFIX: &str = "Op";

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

struct Maker<'g> {
    /// The kinds by name, as indices into the tables.
    known: HashMap<&'g str, u16>,
    /// The kinds that are composed of others.
    composed: HashSet<&'g str>,
}

/// The tables of a grammar and of the sets next to it.
pub(super) fn tables(
    grammar: &Grammar,
    sets: &[(&'static str, Grammar)],
    out: &mut Diagnostics,
) -> Option<&'static core::Sequence> {
    // A kind that is not in the document follows those of the grammar.
    let Ok(numbers) = u16::try_from(grammar.kinds.len()) else {
        let message = format!("there are {} kinds of operands, more than {}", grammar.kinds.len(), u16::MAX);
        out.push(Diagnostic::error("E0024", grammar.span, message));
        return None;
    };
    let known = grammar.kinds.iter().zip(0..numbers).map(|(kind, index)| (kind.name.as_str(), index)).collect();
    let composed = grammar.kinds.iter().filter(|kind| kind.category == "Composite");
    let maker = Maker { known, composed: composed.map(|kind| kind.name.as_str()).collect() };
    let before = out.failures();
    let mut kinds: Vec<core::Kind> = grammar.kinds.iter().map(|kind| maker.kind(kind, numbers, out)).collect();
    kinds.push(core::Kind::OfFirst);
    let operations = maker.operations(&grammar.instructions, out);
    let sets =
        sets.iter().map(|(name, set)| core::ExtendedSet { name, operations: maker.operations(&set.instructions, out) });
    let sets = slice(sets.chain(maker.of_identifiers()).collect::<Vec<_>>());
    let (major, minor) = grammar.version;
    let header = [
        core::HeaderUnit::Is(grammar.magic.unwrap_or(0)),
        core::HeaderUnit::Any(major << 16 | minor << 8),
        core::HeaderUnit::Any(0),
        core::HeaderUnit::Bound,
        core::HeaderUnit::Is(0),
    ];
    if grammar.magic.is_none() {
        out.push(Diagnostic::error("E0022", grammar.span, "`magic_number` is missing"));
    }
    (out.failures() == before).then(|| {
        let sequence = core::Sequence { operations, sets, kinds: slice(kinds), header: slice(header) };
        &*Box::leak(Box::new(sequence))
    })
}

impl Maker<'_> {
    fn index(&self, name: &str, span: Span, out: &mut Diagnostics) -> u16 {
        self.known.get(name).copied().unwrap_or_else(|| {
            let error = Diagnostic::error("E0101", span, format!("there is no kind of operand called `{name}`"));
            out.push(match did_you_mean(name, self.known.keys().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            });
            0
        })
    }

    fn slots(&self, operands: &[Operand], span: Span, out: &mut Diagnostics) -> &'static [core::Slot] {
        let slots = operands.iter().map(|operand| {
            let times = match operand.quantifier.as_deref() {
                None => core::Times::Once,
                Some("?") => core::Times::Maybe,
                Some("*") => core::Times::Any,
                Some(other) => {
                    let error = Diagnostic::error("E0023", span, format!("unknown quantifier `{other}`"));
                    out.push(error.help("it is `?` or `*`"));
                    core::Times::Once
                }
            };
            core::Slot { kind: self.index(&operand.kind, span, out), times }
        });
        slice(slots.collect::<Vec<_>>())
    }

    fn operations(&self, instructions: &[Instruction], out: &mut Diagnostics) -> &'static [core::Operation] {
        let mut operations: Vec<core::Operation> = Vec::new();
        for instruction in instructions {
            let (name, also) = printed(&instruction.name, &instruction.also);
            operations.push(core::Operation {
                name,
                also,
                short: name.strip_prefix(PREFIX).unwrap_or(name),
                code: instruction.code,
                operands: self.slots(&instruction.operands, instruction.span, out),
                says: says(name),
            });
        }
        operations.sort_by_key(|operation| operation.code);
        for pair in operations.windows(2).filter(|pair| pair[0].code == pair[1].code) {
            let spans = |name: &str| instructions.iter().find(|found| found.name == name).map(|found| found.span);
            let (Some(first), Some(second)) = (spans(pair[0].name), spans(pair[1].name)) else { continue };
            let message = format!("`{}` and `{}` have the code {}", pair[0].name, pair[1].name, pair[0].code);
            out.push(Diagnostic::error("E0106", second, message).rival(first, "the other one"));
        }
        slice(operations)
    }

    /// The sets whose instructions have only identifiers. A grammar of one of them comes before it.
    fn of_identifiers(&self) -> Vec<core::ExtendedSet> {
        let Some(kind) = self.known.get(IDENTIFIER).copied() else { return Vec::new() };
        let operands = slice(vec![core::Slot { kind, times: core::Times::Any }]);
        let all: Vec<Vec<&'static str>> = rows(IDENTIFIERS).collect();
        let sets = all.chunk_by(|a, b| a[0] == b[0]).map(|rows| {
            let operations = rows.iter().filter_map(|row| {
                let (code, name) = (row.get(1)?.parse().ok()?, *row.get(2)?);
                Some(core::Operation { name, also: &[], short: name, code, operands, says: core::Says::Nothing })
            });
            core::ExtendedSet { name: rows[0][0], operations: slice(operations.collect::<Vec<_>>()) }
        });
        sets.collect()
    }

    /// Converts a kind; `of_first` is the index of the kind for numbers of the first operand's type.
    fn kind(&self, kind: &Kind, of_first: u16, out: &mut Diagnostics) -> core::Kind {
        let row = rows(KINDS).find(|row| row[0] == kind.name);
        let unknown = |out: &mut Diagnostics| {
            let message = format!("no syntax for operands of the kind `{}`", kind.name);
            out.push(Diagnostic::error("E0101", kind.span, message).help("name it in `kinds.tsv` of the reader"));
            core::Kind::Number
        };
        match (kind.category.as_str(), row.as_deref()) {
            ("ValueEnum", _) => core::Kind::Value(self.values(kind, out)),
            ("BitEnum", _) => core::Kind::Bits(self.values(kind, out)),
            ("Composite", row) => {
                let typed = row.is_some_and(|row| row.get(1) == Some(&"first"));
                // What is composed of single operands cannot contain itself.
                let composed = |base: &&String| self.composed.contains(base.as_str());
                if let Some(base) = kind.bases.iter().find(composed) {
                    let message = format!("`{}` is composed of `{base}`, which is itself composed", kind.name);
                    out.push(Diagnostic::error("E0023", kind.span, message).help("a base is a kind of one operand"));
                }
                let mut parts = kind.bases.iter().map(|base| self.index(base, kind.span, out)).collect::<Vec<_>>();
                if let Some(first) = parts.first_mut().filter(|_| typed) {
                    *first = of_first;
                }
                match parts[..] {
                    [first, second] => core::Kind::Pair(first, second),
                    _ => unknown(out),
                }
            }
            (_, Some([_, word, ..])) => match *word {
                "id" => core::Kind::Id,
                "type" => core::Kind::ResultType,
                "result" => core::Kind::Result,
                "number" => core::Kind::Number,
                "text" => core::Kind::Text,
                "float" => core::Kind::Float,
                "typed" => core::Kind::OfResult,
                "nested" => core::Kind::Nested,
                "extended" => core::Kind::Extended,
                _ => unknown(out),
            },
            ("Id", _) => core::Kind::Id,
            _ => unknown(out),
        }
    }

    fn values(&self, kind: &Kind, out: &mut Diagnostics) -> &'static [core::Enumerant] {
        let values = kind.values.iter().map(|value| {
            let (name, also) = printed(&value.name, &value.also);
            let parameters = self.slots(&value.parameters, kind.span, out);
            core::Enumerant { name, also, value: value.value, parameters }
        });
        slice(values.collect::<Vec<_>>())
    }
}

/// The name that is printed, and the others.
fn printed(name: &str, also: &[String]) -> (&'static str, &'static [&'static str]) {
    let other = rows(NAMES).find_map(|row| {
        let start = name.strip_suffix(row[0])?;
        also.iter().find(|other| other.strip_suffix(row[1]) == Some(start))
    });
    let print = other.map_or(name, String::as_str);
    let rest = also.iter().map(String::as_str).chain([name]).filter(|other| *other != print);
    (text(print), slice(rest.map(text).collect::<Vec<_>>()))
}

/// What an instruction declares for later ones.
fn says(name: &str) -> core::Says {
    let Some(row) = rows(DECLARATIONS).find(|row| row[0] == name) else { return core::Says::Nothing };
    let place = |at: usize| row.get(at).and_then(|cell| cell.parse().ok()).unwrap_or(0);
    match row.get(1).copied() {
        Some("integers") => core::Says::Integers(place(2), place(3)),
        Some("floats") => core::Says::Floats(place(2)),
        Some("imports") => core::Says::Imports(place(2)),
        _ => core::Says::Nothing,
    }
}
