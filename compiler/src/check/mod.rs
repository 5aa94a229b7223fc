//! Rules that a model must follow.
//!
//! Each rule is a module, or a function in one, with its own code; `isaforge check --explain CODE` prints its page from
//! the [`catalogue`](crate::catalogue). Rules see a model with all names bound, and they do not stop at the first
//! mistake. Definitions and instructions that could not be resolved are missing from the model and not reported again.

//!
//! - `coverage`, `ambiguity`, `enums`, `names`: bits, words, values and names have one meaning each
//! - `syntax`, `readable`, `grammar`, `language`: what is printed can be read, and means the same
//! - `unused`: warnings about what has no effect
//! - `text`, `layout`, `suspect`, `witness`: bits as text, drawings, the likelier of two mistakes, and words for
//!   messages

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
pub(crate) mod text;
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
