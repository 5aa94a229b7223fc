//! Decides which side of a conflict is wrong.
//!
//! Two definitions that exclude each other are one mistake, and the message should point at the place to fix. The sides
//! are judged by the rest of the specification:
//!
//! - A definition that conflicts with several others is wrong, not the others.
//! - A field is confirmed by others of its name at the same position without conflict. If all others of its name are at
//!   one other position, it is suspect. Between a suspect and a confirmed side, the suspect is wrong.
//! - A declaration that works wherever else it is used is correct, and its use here is marked.
//!
//! If none of this decides, both sides are marked: a guess would send half of the authors to the wrong line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How far the rest of a specification supports one side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Similar definitions are without conflict.
    BorneOut,
    /// There is no evidence for or against it.
    Unknown,
    /// Other definitions contradict it.
    Suspect,
}

/// How many other uses without conflict confirm a definition.
const SEVERAL: usize = 2;
/// How many consistent uses contradict a definition that differs from them.
const HABIT: usize = 3;

/// The positions of fields without conflict, by name: the bits, and how many fields are there.
#[derive(Default)]
pub(crate) struct Habits<'a>(HashMap<&'a str, BTreeMap<u64, usize>>);

impl<'a> Habits<'a> {
    /// Counts a field without conflict.
    pub(crate) fn add(&mut self, name: &'a str, bits: u64) {
        *self.0.entry(name).or_default().entry(bits).or_default() += 1;
    }

    /// Judges a field by its position and the number of places at which it is in conflict.
    pub(crate) fn standing(&self, name: &str, bits: u64, conflicts: usize) -> Standing {
        let none = BTreeMap::new();
        let places = self.0.get(name).unwrap_or(&none);
        match places.get(&bits) {
            Some(here) if *here >= SEVERAL.max(conflicts) => Standing::BorneOut,
            Some(_) => Standing::Unknown,
            None if places.len() == 1 && places.values().all(|there| *there >= HABIT) => Standing::Suspect,
            None => Standing::Unknown,
        }
    }
}

/// A conflict, or several conflicts with one side in common, to be reported as one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The side that is wrong.
    pub(crate) wrong: usize,
    /// The sides it is in conflict with.
    pub(crate) others: Vec<usize>,
    /// Whether the single other side is as likely to be wrong.
    pub(crate) even: bool,
}

/// Judges conflicts between pairs of definitions by the standing of each.
pub(crate) fn judge(pairs: &[(usize, usize)], standing: impl Fn(usize) -> Standing) -> Vec<Finding> {
    let mut suspects: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut even = Vec::new();
    for &(a, b) in pairs {
        match (standing(a), standing(b)) {
            (Standing::Suspect, Standing::BorneOut) => suspects.entry(a).or_default().push(b),
            (Standing::BorneOut, Standing::Suspect) => suspects.entry(b).or_default().push(a),
            _ => even.push((a, b)),
        }
    }
    let suspects = suspects.into_iter().map(|(wrong, others)| Finding { wrong, others, even: false });
    let even = hubs(&even).into_iter().map(|(wrong, others)| Finding { even: others.len() == 1, wrong, others });
    suspects.chain(even).collect()
}

/// Covers the edges of a conflict graph greedily: a definition that conflicts with many others is one mistake, not
/// many. The node with the most edges comes first and takes all of them; among equals the later node, which is likely
/// newer.
fn hubs(edges: &[(usize, usize)]) -> Vec<(usize, Vec<usize>)> {
    let mut neighbours: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &(a, b) in edges {
        neighbours.entry(a).or_default().insert(b);
        neighbours.entry(b).or_default().insert(a);
    }
    // Nodes ordered by degree. Updates are few, so that the total time grows with the edges, not with all pairs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_that_clashes_with_many_is_one_finding() {
        assert_eq!(hubs(&[(0, 3), (1, 3), (2, 3)]), [(3, vec![0, 1, 2])]);
        assert_eq!(hubs(&[(0, 1)]), [(1, vec![0])]);
        assert_eq!(hubs(&[(0, 1), (2, 3), (0, 4)]), [(0, vec![1, 4]), (3, vec![2])]);
    }

    #[test]
    fn the_side_that_others_speak_against_is_wrong_and_without_one_both_are() {
        let standing = |i: usize| [Standing::Suspect, Standing::BorneOut, Standing::Unknown][i];
        assert_eq!(judge(&[(0, 1)], standing), [Finding { wrong: 0, others: vec![1], even: false }]);
        assert_eq!(judge(&[(1, 2)], standing), [Finding { wrong: 2, others: vec![1], even: true }]);
    }

    #[test]
    fn those_of_a_name_bear_each_other_out_and_speak_with_one_mind_or_not_at_all() {
        let mut habits = Habits::default();
        [("a", 1), ("a", 1), ("a", 1), ("b", 1), ("b", 1)].into_iter().for_each(|(name, bits)| habits.add(name, bits));
        assert_eq!(habits.standing("a", 1, 1), Standing::BorneOut);
        assert_eq!(habits.standing("a", 2, 1), Standing::Suspect);
        assert_eq!(habits.standing("a", 1, 4), Standing::Unknown);
        assert_eq!(habits.standing("b", 2, 1), Standing::Unknown);
        assert_eq!(habits.standing("c", 1, 1), Standing::Unknown);
        habits.add("a", 4);
        assert_eq!(habits.standing("a", 2, 1), Standing::Unknown);
    }
}
