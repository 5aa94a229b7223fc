//! The decision tree flattened to two look-ups, for the fast path.

use isaforge_core::bits::ones;
use isaforge_core::decode::{Fast, Quick};
use isaforge_core::table::{Decoder, Isa};

/// Flattens the tree of `isa`. Words that need a third look-up take the exact path.
pub(super) fn fast(isa: &'static Isa, quick: &'static [Quick], sets: &'static [u64]) -> Fast {
    let (nodes, branches) = (isa.decoder.nodes, isa.decoder.branches);
    let branch = |first: u32, index: u64| branches.get(first as usize + index as usize).copied().unwrap_or(Decoder::NONE);
    let Some(root) = nodes.first() else {
        return Fast { shift: 0, mask: 0, primary: &[], secondary: &[], quick, sets };
    };
    let mut primary = Vec::new();
    let mut secondary = Vec::new();
    for value in 0..=ones(u32::from(root.width)) {
        let base = secondary.len() as u64;
        let mut entry = base << 32;
        match branch(root.first, value) {
            inner if inner != Decoder::NONE && inner & Decoder::INNER != 0 => {
                let node = &nodes[usize::from(inner & !Decoder::INNER)];
                entry |= u64::from(node.shift) | ones(u32::from(node.width)) << 8;
                for v in 0..=ones(u32::from(node.width)) {
                    let found = branch(node.first, v);
                    secondary.push(if found & Decoder::INNER == 0 { found } else { Decoder::NONE });
                }
            }
            form => secondary.push(form),
        }
        primary.push(entry);
    }
    Fast {
        shift: root.shift,
        mask: ones(u32::from(root.width)),
        primary: super::slice(primary.into_iter()),
        secondary: super::slice(secondary.into_iter()),
        quick,
        sets,
    }
}
