//! What the specification says of an instruction, and which registers it touches.

use isaforge_core::Isa;
use isaforge_core::registers::{RegisterUse, registers};
use isaforge_core::semantics::{Modifier, Semantics, instantiate, show};
use isaforge_core::table::{Shape, Token, Type};

use crate::paint::{BOLD, DIM, paint, wrap};

/// Describes an instruction; registers only for a valid word.
pub fn describe(isa: &'static Isa, opcode: u16, word: u64, valid: bool, width: usize) -> String {
    let form = &isa.forms[opcode as usize];
    let mut out = String::new();
    let title = if form.title.is_empty() { String::new() } else { format!("  {}", form.title) };
    out.push_str(&format!("{}{title}\n", paint(BOLD, form.name.str)));
    if !form.doc.is_empty() {
        for line in wrap(form.doc, width.saturating_sub(2)) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            for (index, line) in wrap(text, width.saturating_sub(12)).iter().enumerate() {
                let head = if index == 0 { name } else { "" };
                out.push_str(&format!("  {}{line}\n", paint(DIM, &format!("{head:10}"))));
            }
        }
    };
    if valid {
        let uses = |write| describe_uses(isa, opcode, registers(isa, opcode, word, write));
        row("reads", &uses(false));
        row("writes", &uses(true));
    }
    row("unit", form.unit);
    row("source", form.source);
    let provenance = form.provenance.as_str();
    let notes: Vec<&str> = form.note.lines().collect();
    match notes[..] {
        [] => row("known by", provenance),
        [note] => row("known by", &format!("{provenance}: {note}")),
        _ => row("known by", &format!("{provenance}, and")),
    }
    for note in notes.iter().filter(|_| notes.len() > 1) {
        row("", note);
    }
    out
}

/// What the instruction does: the whole text for a name, for a word what is left of it once the modifiers are known.
pub fn operation(isa: &'static Isa, semantics: &'static Semantics, opcode: u16, word: u64, whole: bool) -> String {
    let form = &isa.forms[opcode as usize];
    let Some(operation) = semantics.operations.get(usize::from(opcode)).filter(|o| !o.text.is_empty()) else {
        return String::new();
    };
    let bits = |modifier: u16| match operation.modifiers.get(usize::from(modifier)) {
        Some(Modifier::Form(i)) => form.modifiers.get(usize::from(*i)).map_or(0, |m| m.bits.get(word, 0)),
        Some(Modifier::Suffix(k, j)) => {
            let suffix = form.operands.get(usize::from(*k)).and_then(|o| o.suffixes.get(usize::from(*j)));
            suffix.map_or(0, |m| m.bits.get(word, 0))
        }
        _ => 0,
    };
    let name = |operand: u16| form.operands.get(usize::from(operand)).map_or("?", |operand| operand.name);
    let shown = show(semantics, &instantiate(semantics, operation, bits), name);
    let mut out = String::new();
    let mut part = |head: &str, text: &str| {
        for (index, line) in text.lines().enumerate() {
            let head = if index == 0 { head } else { "" };
            out.push_str(&format!("  {}{line}\n", paint(DIM, &format!("{head:10}"))));
        }
    };
    part("does", operation.text);
    // A text without choices says the same again.
    if !whole && shown != operation.text {
        part("here", &shown);
    }
    out
}

fn describe_uses(isa: &'static Isa, opcode: u16, uses: impl Iterator<Item = RegisterUse>) -> String {
    let operands = isa.forms[opcode as usize].operands;
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    for found in uses {
        let operand = operands.get(usize::from(found.operand)).map_or("", |operand| operand.name);
        let name = spell(isa, &found);
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, operands)) => operands.push(operand),
            None => parts.push((name, vec![operand])),
        }
    }
    if parts.is_empty() {
        return "no registers".to_owned();
    }
    let part = |(name, operands): &(String, Vec<&str>)| format!("{name} ({})", operands.join(", "));
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Registers as assembly names them: `r4`, `r4..r7`.
fn spell(isa: &'static Isa, found: &RegisterUse) -> String {
    let name = |number: u32| match affixes(isa, found.bank) {
        Some((before, after)) => format!("{before}{number}{after}"),
        None => format!("{} {number}", isa.banks[found.bank as usize].name),
    };
    let first = u32::from(found.first);
    match u32::from(found.count) {
        0 | 1 => name(first),
        2 => format!("{}:{}", name(first), name(first + 1)),
        count => format!("{}..{}", name(first), name(first + count - 1)),
    }
}

/// What stands before and after the number of a register: the shortest way that any operand writes it.
pub(super) fn affixes(isa: &'static Isa, bank: u16) -> Option<(&'static str, &'static str)> {
    let kinds = isa.forms.iter().flat_map(|form| form.operands).filter_map(|operand| match operand.shape {
        Shape::One { kind, .. } | Shape::List { kind, .. } => Some(kind),
        Shape::Number { .. } => None,
    });
    let mut seen = vec![false; isa.kinds.len()];
    let mut best: Option<(&'static str, &'static str)> = None;
    for kind in kinds {
        if std::mem::replace(&mut seen[kind as usize], true) {
            continue;
        }
        for alternative in isa.kinds[kind as usize].alternatives {
            let (before, field, after) = match alternative.text {
                [Token::Field(field)] => ("", field, ""),
                [Token::Text(before), Token::Field(field)] => (before.str, field, ""),
                [Token::Field(field), Token::Text(after)] => ("", field, after.str),
                [Token::Text(before), Token::Field(field), Token::Text(after)] => (before.str, field, after.str),
                // A register with something behind it, as its components.
                [Token::Text(before), Token::Field(field), Token::Text(_), ..] => (before.str, field, ""),
                _ => continue,
            };
            let is_bank = alternative.fields.get(*field as usize).is_some_and(|f| f.ty == Type::Register(bank));
            let shorter = best.is_none_or(|(b, a)| before.len() + after.len() < b.len() + a.len());
            if is_bank && shorter {
                best = Some((before, after));
            }
        }
    }
    best
}
