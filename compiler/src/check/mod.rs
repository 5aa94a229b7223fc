//! Rules that a model must keep.
//!
//! Each rule is a module, or a function of one, with a code of its own. Rules look at a model whose names are all bound;
//! they never stop at the first mistake.

pub mod ambiguity;
pub mod coverage;
pub mod enums;
pub mod names;
pub mod syntax;
pub mod unused;

use crate::diagnostic::Diagnostics;
use crate::model::Isa;

/// Applies every rule.
pub fn check(isa: &Isa, out: &mut Diagnostics) {
    names::check(isa, out);
    enums::check(isa, out);
    coverage::check(isa, out);
    ambiguity::check(isa, out);
    syntax::check(isa, out);
    unused::check(isa, out);
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
