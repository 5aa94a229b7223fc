//! Rules that a model must keep.
//!
//! Each rule is a module, or a function of one, with a code of its own; `isaforge check --explain CODE` prints the page of
//! [`catalogue`](crate::catalogue) on it. Rules look at a model whose names are all bound; they never stop at the first
//! mistake. Definitions and instructions that could not be resolved are not in the model, and what is not there is not
//! complained about.

pub mod ambiguity;
pub mod coverage;
pub mod enums;
mod grammar;
mod language;
mod layout;
pub mod names;
mod readable;
pub(crate) mod suspect;
pub mod syntax;
pub mod unused;
mod witness;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;

/// Applies every rule.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    // What is unused is not known while definitions or instructions are missing for a mistake of theirs.
    let complete = !out.has_errors();
    if complete && isa.forms.is_empty() {
        let message = format!("`{}` has no instructions", isa.name);
        let error = Diagnostic { primary: isa.span, ..Diagnostic::error_without_place("E0034", message) };
        out.push(error.help("describe at least one under `instructions:`, or in a file that `xml:` or `arm:` names"));
    }
    names::check(isa, out);
    enums::check(isa, out);
    coverage::check(isa, out);
    ambiguity::check(isa, out);
    syntax::check(isa, out);
    readable::check(isa, out);
    // A text is read back as it was written only if names are well-formed and each stands for one thing.
    if !out.has_errors() {
        grammar::check(isa, out);
    }
    unused::check(isa, complete, out);
}

/// Applies the rules on names, values and lists of values, for a specification whose instructions are groups.
pub fn check_definitions(isa: &Isa, out: &mut Diagnostics) {
    names::check(isa, out);
    enums::check(isa, out);
    unused::short_lists(isa, out);
}

/// `bits 7..4` or `bit 3`, for the highest and lowest set bit of a mask.
pub(crate) fn bits_text(mask: u64) -> String {
    let (high, low) = (63 - mask.leading_zeros().min(63), mask.trailing_zeros());
    if high == low { format!("bit {low}") } else { format!("bits {high}..{low}") }
}

/// The runs of set bits of a mask, from the top, as text.
pub(crate) fn runs_text(mask: u64) -> String {
    let mut runs = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let low = rest.trailing_zeros();
        let width = (rest >> low).trailing_ones();
        let run = isaforge_core::bits::ones(width) << low;
        runs.push(bits_text(run));
        rest &= !run;
    }
    runs.reverse();
    runs.join(", ")
}

/// `3 more`, where a list was cut at `shown`; `None` when nothing was.
pub(crate) fn more(total: usize, shown: usize) -> Option<usize> {
    total.checked_sub(shown).filter(|rest| *rest > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_written_from_the_top() {
        assert_eq!(bits_text(0b1000), "bit 3");
        assert_eq!(runs_text(0b1000), "bit 3");
        assert_eq!(runs_text(0b1011_0000), "bit 7, bits 5..4");
        assert_eq!(runs_text(u64::MAX), "bits 63..0");
    }
}
