//! Flattens the decision tree to two table look-ups for the fast path.

use isaforge_core::bits::ones;
use isaforge_core::decode::{Fast, Plane, Quick};
use isaforge_core::table::{Decoder, Isa};

use crate::leak::slice;

/// The maximum width of the field in the first look-up, and of the one in the second.
const MAX_BITS: u32 = 10;

/// An empty tree, for when the two look-ups reach every form.
const NO_TREE: Decoder = Decoder { nodes: &[], branches: &[] };

/// The two tables for one choice of the first field.
struct Flat {
    shift: u32,
    width: u32,
    primary: Vec<u64>,
    secondary: Vec<u16>,
    /// How many values of the first field need bits that are too far apart for one second field; such words take the
    /// exact path.
    given_up: usize,
}

/// Flattens the decision tree of `isa`.
pub(super) fn fast(isa: &'static Isa, quick: &'static [Quick], planes: &'static [Plane]) -> Fast {
    let Some(root) = isa.decoder.nodes.first() else {
        return Fast { shift: 0, mask: 0, primary: &[], secondary: &[], quick, planes, deep: NO_TREE };
    };
    // The first field is that of the root, or a wider one if that gives better tables.
    let (shift, width) = (u32::from(root.shift), u32::from(root.width));
    let wider =
        (0..=MAX_BITS.saturating_sub(width)).flat_map(|more| (0..=more.min(shift)).map(move |down| (down, more)));
    let runs = wider.map(|(down, more)| (shift - down, width + more)).filter(|(at, width)| at + width <= 64);
    let flat = runs
        .map(|(shift, width)| flatten(isa, shift, width))
        .min_by_key(|flat| (flat.given_up, flat.primary.len() * 4 + flat.secondary.len()));
    let flat = flat.unwrap_or_else(|| flatten(isa, shift, width));
    Fast {
        shift: flat.shift as u8,
        mask: ones(flat.width),
        primary: slice(flat.primary),
        secondary: slice(flat.secondary),
        quick,
        planes,
        deep: if flat.given_up > 0 { isa.decoder } else { NO_TREE },
    }
}

fn flatten(isa: &'static Isa, shift: u32, width: u32) -> Flat {
    let mut flat = Flat { shift, width, primary: Vec::new(), secondary: Vec::new(), given_up: 0 };
    let known = ones(width) << shift;
    for value in 0..=ones(width) {
        let word = value << shift;
        let base = (flat.secondary.len() as u64) << 32;
        let needed = looked_at(isa, 0, word, known) & !known;
        let (low, span) = match needed {
            0 => (0, 0),
            _ => (needed.trailing_zeros(), 64 - needed.leading_zeros() - needed.trailing_zeros()),
        };
        if span > MAX_BITS {
            flat.given_up += 1;
            flat.primary.push(base);
            flat.secondary.push(Decoder::NONE);
            continue;
        }
        flat.primary.push(base | u64::from(low) | ones(span) << 8);
        flat.secondary.extend((0..=ones(span)).map(|rest| find(isa, 0, word | (rest << low & !known))));
    }
    flat
}

fn branch(isa: &Isa, node: usize, word: u64) -> u16 {
    let Some(node) = isa.decoder.nodes.get(node) else { return Decoder::NONE };
    let value = word >> node.shift & ones(u32::from(node.width));
    isa.decoder.branches.get(node.first as usize + value as usize).copied().unwrap_or(Decoder::NONE)
}

/// The node that a branch leads to; `None` for a leaf.
fn inner(branch: u16) -> Option<usize> {
    (branch != Decoder::NONE && branch & Decoder::INNER != 0).then(|| usize::from(branch & !Decoder::INNER))
}

/// The bits tested by the tree from a node on, in words that agree with `word` in the bits of `known`.
fn looked_at(isa: &Isa, node: usize, word: u64, known: u64) -> u64 {
    let Some(n) = isa.decoder.nodes.get(node) else { return 0 };
    let own = ones(u32::from(n.width)) << n.shift;
    let open = own & !known;
    let values =
        (0..=ones(u32::from(n.width))).map(|value| value << n.shift).filter(|bits| (bits ^ word) & own & known == 0);
    values.fold(open, |mask, bits| match inner(branch(isa, node, bits)) {
        Some(next) => mask | looked_at(isa, next, word | bits, known | own),
        None => mask,
    })
}

/// The form that the tree selects for a word.
fn find(isa: &Isa, mut node: usize, word: u64) -> u16 {
    loop {
        let found = branch(isa, node, word);
        match inner(found) {
            Some(next) => node = next,
            None => return found,
        }
    }
}
