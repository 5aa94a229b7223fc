//! Instructions that are groups of records.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::Field;
use crate::annotate::Role;
use crate::group::info::{operations, registers};
use crate::group::table::{Operation, Record, Type};
use crate::group::text::register;
use crate::group::{Group, GroupIsa, Values, canonical};
use crate::semantics::{Semantics, compose, instantiate, show};
use crate::text::Line;

/// A group that contains only this operation, if possible.
pub fn example(isa: &'static GroupIsa, operation: &'static Operation) -> Option<Group> {
    let mut slots = (0..isa.slots.len()).filter(|slot| operation.slots >> slot & 1 != 0);
    slots.find_map(|slot| {
        let mut values = Values::new(isa);
        values.insert(slot);
        for (at, field, allowed) in operation.is {
            let at = if usize::from(*at) < isa.slots.len() { (*at).into() } else { slot };
            values.set(isa, at, (*field).into(), allowed.first().copied().unwrap_or(0));
        }
        canonical(isa, &values).ok()
    })
}

/// What a group does: the texts of its operations, put together along the data path. `None` when the specification does
/// not say it.
///
/// # Examples
///
/// ```
/// use isaforge_core::{explain::groups::operation, group::assemble};
/// use isaforge_usc::{ISA, semantics::SEMANTICS};
///
/// let group = assemble(ISA, "fadd ft0, r0, r1 | mov r2, ft0")?.encode(ISA)?;
/// println!("{}", operation(ISA, SEMANTICS, &group).unwrap());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn operation(isa: &'static GroupIsa, semantics: &Semantics, group: &Group) -> Option<String> {
    let shape = compose(semantics, isa, &group.values(isa)).ok()?;
    let name = |operand: u16| isa.operands.get(usize::from(operand)).map_or("?", |operand| operand.name);
    Some(show(semantics, &shape, name))
}

/// What the operation in a slot of a group does by itself: its text once the fields of the group are known, with the
/// names of wires and roles. `None` when the specification does not say it.
pub fn operation_in(isa: &'static GroupIsa, semantics: &Semantics, group: &Group, slot: usize) -> Option<String> {
    let (_, number, _) = operations(isa, group).find(|(found, ..)| *found == slot)?;
    let operation = semantics.operations.get(number).filter(|operation| !operation.text.is_empty())?;
    let (values, slot) = (group.values(isa), u8::try_from(slot).ok()?);
    let modifiers = operation.modifiers;
    let value = |index: u16| modifiers.get(usize::from(index)).map_or(0, |of| of.in_group(isa, &values, slot, (0, 1)));
    let roles = semantics.path.as_ref().map_or(&[][..], |path| path.roles);
    let names = isa.operands.iter().map(|operand| operand.name).chain(roles.iter().copied());
    let name = |operand: u16| names.clone().nth(usize::from(operand)).unwrap_or("?");
    Some(show(semantics, &instantiate(semantics, operation, value), name))
}

/// The registers that a group reads or writes: the name of each, and the operand that refers to it.
pub fn uses(isa: &'static GroupIsa, group: &Group, write: bool) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    registers(isa, group, write, |it| {
        let mut line = Line::new();
        register(isa, it.bank, it.number, &mut line);
        let operand = isa.operands.get(usize::from(it.operand)).map_or("", |operand| operand.name);
        found.push((line.as_str().to_owned(), operand));
    });
    found
}

/// The fields of a record, and its constant bits.
pub fn fields(isa: &'static GroupIsa, group: &Group, slot: usize, record: &'static Record) -> Vec<Field> {
    let Some(choice) = isa.slots.get(slot).and_then(|s| isa.choices.get(usize::from(s.choice))) else {
        return Vec::new();
    };
    let word = group.word(slot);
    let mut found = Vec::new();
    for place in record.places {
        let Some(field) = choice.fields.get(usize::from(place.field)) else { continue };
        let pieces = core::iter::once(&place.bits.low).chain(place.bits.high);
        let runs: Vec<(u8, u8)> = pieces.map(|p| (p.at + p.width - 1, p.at)).rev().collect();
        let value = group.get(isa, slot, place.field.into());
        let mut entry = Field::new(runs, field.name, Role::Modifier, place.bits.get(word, 0));
        entry.meaning = field.doc.to_owned();
        entry.text = value.to_string();
        match field.ty {
            Type::Enum(index) => {
                let named = isa.enums.get(usize::from(index)).and_then(|e| e.value(value as u64));
                if let Some(named) = named {
                    entry.text = named.name.to_owned();
                    if !named.doc.is_empty() {
                        entry.meaning = format!("{} Here: {}", field.doc, named.doc);
                    }
                }
            }
            Type::Flag => entry.text = if value != 0 { "yes" } else { "no" }.to_owned(),
            Type::Hex => entry.text = format!("{value:#x}"),
            Type::Decimal => {}
        }
        found.push(entry);
    }
    let mut rest = record.mask;
    while rest != 0 {
        let at = rest.trailing_zeros();
        let width = (rest >> at).trailing_ones();
        let value = word >> at & (u64::MAX >> (64 - width));
        let mut entry = Field::new(vec![((at + width - 1) as u8, at as u8)], "constant", Role::Fixed, value);
        entry.meaning = "must have this value".to_owned();
        found.push(entry);
        rest &= (rest >> at).checked_shr(width).and_then(|rest| rest.checked_shl(at + width)).unwrap_or(0);
    }
    found
}
