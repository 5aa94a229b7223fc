//! Aliases that no word is printed as.
//!
//! W0212: no word of the instruction meets the conditions of an alias. Conditions that are too costly to decide count as
//! possible.

use isaforge_core::stream as core;

use super::check::{TOLD, engine_for};
use super::model::Set;
use super::tree::order;
use super::validity::Validity;
use crate::check::more;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Checks the aliases of the instructions.
pub(super) fn check(stream: &'static core::Stream, set: &Set, out: &mut Diagnostics) {
    let layouts = (0u16..).zip(stream.layouts_of(0)).zip(order(set));
    let aliases = layouts.filter(|((_, layout), _)| layout.role != core::Role::Own);
    let mut validity = Validity::new(stream);
    let mut never = Vec::new();
    for ((index, layout), of) in aliases {
        let Some(engine) = engine_for(stream, &[layout]) else { continue };
        validity.turn(engine.generation);
        let place = validity.place(index, layout.mask, layout.value);
        if place.is_some_and(|place| !validity.is_possible(&place)) {
            never.push(&set.layouts[of]);
        }
    }
    let count = never.len();
    for (i, layout) in never.into_iter().enumerate().take(TOLD) {
        let message = format!("no word is written as `{}`: what it demands never holds", layout.name);
        let mut warning = Diagnostic::warning("W0212", layout.span, message);
        if i + 1 == TOLD
            && let Some(rest) = more(count, TOLD)
        {
            warning = warning.note(format!("and {rest} more"));
        }
        let help = "compare `with` and `where` with what the instruction's fields can be, or take the alias away";
        out.push(warning.help(help));
    }
}
