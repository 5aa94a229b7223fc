//! The decision tree that finds the layouts that may match a word.

use isaforge_core::bits::ones;
use isaforge_core::stream::{Branch, Role, Tree, Wide};

use super::model::{Layout, Set};
use crate::leak::slice;

/// The maximum width of a node's field in bits.
const MAX_NODE_BITS: u32 = 8;
/// The maximum number of candidates in a leaf for which no further node is added.
const MAX_LEAF: usize = 1;
/// The cost of trying one candidate.
const WHOLE: u64 = 256;
/// The cost of one node.
const LOOK: u64 = WHOLE / 2;
/// How many branches per layout may be spent to save one candidate.
const ROOM: u64 = 4;
/// The maximum number of branches in a tree.
const MAX_BRANCHES: usize = 1 << 22;

struct Builder {
    patterns: Vec<(Wide, Wide)>,
    first: u16,
    branches: Vec<Branch>,
    lists: Vec<Vec<u16>>,
}

/// The order in which the layouts of a set are tried: by the number of constant bits, then those with conditions first,
/// then as written; aliases come last.
pub(crate) fn order(set: &Set) -> Vec<usize> {
    let mut order: Vec<usize> = (0..set.layouts.len()).collect();
    let key = |layout: &Layout| {
        let role = match layout.role {
            Role::Own => 0,
            Role::Preferred => 1,
            Role::Assembler => 2,
        };
        (role, u32::MAX - layout.mask.count_ones(), layout.conditions.is_empty())
    };
    order.sort_by_key(|i| key(&set.layouts[*i]));
    order
}

/// Builds the tree of a set whose layouts are in the order of trying; `first` is the index of the first.
pub(super) fn tree(layouts: &[Layout], unit: u8, first: u16) -> Tree {
    // If the length is variable, only bits that are always present may be tested.
    let sure = |layout: &Layout| match layout.length {
        Some(_) => Wide::ones(8 * u32::from(unit)),
        None => Wide::ones(layout.bits.into()),
    };
    let patterns = layouts.iter().map(|l| (l.mask & sure(l), l.value & l.mask & sure(l))).collect();
    let mut builder = Builder { patterns, first, branches: Vec::new(), lists: Vec::new() };
    let all: Vec<u16> = (0..layouts.len() as u16).filter(|i| layouts[usize::from(*i)].role == Role::Own).collect();
    let root = builder.branch(&all, Wide::ZERO);
    let lists = slice(builder.lists.into_iter().map(slice));
    Tree { root, branches: slice(builder.branches), lists }
}

impl Builder {
    fn branch(&mut self, layouts: &[u16], known: Wide) -> Branch {
        // No layout is tried after one that certainly matches, so they need not be distinguished.
        let split = if layouts.len() <= MAX_LEAF || self.branches.len() >= MAX_BRANCHES {
            None
        } else {
            self.split(layouts, known)
        };
        let Some((shift, width)) = split else {
            return match layouts {
                [] => Branch::Nothing,
                [one] => Branch::One(self.first + one),
                _ => {
                    self.lists.push(layouts.iter().map(|i| self.first + i).collect());
                    Branch::List(self.lists.len() as u32 - 1)
                }
            };
        };
        let first = self.branches.len();
        self.branches.resize(first + (1 << width), Branch::Nothing);
        let mut looked = known;
        looked.set(shift, width, u64::MAX);
        // Values with the same candidates share a branch.
        let mut seen: Vec<(Vec<u16>, Branch)> = Vec::new();
        for value in 0..1u64 << width {
            let subset = self.compatible(layouts, shift, width, value);
            let branch = match seen.iter().find(|(known, _)| *known == subset) {
                Some((_, branch)) => *branch,
                None => {
                    let branch = self.branch(&subset, looked);
                    seen.push((subset, branch));
                    branch
                }
            };
            self.branches[first + value as usize] = branch;
        }
        Branch::Look { shift: shift as u8, width: width as u8, first: first as u32 }
    }

    fn compatible(&self, layouts: &[u16], shift: u32, width: u32, value: u64) -> Vec<u16> {
        let fits = |i: &&u16| {
            let (mask, want) = &self.patterns[usize::from(**i)];
            (value ^ want.get(shift, width)) & mask.get(shift, width) == 0
        };
        layouts.iter().filter(fits).copied().collect()
    }

    /// The run of bits that separates the layouts best; `None` if no further node would reduce the expected cost.
    fn split(&self, layouts: &[u16], known: Wide) -> Option<(u32, u32)> {
        let any = layouts.iter().fold(Wide::ZERO, |any, i| any | self.patterns[usize::from(*i)].0) & !known;
        let count = layouts.len() as u64;
        let mut best: Option<(u64, u32, u32)> = None;
        for (start, len) in any.runs() {
            for shift in start..start + len {
                for width in 1..=MAX_NODE_BITS.min(start + len - shift) {
                    let sizes = self.sizes(layouts, shift, width);
                    let (total, squares) = sizes.iter().fold((0, 0), |(t, s), n| (t + n, s + n * n));
                    // The average number of candidates is squares / total. Layouts that do not test all of the bits are
                    // in several lists, so the cost also grows with the fourth root of the number of copies: tables
                    // that do not fit into caches are slow.
                    let weight = (total * (total * count).isqrt()).isqrt().max(1);
                    let cost = squares * WHOLE / weight + (WHOLE << width) / (ROOM * count);
                    if cost + LOOK < count * WHOLE && best.is_none_or(|b| (cost, width, shift) < b) {
                        best = Some((cost, width, shift));
                    }
                }
            }
        }
        best.map(|(_, width, shift)| (shift, width))
    }

    /// How many layouts remain for each value of some bits.
    fn sizes(&self, layouts: &[u16], shift: u32, width: u32) -> Vec<u64> {
        let mut sizes = vec![0; 1 << width];
        for i in layouts {
            let (mask, value) = &self.patterns[usize::from(*i)];
            let (free, value) = (!mask.get(shift, width) & ones(width), value.get(shift, width));
            // All values that differ only in free bits.
            let mut part = free;
            loop {
                sizes[(value | part) as usize] += 1;
                if part == 0 {
                    break;
                }
                part = (part - 1) & free;
            }
        }
        sizes
    }
}
