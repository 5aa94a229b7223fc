//! The decision tree that finds the instruction for a word.

use isaforge_core::bits::ones;
use isaforge_core::table::{Decoder, Node};

use crate::leak::slice;
use crate::model::{Form, Isa};

/// The maximum width of a node's field; the table of its branches has at most `2^MAX_BITS` entries.
const MAX_BITS: u32 = 10;

struct Tree {
    patterns: Vec<(u64, u64)>,
    nodes: Vec<Node>,
    branches: Vec<u16>,
}

/// Builds the tree. Patterns are pairwise disjoint (E0106), so that every split separates some; if one is a special
/// case of another, its bits are tested until the choice between the two is certain.
pub(super) fn decoder(isa: &Isa) -> Decoder {
    let patterns = isa.forms.iter().map(Form::pattern).collect();
    let mut tree = Tree { patterns, nodes: Vec::new(), branches: Vec::new() };
    let all: Vec<u16> = (0..isa.forms.len() as u16).collect();
    tree.node(&all, 0);
    Decoder { nodes: slice(tree.nodes), branches: slice(tree.branches) }
}

impl Tree {
    /// Adds the subtree for some forms, given the bits known so far, and returns its branch.
    fn node(&mut self, forms: &[u16], known: u64) -> u16 {
        let index = self.nodes.len();
        let (shift, width) = self.split(forms, known);
        let known = known | ones(width) << shift;
        let first = self.branches.len();
        self.nodes.push(Node { shift: shift as u8, width: width as u8, first: first as u32 });
        self.branches.resize(first + (1 << width), Decoder::NONE);
        for value in 0..1u64 << width {
            let subset = self.compatible(forms, shift, width, value);
            let branch = match subset[..] {
                [] => continue,
                [only] => only,
                _ => self.certain(&subset, known).unwrap_or_else(|| self.node(&subset, known)),
            };
            self.branches[first + value as usize] = branch;
        }
        Decoder::INNER | index as u16
    }

    /// The form with the most constant bits, if all of these are known.
    fn certain(&self, forms: &[u16], known: u64) -> Option<u16> {
        let mask = |f: &u16| self.patterns[*f as usize].0;
        forms.iter().copied().max_by_key(|f| mask(f).count_ones()).filter(|f| mask(f) & !known == 0)
    }

    fn compatible(&self, forms: &[u16], shift: u32, width: u32, value: u64) -> Vec<u16> {
        let fits = |f: &&u16| {
            let (mask, want) = self.patterns[**f as usize];
            ((value << shift) ^ want) & mask & (ones(width) << shift) == 0
        };
        forms.iter().filter(fits).copied().collect()
    }

    /// The run of bits that separates the forms best: the smallest maximum subset, then the fewest bits.
    fn split(&self, forms: &[u16], known: u64) -> (u32, u32) {
        let (all, any) = forms.iter().fold((u64::MAX, 0), |(all, any), f| {
            let (mask, _) = self.patterns[*f as usize];
            (all & mask, any | mask)
        });
        let common = self.best(forms, all);
        common.or_else(|| self.best(forms, any)).unwrap_or_else(|| {
            // Only a special case and the general form are left: test the next bits.
            let rest = any & !known;
            let shift = rest.trailing_zeros().min(63);
            (shift, (rest >> shift).trailing_ones().clamp(1, MAX_BITS))
        })
    }

    fn best(&self, forms: &[u16], bits: u64) -> Option<(u32, u32)> {
        let mut best: Option<(usize, u32, u32)> = None;
        for shift in 0..64u32 {
            let run = (bits >> shift).trailing_ones().min(MAX_BITS);
            for width in 1..=run {
                let values = forms.iter().map(|f| {
                    let (mask, value) = self.patterns[*f as usize];
                    ((mask >> shift) & ones(width), (value >> shift) & ones(width))
                });
                let largest = largest_subset(values, width);
                let candidate = (largest, width, shift);
                if largest < forms.len() && best.is_none_or(|b| candidate < b) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|(_, width, shift)| (shift, width))
    }
}

/// How many patterns the fullest branch gets.
fn largest_subset(patterns: impl Iterator<Item = (u64, u64)>, width: u32) -> usize {
    let mut counts = vec![0usize; 1 << width];
    let all = ones(width);
    for (mask, value) in patterns {
        // Enumerates all values that match the pattern: the free bits run through all subsets.
        let free = all & !mask;
        let mut rest = free;
        loop {
            counts[((value & mask) | rest) as usize] += 1;
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & free;
        }
    }
    counts.into_iter().max().unwrap_or(0)
}
