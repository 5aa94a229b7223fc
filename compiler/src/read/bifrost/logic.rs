//! Conditions on modifiers, and the inverse of packing modifiers into fields.
//!
//! The document defines how values are encoded: a field holds the index of the first of its conditions that holds. Here
//! every combination of values is encoded once, which gives a table from bits to values.

use super::document::{Derived, Encoding, Instruction, Modifier, Test};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The maximum number of combinations of values.
const MAX_STATES: usize = 1 << 14;
/// The maximum total width of the packed fields of an encoding in bits.
const MAX_BITS: u32 = 10;
/// The order of the first two sources, which conditions use like a modifier.
const ORDERING: &str = "ordering";

/// The meaning of the packed fields of an encoding.
pub(super) struct Packing {
    /// The modifiers used in conditions, by index.
    pub modifiers: Vec<usize>,
    /// Whether the order of the first two sources is encoded.
    pub ordered: bool,
    /// The values of the modifiers by packed bits: for sources in order, and if the order is encoded, for the first
    /// above the second. `None` for bits that no combination packs to.
    pub tables: Vec<Vec<Option<Vec<usize>>>>,
}

/// Inverts the packing of an encoding. `None` after a mistake.
pub(super) fn unpack(instruction: &Instruction, encoding: &Encoding, out: &mut Diagnostics) -> Option<Packing> {
    let mut names = Vec::new();
    encoding.test.names(&mut names);
    for test in encoding.derived.iter().flat_map(|derived| &derived.options).flatten() {
        test.names(&mut names);
    }
    let ordered = names.iter().any(|name| name.value == ORDERING);
    let mut modifiers = Vec::new();
    for name in names.iter().filter(|name| name.value != ORDERING) {
        let Some(found) = instruction.modifiers.iter().position(|m| m.name.value == name.value) else {
            let message = format!("`{}` has no modifier `{}`", instruction.name.value, name.value);
            out.push(Diagnostic::error("E0101", name.span, message).help("write `#` before a word"));
            return None;
        };
        if !modifiers.contains(&found) {
            modifiers.push(found);
        }
    }
    if ordered && instruction.sources.len() < 2 {
        out.push(Diagnostic::error("E0101", encoding.span, "`ordering` compares two sources, but there are fewer"));
        return None;
    }
    let bits: u32 = encoding.derived.iter().map(|derived| u32::from(derived.bits)).sum();
    let states = modifiers.iter().try_fold(1usize, |all, m| all.checked_mul(1 << instruction.modifiers[*m].bits));
    let Some(states) = states.filter(|states| *states <= MAX_STATES && bits <= MAX_BITS) else {
        let error = Diagnostic::error("E0127", encoding.span, "this packs too much to be inverted");
        out.push(error.note(format!("there is room for {MAX_STATES} combinations of values and {MAX_BITS} bits")));
        return None;
    };
    let orders: &[&str] = if ordered { &["lt", "gt"] } else { &[""] };
    let tables = orders.iter().map(|order| table(instruction, encoding, &modifiers, states, bits, order)).collect();
    Some(Packing { modifiers, ordered, tables })
}

fn table(
    instruction: &Instruction,
    encoding: &Encoding,
    modifiers: &[usize],
    states: usize,
    bits: u32,
    order: &str,
) -> Vec<Option<Vec<usize>>> {
    let mut table = vec![None; 1 << bits];
    for state in 0..states {
        let mut rest = state;
        let value_of = |modifier: &Modifier, rest: &mut usize| {
            let value = *rest & ((1 << modifier.bits) - 1);
            *rest >>= modifier.bits;
            value
        };
        let values: Vec<usize> = modifiers.iter().map(|m| value_of(&instruction.modifiers[*m], &mut rest)).collect();
        let word = |name: &str| {
            let found = modifiers.iter().zip(&values).find(|(m, _)| instruction.modifiers[**m].name.value == name);
            found.map_or(order, |(m, value)| instruction.modifiers[*m].option(*value))
        };
        if !encoding.test.holds(&word) {
            continue;
        }
        if let Some(packed) = pack(&encoding.derived, &word) {
            table[packed] = Some(values);
        }
    }
    table
}

/// The bits of all packed fields, those of the first one lowest. `None` when a field has no value for the combination.
fn pack<'w>(derived: &'w [Derived], word: &dyn Fn(&'w str) -> &'w str) -> Option<usize> {
    let (mut packed, mut at) = (0, 0);
    for field in derived {
        let holds = |test: &'w Option<Test>| test.as_ref().is_some_and(|test| test.holds(word));
        packed |= field.options.iter().position(holds)? << at;
        at += u32::from(field.bits);
    }
    Some(packed)
}
