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

/// A finding that several things share: the one to report, and those that it concerns.
pub(crate) type Hub = (usize, Vec<usize>);

/// Covers the edges of a graph of mistakes: one thing that clashes with many is one mistake, not many. The node with the
/// most edges comes first and takes them all; among equals the later one, which is likely the newer.
pub(crate) fn hubs(edges: &[(usize, usize)]) -> Vec<Hub> {
    use std::collections::{BTreeMap, BTreeSet};
    let mut neighbours: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &(a, b) in edges {
        neighbours.entry(a).or_default().insert(b);
        neighbours.entry(b).or_default().insert(a);
    }
    // Nodes by their number of edges; changes are few, so that the whole takes time for each edge, not for each pair.
    let mut queue: BTreeSet<(usize, usize)> = neighbours.iter().map(|(node, near)| (near.len(), *node)).collect();
    let mut hubs = Vec::new();
    while let Some((count, hub)) = queue.pop_last().filter(|(count, _)| *count > 0) {
        let near = neighbours.remove(&hub).unwrap_or_default();
        debug_assert_eq!(near.len(), count);
        for node in &near {
            if let Some(others) = neighbours.get_mut(node) {
                queue.remove(&(others.len(), *node));
                others.remove(&hub);
                queue.insert((others.len(), *node));
            }
        }
        hubs.push((hub, near.into_iter().collect()));
    }
    hubs
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

    #[test]
    fn one_thing_that_clashes_with_many_is_one_finding() {
        assert_eq!(hubs(&[(0, 3), (1, 3), (2, 3)]), [(3, vec![0, 1, 2])]);
        assert_eq!(hubs(&[(0, 1)]), [(1, vec![0])]);
        assert_eq!(hubs(&[(0, 1), (2, 3), (0, 4)]), [(0, vec![1, 4]), (3, vec![2])]);
    }
}
