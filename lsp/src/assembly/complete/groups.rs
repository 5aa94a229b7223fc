//! What can follow a text in sets of groups.

use std::cell::RefCell;
use std::collections::BTreeSet;

use isaforge_core::group::GroupIsa;
use isaforge_core::group::parse::{Expected, can_be, expected};
use isaforge_core::group::table::{OperandKind, Operation, RegisterName, Type};

use super::{Offer, Offers, labels, name_in};
use crate::assembly::Source;
use crate::assembly::registers::of_group;

/// All that may follow a text in a part of a group.
fn all(isa: &'static GroupIsa, text: &str) -> Vec<(&'static Operation, Expected)> {
    let told = RefCell::new(Vec::new());
    expected(isa, text, &|operation, next| told.borrow_mut().push((operation, next)));
    told.into_inner()
}

/// Whether some part starts with a text.
fn takes(isa: &'static GroupIsa, text: &str) -> bool {
    let found = std::cell::Cell::new(false);
    expected(isa, text, &|_, next| {
        let within = matches!(next, Expected::Text(rest) if super::is_within_word(text, rest));
        found.set(found.get() || !within);
    });
    found.get()
}

/// The words that may follow a dot.
pub fn suffixes(isa: &'static GroupIsa, before: &str, typed: &str) -> Offers {
    let Some(head) = before.strip_suffix('.') else { return Offers::NONE };
    let mut found = Vec::new();
    for (_, next) in all(isa, head) {
        match next {
            Expected::Suffix(word) => found.push(Offer::plain(word)),
            Expected::SuffixValue(ty) => found.extend(values(isa, ty)),
            Expected::Text(text) => {
                let word = text.strip_prefix('.').and_then(|word| word.split(|c: char| !super::is_word(c)).next());
                found.extend(word.map(Offer::plain));
            }
            Expected::Words(words) => {
                found.extend(words.iter().filter_map(|word| word.strip_prefix('.')).map(Offer::plain));
            }
            _ => {}
        }
    }
    found.sort();
    Offers::accepted(found, typed, |name| !name.is_empty() && takes(isa, &format!("{before}{name}")))
}

fn values(isa: &'static GroupIsa, ty: Type) -> impl Iterator<Item = Offer> {
    let values = match ty {
        Type::Enum(index) => isa.enums.get(usize::from(index)).map_or(&[][..], |found| found.values),
        _ => &[],
    };
    values.iter().map(Offer::of)
}

/// The names that may follow a text in a part of a group: operations, words, wires, registers and labels.
pub fn names(source: &Source, isa: &'static GroupIsa, before: &str, typed: &str) -> Offers {
    // The number of a group comes first; a colon must follow it.
    let begun = before.trim_start();
    if begun.starts_with(|c: char| c.is_ascii_digit()) && begun.trim_end().bytes().all(|byte| byte.is_ascii_digit()) {
        return Offers::NONE;
    }
    let (mut words, mut operands) = (Vec::new(), BTreeSet::new());
    let mut has_target = false;
    for (operation, next) in all(isa, before) {
        let doc = operation.doc;
        match next {
            Expected::Text(text) => {
                let name = name_in(text).map(|name| name.split('.').next().unwrap_or(name));
                words.extend(name.map(|name| Offer { doc, ..Offer::plain(name) }));
            }
            Expected::Words(list) => words.extend(list.iter().filter_map(|word| name_in(word)).map(Offer::plain)),
            Expected::Value(ty) => {
                words.extend(values(isa, ty));
                let slots = isa.program.targets.iter().map(|target| target.slot);
                has_target |= matches!(ty, Type::Decimal | Type::Hex)
                    && slots.fold(0, |all, slot| all | 1_u32.checked_shl(slot.into()).unwrap_or(0)) & operation.slots
                        != 0;
            }
            Expected::Operand(operand) => {
                operands.insert(operand);
            }
            Expected::Suffix(_) | Expected::SuffixValue(_) | Expected::Nothing => {}
        }
    }
    let mut wires = BTreeSet::new();
    operands.iter().for_each(|operand| wires_of(isa, *operand, &mut wires, 8));
    words.sort();
    // A register that is not there.
    let nothing = (!operands.is_empty()).then_some("_");
    let named = wires.into_iter().chain(nothing).map(Offer::plain);
    // The first registers of every bank matter most.
    let can =
        |name: &RegisterName, number: i64| operands.iter().any(|operand| can_be(isa, *operand, name.bank, number));
    let mut registers: Vec<(String, u32)> = Vec::new();
    for name in isa.registers.iter().filter(|_| !operands.is_empty()) {
        let all = of_group(name).filter(|(_, register)| can(name, register.index.into()));
        registers.extend(all.map(|(name, register)| (name, register.index)));
    }
    registers.sort_by_key(|(_, index)| *index);
    let registers = registers.iter().map(|(name, _)| Offer::plain(name));
    let labels: Vec<Offer> = labels(source).filter(|_| has_target).collect();
    let takes = |name: &str| labels.iter().any(|label| label.name == name) || takes(isa, &format!("{before}{name}"));
    Offers::accepted(words.into_iter().chain(named).chain(labels.iter().cloned()).chain(registers), typed, takes)
}

/// The wires that an operand can be.
fn wires_of(isa: &'static GroupIsa, operand: u16, found: &mut BTreeSet<&'static str>, depth: u8) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match isa.operands.get(usize::from(operand)).map(|operand| operand.kind) {
        Some(OperandKind::Wire(wire)) if !wire.is_empty() => {
            found.insert(wire);
        }
        Some(OperandKind::Select { options, .. }) => {
            options.iter().for_each(|(_, option)| wires_of(isa, (*option).into(), found, depth));
        }
        _ => {}
    }
}
