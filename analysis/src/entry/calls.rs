//! Calls of programs that the specification describes: what a branch calls, and where it is to return.

use std::collections::{BTreeMap, BTreeSet};

use isaforge_core::Isa;
use isaforge_core::decode::alternative_of;
use isaforge_core::semantics::facts::Callee;
use isaforge_core::semantics::{Modifier, Semantics, Special, instantiate};
use isaforge_core::table::{self, Form, Shape, Type};

use super::words::constant;
use crate::effects::written_value;
use crate::entry::{Entry, Instruction, Register, entries, labels};
use crate::program::Program;
use crate::set::Set;

/// A word and where it is.
pub(super) struct Place<'s> {
    pub set: &'s Set,
    pub isa: &'static Isa,
    pub word: u64,
    pub address: u64,
}

/// What a word calls: its target is one of the addresses of the callee.
pub(super) fn callee(semantics: &Semantics, isa: &'static Isa, form: &Form, word: u64) -> Option<&'static Callee> {
    semantics.callees.iter().find(|callee| {
        let target = form.operands.iter().find(|operand| operand.name == callee.target);
        callee.instruction == form.name.str && target.is_some_and(|operand| is_address(isa, operand, word, callee))
    })
}

/// Whether an operand names one of the addresses of a callee.
fn is_address(isa: &'static Isa, operand: &table::Operand, word: u64, callee: &Callee) -> bool {
    let Shape::One { kind, at } = operand.shape else { return false };
    let found = alternative_of(isa, isa.kinds[usize::from(kind)].alternatives, at, word);
    found.into_iter().flat_map(|found| found.fields).any(|field| {
        let Type::Enum(of) = field.ty else { return false };
        let of = &isa.enums[usize::from(of)];
        let Some(value) = of.value(field.bits.get(word, at)) else { return false };
        callee.addresses.iter().any(|(name, values)| *name == of.name && values.contains(&value.name))
    })
}

/// The link register that a word writes, and the value.
pub(super) fn link(
    place: &Place<'_>,
    semantics: &'static Semantics,
    opcode: u16,
    writes: &[(Register, bool)],
) -> Option<(Register, u64)> {
    let links = semantics.callees.iter().map(|callee| Register::preload(callee.link.into()));
    let (link, _) = writes.iter().find(|(register, whole)| *whole && links.clone().any(|link| link == *register))?;
    // No other register, so the first element of the only destination is meant.
    let (1, isa, word) = (writes.len(), place.isa, place.word) else { return None };
    let form = &isa.forms[usize::from(opcode)];
    let written = form.operands.iter().position(|operand| operand.access == table::Access::Write)?;
    let operation = semantics.operations.get(usize::from(opcode))?;
    let shape = instantiate(semantics, operation, |index| {
        operation.modifiers.get(usize::from(index)).map_or(0, |modifier| modifier.bits(isa, form, word))
    });
    let known = |operand: u16, element: u16| {
        let operand = form.operands.get(usize::from(operand)).filter(|_| element == 0)?;
        constant(isa, operand, word).or_else(|| place.reading(semantics, operand))
    };
    Some((*link, written_value(&shape, (written as u16, 0), &known, &|special| place.special(special))?))
}

impl Place<'_> {
    /// A property of the threads that execute the word, if all have it.
    fn special(&self, special: Special) -> Option<u64> {
        let unit = u64::from(self.set.hardware?.unit).max(1);
        match special {
            Special::Pc => Some(self.address / unit),
            Special::Next => Some(self.next() / unit),
            Special::Lane | Special::Active => None,
        }
    }

    /// The address of the next instruction.
    fn next(&self) -> u64 {
        self.address.wrapping_add(self.set.tables.unit() as u64)
    }

    /// The value of an operand whose reading the specification defines.
    fn reading(&self, semantics: &'static Semantics, operand: &table::Operand) -> Option<u64> {
        let Shape::One { kind, at } = operand.shape else { return None };
        let found = alternative_of(self.isa, self.isa.kinds[usize::from(kind)].alternatives, at, self.word)?;
        let readings = self.set.hardware?.readings;
        let reading = readings.iter().find(|one| one.kind == kind && one.alternative == found.name)?;
        let field = |index: u16| Some(found.fields.get(usize::from(index))?.bits.get(self.word, at));
        let modifiers = reading.operation.modifiers;
        let shape = instantiate(semantics, &reading.operation, |index| match modifiers.get(usize::from(index)) {
            Some(Modifier::Form(known)) => field((*known).into()).unwrap_or(0),
            _ => 0,
        });
        // The operands are the fields, the number of bits to read, and the result.
        let size = found.fields.len() as u16;
        let known = |index: u16, _| if index == size { Some(operand.size.into()) } else { field(index) };
        written_value(&shape, (size + 1, 0), &known, &|special| self.special(special))
    }
}

/// What the link registers hold, if something that always comes before writes a known value.
#[derive(Default)]
struct Links(BTreeMap<Register, u64>);

impl Links {
    /// Goes past an instruction and finds whether the branch in it is a call. `next` is the address after it.
    fn pass(&mut self, one: &mut Instruction, next: u64) {
        if let Some(callee) = one.callee {
            let link = self.0.get(&Register::preload(callee.link.into())).copied();
            one.flow.calls = link == Some(next);
            one.callee = one.callee.filter(|_| one.flow.calls || link == Some(0));
        }
        self.0.retain(|link, _| !one.writes_to(*link) && one.clobbers().all(|register| register != *link));
        self.0.extend(one.link);
    }
}

impl Program<'_> {
    /// Finds where calls return to, which instructions before them have written to the link register. A branch whose
    /// return address is not found may lead anywhere. To be called again when there is another entry point.
    pub(crate) fn find_returns(&mut self) {
        let mut links = Links::default();
        for index in 0..self.entries.len() {
            let next = self.address(index + 1);
            if self.labels.contains_key(&index) || self.entry_points.contains(&index) {
                links = Links::default();
            }
            match &mut self.entries[index].instruction {
                Ok(one) => links.pass(one, next),
                Err(_) => links = Links::default(),
            }
        }
    }
}

/// Reads the instructions of a program in order, as [`entries`] does, with calls of programs that the specification
/// describes told from other branches: that depends on the instructions before them. `labels` are the offsets that
/// branches lead to, the keys of [`labels`].
///
/// Suitable for programs too large to keep in memory: nothing but the values of link registers is kept.
pub fn entries_with_calls<'a>(
    set: &'a Set,
    bytes: &'a [u8],
    labels: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = Entry> + 'a {
    let (mut links, labels) = (Links::default(), BTreeSet::from_iter(labels));
    entries(set, bytes).map(move |mut entry| {
        if labels.contains(&entry.bytes.start) {
            links = Links::default();
        }
        match &mut entry.instruction {
            Ok(one) => links.pass(one, set.address(entry.bytes.end as u64)),
            Err(_) => links = Links::default(),
        }
        entry
    })
}

/// The offsets of the branches of a program that call one of those that the specification describes.
///
/// Like [`entries_with_calls`], it reads the program as a stream, so only the labels and the result take memory.
pub fn calls(set: &Set, bytes: &[u8]) -> BTreeSet<usize> {
    let calls = |entry: &Entry| entry.instruction.as_ref().is_ok_and(|one| one.flow.calls && one.callee.is_some());
    let found = entries_with_calls(set, bytes, labels(set, bytes).into_keys()).filter(calls);
    found.map(|entry| entry.bytes.start).collect()
}
