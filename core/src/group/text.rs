//! From a group to text.
//!
//! The text is what the operations, outputs and header say. Where assembling it would choose otherwise than the encoder
//! of this group did, marks follow after `with`: fields (`slot.field=3`), records (`slot:record`), the length.

use crate::group::encode::encode;
use crate::group::parse::{Assembled, assemble};
use crate::group::table::{GroupIsa, OperandKind, Operation, RegisterName, RegisterPlace, SLOTS, Slot, Token, Type};
use crate::group::value::{Form, Group, Values};
use crate::text::{LINE_CAPACITY, Line};

/// What stands between the parts of a group in text.
pub const SEPARATOR: &str = " | ";

/// Writes a group: its parts in order, with `separator` between them.
///
/// Text that [`assemble`] reads back to the same bytes. A group that cannot be written so is written as its bytes.
pub fn print(isa: &GroupIsa, group: &Group, separator: &str, out: &mut Line) {
    print_sized(isa, group, 0, separator, out);
}

/// The same for a group whose place in a program makes it `implied` bytes long, 0 for as long as it needs to be: only
/// another length is marked.
pub fn print_sized(isa: &GroupIsa, group: &Group, implied: u8, separator: &str, out: &mut Line) {
    let values = group.values(isa);
    let mut text = Line::new();
    describe(isa, &values, separator, false, &mut text);
    if let Ok(read) = assemble(isa, text.as_str())
        && text.as_bytes().len() < LINE_CAPACITY
        && encode(isa, &read.values, &Form { length: implied, ..read.form }).is_ok_and(|again| again == *group)
    {
        return out.push_str(text.as_str());
    }
    // The assembler would choose otherwise: say which sources are meant, or mark what is different, whichever is shorter.
    let mut hinted = Line::new();
    describe(isa, &values, separator, true, &mut hinted);
    let texts = [hinted, text].map(|text| marked(isa, group, &values, implied, separator, text));
    match texts.iter().flatten().min_by_key(|text| text.as_bytes().len()) {
        Some(best) => out.push_str(best.as_str()),
        None => bytes(group, out),
    }
}

fn bytes(group: &Group, out: &mut Line) {
    out.push_str("bytes");
    for byte in group.as_bytes() {
        out.push_str(" ");
        for digit in [byte >> 4, byte & 15] {
            out.push_str("0123456789abcdef".get(digit as usize..digit as usize + 1).unwrap_or_default());
        }
    }
}

/// The text with the marks it needs; `None` when no marks help.
fn marked(
    isa: &GroupIsa,
    group: &Group,
    values: &Values,
    implied: u8,
    separator: &str,
    mut text: Line,
) -> Option<Line> {
    let read = assemble(isa, text.as_str()).ok()?;
    marks(isa, values, group, &read, implied, separator, &mut text)?;
    // What does not fit was dropped, and then the text does not read back.
    reads_back(isa, text.as_str(), implied, group).then_some(text)
}

fn reads_back(isa: &GroupIsa, text: &str, implied: u8, group: &Group) -> bool {
    assemble(isa, text).is_ok_and(|mut read| {
        if read.form.length == 0 {
            read.form.length = implied;
        }
        encode(isa, &read.values, &read.form).is_ok_and(|again| again == *group)
    })
}

/// Writes what the group means, without regard to what an assembler would make of it; with `hints`, selected registers
/// name their source.
pub fn describe(isa: &GroupIsa, values: &Values, separator: &str, hints: bool, out: &mut Line) {
    let start = out.as_bytes().len();
    let mut printed = 0u64;
    for index in isa.order {
        let slot = *index as usize;
        if !values.has(slot) {
            continue;
        }
        let mut parts: [&str; 8] = [""; 8];
        let mut count = 0;
        for operation in isa.operations.iter().filter(|o| is(isa, o, slot, values)) {
            let done = operation.unless != Slot::NEVER && printed >> (operation.unless & 63) & 1 != 0;
            let known = parts.get(..count).is_some_and(|p| p.contains(&operation.part));
            // Two outputs may share a slot; otherwise one operation stands for each part.
            if done || known && !operation.remark {
                continue;
            }
            if let (Some(place), false) = (parts.get_mut(count), operation.remark) {
                *place = operation.part;
                count += 1;
            }
            let mut text = Line::new();
            syntax(isa, operation, slot, values, hints, &mut printed, &mut text);
            if !text.as_str().trim().is_empty() {
                if out.as_bytes().len() > start {
                    out.push_str(separator);
                }
                out.push_str(text.as_str());
            }
        }
    }
}

/// Whether a slot holds an operation.
pub fn is(isa: &GroupIsa, operation: &Operation, slot: usize, values: &Values) -> bool {
    operation.slots >> slot & 1 != 0
        && operation.is.iter().all(|(at, field, allowed)| {
            let at = if *at == Token::OWN { slot } else { *at as usize };
            allowed.contains(&values.get(isa, at, *field as usize))
        })
}

fn syntax(
    isa: &GroupIsa,
    operation: &Operation,
    slot: usize,
    values: &Values,
    hints: bool,
    printed: &mut u64,
    out: &mut Line,
) {
    let own = |at: u8| if at == Token::OWN { slot } else { at as usize };
    let begin = out.as_bytes().len();
    for token in operation.syntax {
        match *token {
            // The header's words stand alone when nothing comes before them.
            Token::Text(text) => out.push_str(text),
            Token::Flag(at, field, text) if values.get(isa, own(at), field.into()) != 0 => out.push_str(text),
            Token::Flag(..) => {}
            Token::Suffix(at, field, optional) => {
                let value = values.get(isa, own(at), field.into());
                if !optional || value != default(isa, own(at), field.into()) {
                    out.push_str(".");
                    push_value(isa, own(at), field.into(), value, out);
                }
            }
            Token::Value(at, field) => {
                push_value(isa, own(at), field.into(), values.get(isa, own(at), field.into()), out)
            }
            Token::Words(at, field, words) => {
                let word =
                    usize::try_from(values.get(isa, own(at), field.into())).ok().and_then(|v| words.get(v)).copied();
                let word = word.unwrap_or_default();
                out.push_str(if out.as_bytes().len() == begin { word.trim_start() } else { word });
            }
            Token::Optional(at, field, text) => {
                let value = values.get(isa, own(at), field.into());
                if value != default(isa, own(at), field.into()) {
                    out.push_str(if out.as_bytes().len() == begin { text.trim_start() } else { text });
                    push_value(isa, own(at), field.into(), value, out);
                }
            }
            Token::Bits(at, field, words) => {
                let value = values.get(isa, own(at), field.into());
                let (silent, words) = named_bits(words);
                if value == 0 && !silent {
                    out.push_str(".none");
                }
                for (_, word) in words.iter().enumerate().filter(|(bit, _)| value >> bit & 1 != 0) {
                    out.push_str(".");
                    out.push_str(word);
                }
            }
            Token::Operand(index) => operand(isa, index.into(), values, hints, printed, out),
            Token::Role(role) => {
                let found = isa.slots.get(slot).and_then(|s| s.roles.iter().find(|(name, _)| *name == role));
                if let Some((_, index)) = found {
                    operand(isa, (*index).into(), values, hints, printed, out);
                }
            }
        }
    }
}

/// The words for the bits of a field, and whether no bit at all goes without saying.
pub(super) fn named_bits(words: &'static [&'static str]) -> (bool, &'static [&'static str]) {
    match words {
        ["", rest @ ..] => (true, rest),
        all => (false, all),
    }
}

pub(super) fn default(isa: &GroupIsa, slot: usize, field: usize) -> i64 {
    let choice = isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize));
    choice.and_then(|c| c.fields.get(field)).map_or(0, |f| f.default)
}

pub(super) fn type_of(isa: &GroupIsa, slot: usize, field: usize) -> Type {
    let choice = isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize));
    choice.and_then(|c| c.fields.get(field)).map_or(Type::Decimal, |f| f.ty)
}

fn push_value(isa: &GroupIsa, slot: usize, field: usize, value: i64, out: &mut Line) {
    match type_of(isa, slot, field) {
        Type::Enum(index) => {
            let named = isa.enums.get(index as usize).and_then(|e| e.value(value as u64));
            match named {
                Some(named) => out.push_str(named.text),
                None => push_number(value, out),
            }
        }
        Type::Hex => out.push_hex(value as u64),
        _ => push_number(value, out),
    }
}

pub(super) fn push_number(value: i64, out: &mut Line) {
    if value < 0 {
        out.push_str("-");
    }
    out.push_decimal(value.unsigned_abs());
}

fn operand(isa: &GroupIsa, index: usize, values: &Values, hints: bool, printed: &mut u64, out: &mut Line) {
    *printed |= 1 << (index & 63);
    // Operands may name others, but not forever.
    let mut index = index;
    let mut selected = false;
    for _ in 0..8 {
        let Some(operand) = isa.operands.get(index) else { return };
        match operand.kind {
            OperandKind::Wire(wire) => return out.push_str(wire),
            OperandKind::Register(places) => {
                match places.iter().find(|p| there(isa, p, values)) {
                    Some(place) => {
                        let slot = place.slot as usize;
                        let bank = values.get(isa, slot, place.bank.into());
                        register(isa, bank, values.get(isa, slot, place.number.into()), out);
                    }
                    None => out.push_str("_"),
                }
                if hints && selected {
                    out.push_str("@");
                    out.push_str(operand.name);
                }
                return;
            }
            OperandKind::Select { slot, field, options, .. } => {
                let value = values.get(isa, slot.into(), field.into());
                selected = true;
                match options.iter().find(|(v, _)| *v == value) {
                    Some((_, next)) => index = (*next).into(),
                    None => return out.push_str("?"),
                }
            }
        }
    }
}

/// Whether a place names a register in this group.
pub(super) fn there(isa: &GroupIsa, place: &RegisterPlace, values: &Values) -> bool {
    let slot = place.slot as usize;
    values.has(slot) && (place.count.0 == Slot::NEVER || values.get(isa, slot, place.count.0.into()) >= place.count.1)
}

/// How a register is written.
pub(super) fn name_of(isa: &GroupIsa, bank: i64, number: i64) -> Option<&'static RegisterName> {
    isa.registers.iter().find(|r| {
        let rest = number >> r.low.min(16);
        r.bank == bank && number & ((1 << r.low.min(16)) - 1) == r.is && (r.from..=r.to).contains(&rest)
    })
}

/// Writes a register.
pub fn register(isa: &GroupIsa, bank: i64, number: i64, out: &mut Line) {
    match name_of(isa, bank, number) {
        Some(name) => {
            out.push_str(name.before);
            push_number((number >> name.low.min(16)) - name.from + name.first, out);
            out.push_str(name.after);
        }
        None => {
            out.push_str("bank");
            push_number(bank, out);
            out.push_str(":");
            push_number(number, out);
        }
    }
}

/// Appends what the text does not say. `None` when it says something else than the group.
fn marks(
    isa: &GroupIsa,
    values: &Values,
    group: &Group,
    read: &Assembled,
    implied: u8,
    separator: &str,
    out: &mut Line,
) -> Option<()> {
    let mut first = true;
    let mut mark = |out: &mut Line| {
        if first && !out.as_bytes().is_empty() {
            out.push_str(separator);
        }
        out.push_str(if first { "with " } else { ", " });
        first = false;
    };
    let mut said = read.values.clone();
    let fillers = isa.slots.iter().enumerate().filter(|(_, s)| s.filler).fold(1, |set, (i, _)| set | 1 << i);
    for slot in (0..SLOTS).filter(|s| values.has(*s)) {
        let s = isa.slots.get(slot)?;
        if !said.has(slot) && fillers >> slot & 1 == 0 {
            mark(out);
            out.push_str(s.name);
            said.insert(slot);
        }
        let choice = isa.choices.get(s.choice as usize)?;
        for (field, f) in choice.fields.iter().enumerate() {
            let value = values.get(isa, slot, field);
            if computed(isa, slot, field) || value == said.get(isa, slot, field) {
                continue;
            }
            mark(out);
            out.push_str(s.name);
            out.push_str(".");
            out.push_str(f.name);
            out.push_str("=");
            push_value(isa, slot, field, value, out);
            said.set(isa, slot, field, value);
        }
    }
    // What is in the text and not in the group cannot be taken back by a mark.
    if said.present & !(values.present | fillers) != 0 {
        return None;
    }
    let plain = encode(isa, &said, &Form::CANONICAL);
    for slot in (0..SLOTS).filter(|s| group.has(*s)) {
        let chosen = plain.as_ref().ok().map(|p| p.record_index(slot));
        if chosen != Some(group.record_index(slot)) {
            mark(out);
            out.push_str(isa.slots.get(slot)?.name);
            out.push_str(":");
            out.push_str(group.record(isa, slot)?.name);
        }
    }
    let mut form = group.form();
    form.length = implied;
    if encode(isa, &said, &form).map_or(true, |again| again.len() != group.len()) {
        mark(out);
        out.push_str("length=");
        out.push_decimal(group.len() as u64);
    }
    Some(())
}

/// Whether encoding computes a field.
pub(super) fn computed(isa: &GroupIsa, slot: usize, field: usize) -> bool {
    let Some(s) = isa.slots.get(slot) else { return true };
    let keyed = slot == 0 && isa.plans.iter().any(|p| p.key.iter().any(|k| k.field as usize == field));
    let header = isa.choices.get(s.choice as usize);
    let implied = slot == 0
        && header.is_some_and(|c| c.records.iter().any(|r| r.implies.iter().any(|(f, _)| *f as usize == field)));
    let derived = isa.derived.iter().any(|d| d.slot as usize == slot && d.field as usize == field);
    derived || keyed || implied || s.ends as usize == field && s.chain != 0
}
