//! The instructions of a program: their text, operands, register accesses and control flow.
//!
//! - `instruction`: what is known about one
//! - `calls`: those of programs that the specification describes
//! - `words`, `groups`, `streams`: read those of each kind of set

mod calls;
mod groups;
mod instruction;
mod streams;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use isaforge_core::Tables;
use isaforge_core::program::label_of;

pub use crate::registers::Register;
pub use calls::{calls, entries_with_calls};
pub(crate) use instruction::List;
pub use instruction::{Entry, Flow, Instruction, Modifier, Operand};

use crate::set::Set;

/// Reads the instructions of a program in order. Bytes that do not decode form an entry as long as the set's unit, or
/// as long as a group's header says.
pub fn entries<'a>(set: &'a Set, bytes: &'a [u8]) -> Box<dyn Iterator<Item = Entry> + 'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::read(set, isa, bytes)),
        Tables::Groups(isa) => Box::new(groups::read(set, isa, bytes)),
        Tables::Streams(engine) => Box::new(streams::read(set, engine, bytes)),
    }
}

/// The address of each instruction, and its branch target if it has one, with whether that is a function.
type Targets<'a> = Box<dyn Iterator<Item = (usize, Option<(u64, bool)>)> + 'a>;

fn targets<'a>(set: &Set, bytes: &'a [u8]) -> Targets<'a> {
    match set.tables {
        Tables::Words(isa) => Box::new(words::targets(isa, (set.tables.unit(), set.base), bytes)),
        Tables::Groups(isa) => Box::new(groups::targets(isa, set.base, bytes)),
        Tables::Streams(engine) => Box::new(streams::targets(engine, set.base, bytes)),
    }
}

/// The addresses of the instructions of a program, the same as those of [`entries`].
pub fn places<'a>(set: &Set, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
    targets(set, bytes).map(|(at, _)| at)
}

/// The addresses that branches lead to, which may include the end of the program, and their labels: those of a
/// listing. Their number is the index of an instruction, or in streams the address in units of the set.
///
/// Suitable for programs too large to keep in memory: like [`entries`], it reads the program as a stream, so only the
/// result takes memory.
///
/// ```
/// use isaforge_analysis::{Set, entry::labels};
/// use isaforge_core::Tables;
///
/// let set = Set::new(Tables::Words(isaforge_valhall::ISA), None, None);
/// let words = set.tables.assemble("NOP\nagain: NOP\nBRANCHZ.eq 0x0, again\n");
/// assert_eq!(labels(&set, &words.bytes), [(8, "l1".to_owned())].into());
/// ```
pub fn labels(set: &Set, bytes: &[u8]) -> BTreeMap<usize, String> {
    let mut wanted: BTreeMap<usize, bool> = BTreeMap::new();
    for (target, called) in targets(set, bytes).filter_map(|(_, target)| target) {
        let Ok(target) = usize::try_from(target) else { continue };
        *wanted.entry(target).or_insert(true) &= called;
    }
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let places = places(set, bytes).chain([bytes.len()]).enumerate();
    let label = |(place, at): (usize, usize)| {
        let function = *wanted.get(&at)?;
        Some((
            at,
            match set.tables {
                Tables::Streams(_) if function => format!("fxn{}", at / set.tables.unit()),
                Tables::Streams(_) => label_of(at / set.tables.unit()),
                _ => label_of(place),
            },
        ))
    };
    places.filter_map(label).collect()
}

/// Replaces generated labels by `names`: labels of the source, or symbols of a file. A name for a place without a label
/// becomes its label; a generated label with the name of another place gets a `_` at its end.
pub fn rename(labels: &mut BTreeMap<usize, String>, names: &BTreeMap<usize, String>) {
    let taken: BTreeSet<&str> = names.values().map(String::as_str).collect();
    for label in labels.values_mut() {
        while taken.contains(label.as_str()) {
            label.push('_');
        }
    }
    labels.extend(names.iter().map(|(at, name)| (*at, name.clone())));
}
