//! Layouts that no word matches.
//!
//! W0212: no word satisfies the conditions of an instruction, of an alternative of an operand, or of an alias, or
//! another alias prints all words of one.
//! Conditions that are too costly to decide count as satisfiable.

use std::ops::RangeInclusive;

use isaforge_core::stream::{self as core, Engine, Input, Role};

use super::diagram::Node;
use super::model::Stream;
use super::rules::{engine_for, report};
use super::tree::order;
use super::validity::Validity;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The maximum number of generations for which a condition that depends on them is tried.
const GENERATIONS: u32 = 32;

/// Checks all sets.
pub(super) fn check(tables: &'static core::Stream, stream: &Stream, out: &mut Diagnostics) {
    let mut validity = Validity::new(tables);
    let mut never = Vec::new();
    for (at, set) in stream.sets.iter().enumerate() {
        let first = tables.sets.get(at).map_or(0, |set| set.first);
        for ((index, layout), of) in (first..).zip(tables.layouts_of(at)).zip(order(set)) {
            // What a foreign decoder never decodes is not a mistake here.
            if tables.exclusive && layout.role == Role::Own {
                continue;
            }
            // Where `since` and `until` leave no generation, that was reported when they were read.
            let Some(engine) = engine_for(tables, &[layout]) else { continue };
            let Some(mut generations) = generations(engine, layout) else { continue };
            if validity.is_told_a_length(layout, at > 0) {
                continue;
            }
            let before = earlier(tables, at, (index, layout));
            let taken = layout.role == Role::Preferred && !before.is_empty();
            let tried = generations.clone();
            if !generations.any(|generation| is_possible(&mut validity, generation, (index, layout), &before)) {
                let mut tried = tried.filter(|_| taken);
                let taken = tried.any(|generation| is_possible(&mut validity, generation, (index, layout), &[]));
                never.push((at, of, layout.role, taken));
            }
        }
    }
    let warnings = never.iter().map(|(at, of, role, taken)| {
        let set = &stream.sets[*at];
        let layout = &set.layouts[*of];
        let message = match role {
            Role::Own if *at > 0 => {
                format!("no `{}` is read as `{}`: its conditions never hold", set.name, layout.name)
            }
            Role::Own => format!("no word is `{}`: its conditions never hold", layout.name),
            _ if *taken => {
                format!("`{}` is never printed: another alias is tried first for all its words", layout.name)
            }
            _ => format!("no word is written as `{}`: its conditions never hold", layout.name),
        };
        Diagnostic::warning("W0212", layout.span, message).help(match role {
            Role::Own => {
                "compare its `where` with the values its fields can have and with what is tried before it, or remove it"
            }
            _ if *taken => "leave out `prints` of one of them, or remove one",
            _ => "compare `with` and `where` with the values the instruction's fields can have, or remove the alias",
        })
    });
    report(never.len(), warnings, out);
}

/// The layouts that are tried before one of a set and may take words from it, in all generations that have it.
pub(super) fn earlier(tables: &'static core::Stream, at: usize, (index, layout): (u16, &core::Layout)) -> Vec<u16> {
    let first = tables.sets.get(at).map_or(0, |set| set.first);
    (first..index)
        .zip(tables.layouts_of(at))
        // Of two aliases, the first one is printed.
        .filter(|(_, other)| match layout.role {
            Role::Own => other.role == Role::Own,
            role => role == Role::Preferred && (other.role, other.opcode) == (role, layout.opcode),
        })
        .filter(|(_, other)| ((other.value ^ layout.value) & other.mask & layout.mask).is_zero())
        // A layout that exists only in some generations leaves its words to this one in the others.
        .filter(|(_, other)| other.since <= layout.since && other.until >= layout.until)
        .filter(|(_, other)| !asks_for_the_generation(tables, other))
        .map(|(index, _)| index)
        .collect()
}

/// The generations for which a layout is tried, starting with its first; `None` if there are too many.
fn generations(engine: Engine, layout: &core::Layout) -> Option<RangeInclusive<u32>> {
    let Engine { stream, generation: first } = engine;
    let last = if asks_for_the_generation(stream, layout) { layout.until.min(stream.generations.1) } else { first };
    (last - first < GENERATIONS).then_some(first..=last)
}

fn asks_for_the_generation(stream: &'static core::Stream, layout: &core::Layout) -> bool {
    let asks = |expression: &u16| {
        let expression = stream.expressions.get(usize::from(*expression));
        expression.is_some_and(|expression| expression.inputs.contains(&Input::Generation))
    };
    layout.conditions.iter().chain(layout.otherwise).any(asks)
}

/// Whether a layout has a valid word in a generation that no earlier layout takes, as far as is known.
fn is_possible(
    validity: &mut Validity,
    generation: u32,
    (index, layout): (u16, &'static core::Layout),
    before: &[u16],
) -> bool {
    if validity.is_spent() {
        return true;
    }
    validity.turn(generation);
    let taken = validity.taken((index, layout), before);
    let Some(place) = validity.place(index, layout.mask, layout.value) else { return true };
    let place = validity.present(place);
    let own = validity.own(&place);
    let own = validity.diagrams.without(own, taken);
    own != Node::FALSE || validity.diagrams.is_full()
}
