//! An encoding as a table: bit numbers, constants as digits, and fields coloured by role.

use isaforge_core::annotate::Role;
use maud::{Markup, html};

use super::anchor;
use crate::backend::manual::facts::{Layout, Part, Run};

/// The number of bits in a row of the diagram.
const ROW: u16 = 32;

/// The CSS class of a role, which determines its colour.
pub fn class(role: Role) -> &'static str {
    match role {
        Role::Opcode => "opcode",
        Role::Fixed => "fixed",
        Role::Modifier => "modifier",
        Role::Operand => "operand",
        Role::Suffix => "suffix",
        Role::Shared => "shared",
        Role::Ignored => "ignored",
    }
}

/// The description of a role.
fn meaning(role: Role) -> &'static str {
    match role {
        Role::Opcode => "opcode",
        Role::Fixed => "constant",
        Role::Modifier => "modifier",
        Role::Operand => "operand",
        Role::Suffix => "operand modifier",
        Role::Shared => "shared by operands",
        Role::Ignored => "ignored",
    }
}

/// The diagram of an encoding, whose fields link to the parts that explain them; empty for an encoding without bits.
pub fn diagram(layout: &Layout, parts: &[Part], label: &str) -> Markup {
    if layout.bits == 0 {
        return html! {};
    }
    let rows = layout.bits.div_ceil(ROW);
    html! {
        div.bits tabindex="0" role="region" aria-label={ "Encoding of " (label) } {
            @for row in (0..rows).rev() {
                @let low = row * ROW;
                @let high = (low + ROW).min(layout.bits) - 1;
                @let runs = part(&layout.runs, high, low);
                table style={ "--bits:" (high - low + 1) } {
                    thead { tr {
                        @for run in &runs {
                            td colspan=[span(run)] { (ends(run)) }
                        }
                    } }
                    tbody { tr { @for run in &runs { (cell(run, parts)) } } }
                }
            }
        }
    }
}

/// The runs of a row, cut at its ends.
fn part(runs: &[Run], high: u16, low: u16) -> Vec<Run> {
    let inside = runs.iter().filter(|run| run.high >= low && run.low <= high);
    let cut = inside.map(|run| {
        let (top, bottom) = (run.high.min(high), run.low.max(low));
        let from = usize::from(run.high - top);
        let digits = run.digits.get(from..from + usize::from(top - bottom + 1)).unwrap_or_default().to_owned();
        Run { high: top, low: bottom, digits, ..run.clone() }
    });
    cut.collect()
}

/// The number of columns of a run; `None` for a single column.
fn span(run: &Run) -> Option<u16> {
    (run.high > run.low).then(|| run.high - run.low + 1)
}

/// Digits separated by spaces, so that the cell spreads them over the bits.
fn spaced(digits: &str) -> String {
    digits.chars().map(String::from).collect::<Vec<_>>().join(" ")
}

/// The name of a field; in a narrow cell without that of its operand.
fn fitting(run: &Run) -> &str {
    let columns = usize::from(run.high - run.low + 1);
    match run.name.rsplit_once('.') {
        Some((_, last)) if run.name.len() > columns * 3 => last,
        _ => &run.name,
    }
}

fn ends(run: &Run) -> Markup {
    html! {
        @if run.high == run.low { span { (run.high) } } @else { span { (run.high) } span { (run.low) } }
    }
}

fn cell(run: &Run, parts: &[Part]) -> Markup {
    let bits = if run.high == run.low { format!("bit {}", run.low) } else { format!("bits {}..{}", run.high, run.low) };
    let title = match run.name.as_str() {
        "" => format!("{bits}: {}", meaning(run.role)),
        name => format!("{bits}: {name}, {}", meaning(run.role)),
    };
    let name = fitting(run);
    html! {
        td class=(class(run.role)) colspan=[span(run)] title=(title) {
            @if run.digits.is_empty() && run.name.is_empty() { span.free { "·" } }
            @else if run.name.is_empty() { code { (spaced(&run.digits)) } }
            @else if parts.iter().any(|part| part.name == run.name) { a href={ "#" (anchor(&run.name)) } { (name) } }
            @else { (name) }
        }
    }
}
