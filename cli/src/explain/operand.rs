//! Explains the text of an operand, such as a register, and of a value that an operand or modifier may have.

use isaforge_core::Tables;
use isaforge_core::parse::parse_kind;

use crate::example::example;
use crate::names::{affixes_of, enums};
use crate::paint::{BOLD, DIM, paint, wrap};
use crate::target::Target;

/// Explains an operand that is no number: how it is read, and what it holds at the start of programs.
pub fn operand(target: &Target, what: &str, width: usize) -> Option<String> {
    if !what.starts_with(|c: char| c.is_ascii_alphabetic()) || example(target.tables, what).is_some() {
        return None;
    }
    let mut lines = Vec::new();
    if let Tables::Words(isa) = target.tables {
        let reading = isa.kinds.iter().enumerate().find_map(|(number, kind)| {
            let bits = parse_kind(isa, number, 0, what)?;
            kind.alternatives.iter().find(|one| bits & one.mask == one.value)
        });
        lines.extend(reading.map(|one| format!("{}: {}", one.name, one.doc)));
    }
    let (before, after) = affixes_of(target.tables);
    for preload in target.semantics.map_or(&[][..], |semantics| semantics.preloads) {
        let at = preload.values.iter().zip(preload.first..).find(|(_, at)| format!("{before}{at}{after}") == what);
        if let Some(((name, doc), _)) = at {
            lines.push(format!("at the start of {} programs: {name}, {doc}", preload.name));
        }
    }
    (!lines.is_empty()).then(|| text(what, &lines, width))
}

/// Explains a value that enums have.
pub fn value(target: &Target, what: &str, width: usize) -> Option<String> {
    let mut lines = Vec::new();
    for of in enums(target.tables) {
        if let Some(value) = of.values.iter().find(|value| value.text == what || value.name == what) {
            lines.push(format!("a value of {}: {}", of.name, value.doc));
        }
    }
    (!lines.is_empty()).then(|| text(what, &lines, width))
}

fn text(what: &str, lines: &[String], width: usize) -> String {
    let mut out = format!("{}\n", paint(BOLD, what));
    for line in lines.iter().flat_map(|line| wrap(line, width.saturating_sub(2))) {
        out.push_str(&format!("  {}\n", paint(DIM, &line)));
    }
    out
}
