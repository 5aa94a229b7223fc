//! The hierarchies of bitsets: leaves with everything inherited from their ancestors.

use std::collections::HashMap;

use isaforge_core::stream::Wide;

use super::document::{Bitset, Document, Field, Pattern, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::suggest::did_you_mean;

/// The maximum depth of a hierarchy.
const MAX_DEPTH: usize = 64;

/// A bitset that no other extends.
#[derive(Debug)]
pub(super) struct Leaf<'d> {
    /// The bitset and its ancestors, the root last.
    pub chain: Vec<&'d Bitset>,
    pub bits: u16,
    pub since: u32,
    pub until: u32,
    /// The mask of the bits that patterns define.
    pub mask: Wide,
    /// The value of those bits.
    pub value: Wide,
    /// Bits that are ignored.
    pub ignored: Wide,
}

impl<'d> Leaf<'d> {
    pub fn bitset(&self) -> &'d Bitset {
        self.chain[0]
    }

    /// The name in texts.
    pub fn shown(&self) -> &'d str {
        self.bitset().shown()
    }
}

impl Bitset {
    /// The name in texts.
    pub fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.name.value)
    }
}

/// The leaves of each root, in document order.
pub(super) struct Hierarchies<'d> {
    pub roots: HashMap<&'d str, (&'d Bitset, Vec<Leaf<'d>>)>,
}

pub(super) fn run(low: u16, high: u16) -> Wide {
    let mut bits = Wide::ZERO;
    let (mut at, mut rest) = (u32::from(low), u32::from(high - low) + 1);
    while rest > 0 {
        let part = rest.min(64);
        bits.set(at, part, u64::MAX);
        (at, rest) = (at + part, rest - part);
    }
    bits
}

impl Pattern {
    /// The masks of the bits that are `1`, and of those that are `x`.
    pub fn bits(&self) -> (Wide, Wide) {
        let (mut ones, mut any) = (Wide::ZERO, Wide::ZERO);
        for (letter, at) in self.text.bytes().rev().zip(u32::from(self.low)..) {
            match letter {
                b'1' => ones.set(at, 1, 1),
                b'x' => any.set(at, 1, 1),
                _ => {}
            }
        }
        (ones, any)
    }
}

/// Binds bitsets to those they extend, and checks the bits that each defines.
pub(super) fn hierarchies<'d>(document: &'d Document, out: &mut Diagnostics) -> Hierarchies<'d> {
    let mut by_name: HashMap<&str, Vec<&Bitset>> = HashMap::new();
    for bitset in &document.bitsets {
        by_name.entry(&bitset.name.value).or_default().push(bitset);
    }
    let mut found = Hierarchies { roots: HashMap::new() };
    for bitset in document.bitsets.iter().filter(|bitset| bitset.size.is_some()) {
        if found.roots.insert(&bitset.name.value, (bitset, Vec::new())).is_some() {
            let message = format!("`{}` is defined twice", bitset.name.value);
            out.push(Diagnostic::error("E0102", bitset.name.span, message));
        }
    }
    let extended: Vec<&str> =
        document.bitsets.iter().filter_map(|b| b.extends.as_ref().map(|name| name.value.as_str())).collect();
    for bitset in document.bitsets.iter().filter(|bitset| !extended.contains(&bitset.name.value.as_str())) {
        let Some(chain) = chain(bitset, &by_name, out) else { continue };
        let leaf = merged(chain, out);
        if let Some((_, leaves)) = found.roots.get_mut(leaf.chain[leaf.chain.len() - 1].name.value.as_str()) {
            leaves.push(leaf);
        }
    }
    found
}

fn chain<'d>(
    leaf: &'d Bitset,
    by_name: &HashMap<&str, Vec<&'d Bitset>>,
    out: &mut Diagnostics,
) -> Option<Vec<&'d Bitset>> {
    let mut chain = vec![leaf];
    while let Some(parent) = &chain[chain.len() - 1].extends {
        match by_name.get(parent.value.as_str()).map(Vec::as_slice) {
            Some([one]) => chain.push(one),
            Some(_) => {
                let message =
                    format!("several bitsets are called `{}`, and none of them can be extended", parent.value);
                out.push(Diagnostic::error("E0102", parent.span, message));
                return None;
            }
            None => {
                let error = Diagnostic::error("E0101", parent.span, format!("there is no bitset `{}`", parent.value));
                out.push(match did_you_mean(&parent.value, by_name.keys().copied()) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error,
                });
                return None;
            }
        }
        if chain.len() > MAX_DEPTH {
            let message = format!("`{}` extends itself, or has more than {MAX_DEPTH} ancestors", leaf.name.value);
            out.push(Diagnostic::error("E0131", leaf.name.span, message));
            return None;
        }
    }
    Some(chain)
}

fn merged<'d>(chain: Vec<&'d Bitset>, out: &mut Diagnostics) -> Leaf<'d> {
    let bits = chain[chain.len() - 1].size.unwrap_or(0);
    let mut leaf = Leaf {
        bits,
        since: chain.iter().map(|bitset| bitset.since).max().unwrap_or(0),
        until: chain.iter().map(|bitset| bitset.until).min().unwrap_or(u32::MAX),
        mask: Wide::ZERO,
        value: Wide::ZERO,
        ignored: Wide::ZERO,
        chain,
    };
    let whole = Wide::ones(bits.into());
    let own = leaf.bitset();
    let mut covered = Wide::ZERO;
    let mut claim = |bits: Wide, asserted: bool, span, what: &str, out: &mut Diagnostics| {
        if !(bits & !whole).is_zero() {
            let message = format!("bits of {what} lie outside the {} bits of `{}`", whole.count_ones(), own.name.value);
            out.push(Diagnostic::error("E0104", span, message));
        } else if !(bits & covered).is_zero() && !asserted {
            let message = format!("bits of {what} also mean something else in `{}`", own.name.value);
            out.push(Diagnostic::error("E0107", span, message));
        }
        covered |= bits;
    };
    for bitset in &leaf.chain {
        for pattern in &bitset.patterns {
            let (ones, any) = pattern.bits();
            let bits = run(pattern.low, pattern.high);
            claim(bits, false, pattern.span, "a pattern", out);
            leaf.mask |= bits & !any;
            leaf.value |= ones;
            leaf.ignored |= any;
        }
        for field in &bitset.plain.fields {
            if let Source::Bits { low, high } = field.source {
                claim(run(low, high), shadowed(&leaf.chain, bitset, field), field.name.span, &named(field), out);
            }
        }
        for assert in &bitset.plain.asserts {
            claim(run(assert.low, assert.high), true, assert.span, "an assertion", out);
        }
    }
    let rest = whole & !covered;
    if !rest.is_zero() {
        let runs: Vec<String> = rest.runs().map(|(at, width)| format!("{}..{at}", at + width - 1)).collect();
        let message = format!("undefined bits {} in `{}`", runs.join(", "), own.name.value);
        out.push(
            Diagnostic::error("E0105", own.name.span, message).help("add a `<field>`, a `<pattern>` or an `<assert>`"),
        );
    }
    leaf
}

fn named(field: &Field) -> String {
    format!("`{}`", field.name.value)
}

/// Whether a lower level overrides the field.
fn shadowed(chain: &[&Bitset], bitset: &Bitset, field: &Field) -> bool {
    let below = chain.iter().take_while(|level| !std::ptr::eq(**level, bitset));
    below.flat_map(|level| &level.plain.fields).any(|other| other.name.value == field.name.value)
}
