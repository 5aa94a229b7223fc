//! Rules that a model must follow.
//!
//! Each rule is a module, or a function in one, with its own code; `isaforge check --explain CODE` prints its page from
//! the [`catalogue`](crate::catalogue). Rules see a model with all names bound, and they do not stop at the first
//! mistake. Definitions and instructions that could not be resolved are missing from the model and not reported again.

//!
//! - `coverage`, `ambiguity`, `enums`, `names`: bits, words, values and names have one meaning each
//! - `syntax`, `readable`, `grammar`, `language`: what is printed can be read, and means the same
//! - `unused`: warnings about what has no effect
//! - `layout`, `suspect`, `witness`: drawings, the likelier of two mistakes, and words for messages

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

/// Applies all rules.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    // Whether something is unused is unknown while definitions or instructions are missing because of mistakes.
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
    // Text can be parsed back only if names are well-formed and unambiguous.
    if !out.has_errors() {
        grammar::check(isa, out);
    }
    unused::check(isa, complete, out);
}

/// Applies the rules for names, values and lists of values to a specification whose instructions are groups.
pub fn check_definitions(isa: &Isa, out: &mut Diagnostics) {
    names::check(isa, out);
    enums::check(isa, out);
    unused::short_lists(isa, out);
}

/// `bits 7..4` or `bit 3`, for the highest and lowest set bits of a mask.
pub(crate) fn bits_text(mask: u64) -> String {
    let (high, low) = (63 - mask.leading_zeros().min(63), mask.trailing_zeros());
    if high == low { format!("bit {low}") } else { format!("bits {high}..{low}") }
}

/// The runs of set bits in a mask as text, from the top.
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

/// The number of entries omitted from a list that is cut at `shown`; `None` if all are shown.
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
