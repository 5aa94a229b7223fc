//! `isaforge explain ISA NAME FIELD`: explains the values of a modifier, an operand or another field of an instruction.
//!
//! Each value is encoded in an example instruction and decoded again, so this works for every kind of instruction set.

use isaforge_analysis::Set;
use isaforge_analysis::entry::entries;
use isaforge_analysis::fields::{Field, fields};
use isaforge_core::Tables;
use isaforge_core::bits::{ones, word_of};
use isaforge_core::explain::groups;
use isaforge_core::group;
use isaforge_core::group::encode::canonical;
use serde_json::{Value, json};

use super::does::operation;
use crate::example::example;
use crate::names::field_names;
use crate::paint::{BOLD, DIM, paint, wrap};
use crate::target::Target;

/// The width in bits of the widest field whose values are all tried.
const MAX_TRIED_BITS: u32 = 12;
/// Up to this many values are listed individually; if there are more, adjacent values that differ only in a number are
/// merged.
const EACH: usize = 16;

/// A field of an instruction and its values.
#[derive(Clone, Debug)]
pub struct Part {
    instruction: String,
    field: Field,
    choices: Vec<Choice>,
}

/// A value, or a range of values with the same meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    from: u64,
    to: u64,
    /// The first and the last value in assembly.
    text: (String, String),
    meaning: String,
    /// An instruction with the value, or with the first value of the range.
    assembly: String,
    /// The operation of that instruction.
    does: Option<String>,
}

impl Choice {
    /// Whether two values have the same meaning and operation, and the same text except for a number.
    fn is_like(&self, other: &Choice) -> bool {
        let written = |choice: &Choice| {
            let text = &choice.text.1;
            let numbered = text.contains(|c: char| c.is_ascii_digit());
            text.chars().filter(|c| !(numbered && c.is_ascii_hexdigit())).collect::<String>()
        };
        self.meaning == other.meaning && self.does == other.does && written(self) == written(other)
    }
}

/// Finds the fields that `NAME FIELD` names: by full name, or without the operand's prefix.
pub fn parts(target: &Target, what: &str) -> Vec<Part> {
    let Some((instruction, name)) = what.rsplit_once(char::is_whitespace) else { return Vec::new() };
    let Some(bytes) = example(target.tables, instruction.trim()) else { return Vec::new() };
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    let (whole, ends): (Vec<Field>, Vec<Field>) =
        fields(target.tables, &bytes).into_iter().partition(|field| is(&field.name));
    let ends: Vec<Field> = ends.into_iter().filter(|field| field.name.rsplit('.').next().is_some_and(is)).collect();
    let found = if whole.is_empty() { ends } else { whole };
    let part = |field: Field| {
        let choices = choices(target, &bytes, &field);
        Part { instruction: instruction.trim().to_owned(), field, choices }
    };
    found.into_iter().map(part).collect()
}

/// If the text names an instruction but none of its fields, lists the fields it has.
pub fn others(tables: Tables, what: &str) -> Option<String> {
    let (instruction, _) = what.split_once(char::is_whitespace)?;
    Some(format!("the fields of `{instruction}` are {}", field_names(tables, instruction)?.join(", ")))
}

/// The valid values of a field; empty if the field is too wide to try them all.
fn choices(target: &Target, bytes: &[u8], field: &Field) -> Vec<Choice> {
    let width: u32 = field.runs.iter().map(|(high, low)| u32::from(high - low) + 1).sum();
    if width > MAX_TRIED_BITS {
        return Vec::new();
    }
    let set = target.set();
    let choice = |value: u64, does: Does| {
        let bytes = with(target.tables, bytes, field, value)?;
        let assembly = entries(&set, &bytes).next()?.instruction.ok()?.text;
        let found = fields(target.tables, &bytes).into_iter().find(|found| found.name == field.name)?;
        Some(Choice {
            from: value,
            to: value,
            text: (found.text.clone(), found.text),
            meaning: found.meaning,
            assembly,
            does: does(&set, &bytes, field),
        })
    };
    let tried = |does: Does| (0..1 << width).filter_map(|value| choice(value, does)).collect::<Vec<Choice>>();
    // The example of a group may not use the result of the operation, or the field may be that of another part.
    let mut all = tried(of_slot);
    if !matters(&all) {
        all = tried(|set, bytes, _| operation(set, bytes).map(|(_, here)| here));
    }
    if all.len() <= EACH {
        return all;
    }
    let mut rows: Vec<Choice> = Vec::new();
    for choice in all {
        match rows.last_mut() {
            Some(last) if last.to + 1 == choice.from && last.is_like(&choice) => {
                last.to = choice.to;
                last.text.1 = choice.text.1;
            }
            _ => rows.push(choice),
        }
    }
    rows
}

/// Replaces the value of a field in an instruction.
fn with(tables: Tables, bytes: &[u8], field: &Field, value: u64) -> Option<Vec<u8>> {
    // The first run contains the most significant bits.
    let runs = field.runs.iter().rev().scan(value, |rest, (high, low)| {
        let width = u32::from(high - low) + 1;
        let part = *rest;
        *rest = rest.checked_shr(width).unwrap_or(0);
        Some((u32::from(*low), width, part))
    });
    match tables {
        Tables::Words(_) => {
            let mut word = word_of(bytes);
            for (at, width, part) in runs {
                let mask = ones(width);
                word = word & !(mask << at) | (part & mask) << at;
            }
            Some(word.to_le_bytes().get(..bytes.len())?.to_vec())
        }
        Tables::Streams(engine) => {
            let mut word = engine.decode(bytes).ok()?.word;
            runs.for_each(|(at, width, part)| word.set(at, width, part));
            Some(engine.store(word).get(..bytes.len())?.to_vec())
        }
        Tables::Groups(isa) => {
            let (slot, name) = field.name.split_once('.')?;
            let slot = isa.slots.iter().position(|known| known.name == slot)?;
            let choice = isa.choices.get(usize::from(isa.slots.get(slot)?.choice))?;
            let index = choice.fields.iter().position(|known| known.name == name)?;
            let mut values = group::decode(isa, bytes).ok()?.values(isa);
            values.set(isa, slot, index, value as i64);
            Some(canonical(isa, &values).ok()?.as_bytes().to_vec())
        }
    }
}

/// Describes what an instruction with a field does, once its modifiers are known.
type Does = fn(&Set, &[u8], &Field) -> Option<String>;

/// What the operation in the slot of a field of a group does by itself.
fn of_slot(set: &Set, bytes: &[u8], field: &Field) -> Option<String> {
    let Tables::Groups(isa) = set.tables else { return None };
    let (slot, _) = field.name.split_once('.')?;
    let slot = isa.slots.iter().position(|known| known.name == slot)?;
    groups::operation_in(isa, set.semantics?, &group::decode(isa, bytes).ok()?, slot)
}

/// Whether the operation depends on the value.
fn matters(choices: &[Choice]) -> bool {
    choices.iter().any(|choice| choice.does != choices[0].does)
}

impl Part {
    /// Returns a JSON object according to `field.schema.json`.
    pub fn object(&self) -> Value {
        let matters = matters(&self.choices);
        let choice = |choice: &Choice| {
            json!({
                "from": choice.from,
                "to": choice.to,
                "text": choice.text.0,
                "meaning": choice.meaning,
                "assembly": choice.assembly,
                "operation": choice.does.as_ref().filter(|_| matters),
            })
        };
        json!({
            "kind": "field",
            "instruction": self.instruction,
            "name": self.field.name,
            "bits": self.field.runs,
            "values": self.choices.iter().map(choice).collect::<Vec<_>>(),
        })
    }

    /// Formats it as text, wrapped at `width`.
    pub fn text(&self, width: usize) -> String {
        let head = format!("{} {}", self.instruction, self.field.name);
        let bits = if matches!(self.field.runs[..], [(high, low)] if high == low) { "bit" } else { "bits" };
        let mut out = format!("{}   {}\n", paint(BOLD, &head), paint(DIM, &format!("{bits} {}", self.field.bits())));
        if self.choices.is_empty() {
            let here = format!("  {} here   {}", self.field.text, self.field.meaning);
            out.push_str(&format!("{}\n", here.trim_end()));
        }
        let number = |choice: &Choice| match choice.from == choice.to {
            true => choice.from.to_string(),
            false => format!("{}..{}", choice.from, choice.to),
        };
        let name = |choice: &Choice| match choice.text.0 == choice.text.1 {
            true => choice.text.0.clone(),
            false => format!("{} to {}", choice.text.0, choice.text.1),
        };
        let widest = |cell: &dyn Fn(&Choice) -> String| {
            self.choices.iter().map(|choice| cell(choice).chars().count()).max().unwrap_or(0)
        };
        let matters = matters(&self.choices);
        let merged = self.choices.iter().any(|choice| choice.from != choice.to);
        let (numbers, names) = (widest(&number), widest(&name));
        for choice in &self.choices {
            let indent = numbers + names + 6;
            let mut lines = wrap(&choice.meaning, width.saturating_sub(indent));
            lines.retain(|line| !line.is_empty());
            if !merged || lines.is_empty() {
                lines.push(choice.assembly.clone());
            }
            if matters {
                lines.extend(choice.does.iter().flat_map(|does| does.lines()).map(|line| format!("    {line}")));
            }
            for (at, line) in lines.iter().enumerate() {
                match at {
                    0 => {
                        let name = paint(BOLD, &format!("{:names$}", name(choice)));
                        out.push_str(&format!("  {:>numbers$}  {name}  {line}\n", number(choice)));
                    }
                    _ => out.push_str(&format!("{:indent$}{}\n", "", paint(DIM, line))),
                }
            }
        }
        out
    }
}
