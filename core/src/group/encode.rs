//! Encodes values to the bytes of a group.

use crate::group::decode::{broken, names, offset, padding};
use crate::group::error::BuildError;
use crate::group::record::Misfit;
use crate::group::table::{Choice, Derive, GroupIsa, Plan, Record, SLOTS, Slot};
use crate::group::value::{Form, Group, Values, is};

/// Encodes a group in the shortest way, as the vendor's compiler would.
///
/// # Errors
/// See [`encode`].
///
/// # Examples
///
/// ```
/// use isaforge_core::group::{canonical, decode};
/// use isaforge_usc::ISA;
///
/// let group = decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?;
/// assert_eq!(canonical(ISA, &group.values(ISA))?, group);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn canonical(isa: &GroupIsa, values: &Values) -> Result<Group, BuildError> {
    encode_own(isa, values.clone().without_form(isa), &Form::CANONICAL)
}

/// Encodes a group in a given form. What the form leaves open is chosen as in [`canonical`].
///
/// Fields that are derived from slots and lengths are computed; their entries in `values` are ignored.
///
/// # Errors
/// When the parts cannot be combined, a value fits no record, or the group is too long.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::{decode, encode};
/// use isaforge_usc::ISA;
///
/// let group = decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?;
/// assert_eq!(encode(ISA, &group.values(ISA), &group.form())?, group);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode(isa: &GroupIsa, values: &Values, form: &Form) -> Result<Group, BuildError> {
    encode_own(isa, values.clone(), form)
}

fn encode_own(isa: &GroupIsa, mut values: Values, form: &Form) -> Result<Group, BuildError> {
    let Some(header) = isa.slots.first() else { return Err(BuildError::Empty) };
    without_encoding(isa, &values)?;
    let choice = &isa.choices[header.choice as usize];
    // Values that a header implies without bits apply only to the attempt with that header.
    let mut said = [0; MAX_HEADER_FIELDS];
    said.iter_mut().zip(values.of(isa, 0)).for_each(|(to, from)| *to = *from);
    let wanted = values.present & !isa.fillers & !1;
    let chained = isa.chains.iter().fold(0, |set, chain| set | chain);
    let mut worst = None;
    for candidate in header.records {
        if form.records[0] != Form::FIRST && form.records[0] != *candidate {
            continue;
        }
        let Some(plan) = isa.plans.get(*candidate as usize) else { continue };
        let Some((key, slots)) = find(isa, plan, wanted, chained) else { continue };
        set_presence(isa, &mut values, choice, *candidate as usize, plan, key);
        values.present = slots & !chained | wanted & chained | 1;
        match with_header(isa, &mut values, form, *candidate as usize, plan) {
            Ok(group) => return Ok(group),
            // The last header tried is the most general, so its error is the most relevant.
            Err(error) => worst = Some(error),
        }
        for (field, value) in said.iter().enumerate().take(choice.fields.len()) {
            values.set(isa, 0, field, *value);
        }
    }
    Err(worst.unwrap_or_else(|| BuildError::Parts { slot: incompatible_slot(isa, wanted) }))
}

/// The number of header fields that are saved between attempts; a choice has no more fields than this.
const MAX_HEADER_FIELDS: usize = 64;

/// Fails if an operation has no public encoding.
fn without_encoding(isa: &GroupIsa, values: &Values) -> Result<(), BuildError> {
    for (index, slot) in present(isa, values.present).filter(|(_, slot)| !slot.without.is_empty()) {
        let Some(choice) = isa.choices.get(slot.choice as usize) else { continue };
        let mut records = slot.without.iter().filter_map(|r| choice.records.get(*r as usize));
        let meant = |r: &&Record| r.implies.iter().all(|(f, v)| values.get(isa, index, *f as usize) == *v);
        let Some(record) = records.find(meant) else { continue };
        // If a public record can hold the values, no other is needed.
        let held =
            |r: &u8| choice.records.get(*r as usize).is_some_and(|r| r.build(choice, values.of(isa, index), 0).is_ok());
        if slot.records.iter().any(held) {
            continue;
        }
        if let Err(misfit) = record.build(choice, values.of(isa, index), 0) {
            let (slot, field) = names(isa, index as u8, misfit.field);
            return Err(BuildError::Value { slot, field, value: misfit.value });
        }
        let mut named = isa.operations.iter().filter(|o| !o.no_encoding.is_empty() && is(isa, o, index, values));
        let (operation, reason) = named.next().map_or((record.name, record.doc), |o| (o.name, o.no_encoding));
        return Err(BuildError::NoEncoding { operation, reason });
    }
    Ok(())
}

/// Finds the first key of a plan that selects exactly the wanted slots, apart from fillers. A chain counts as a whole.
fn find(isa: &GroupIsa, plan: &Plan, wanted: u32, chained: u32) -> Option<(usize, u32)> {
    let apart = !(isa.fillers | chained | 1);
    let same_chains = |slots: u32| isa.chains.iter().all(|chain| (slots & chain != 0) == (wanted & chain != 0));
    let fits = |slots: u32| slots != Plan::NONE && slots & apart == wanted & apart && same_chains(slots);
    plan.slots.iter().copied().enumerate().find(|(_, slots)| fits(*slots))
}

/// A part that is incompatible with the header that allows most of the others; for the error message.
fn incompatible_slot(isa: &GroupIsa, wanted: u32) -> &'static str {
    let best = isa.plans.iter().map(|p| wanted & !p.any).min_by_key(|left| left.count_ones()).unwrap_or(wanted);
    let odd = if best != 0 { best } else { wanted };
    isa.slots.get(odd.trailing_zeros() as usize).map_or("header", |s| s.name)
}

/// Sets the header fields that determine which slots are present.
fn set_presence(isa: &GroupIsa, values: &mut Values, choice: &Choice, record: usize, plan: &Plan, key: usize) {
    let mut rest = key as u64;
    for place in plan.key {
        let width = place.bits.width();
        let field = place.field as usize;
        let encoding = choice.fields.get(field).map_or(crate::group::table::Encoding::Plain, |f| f.encoding);
        values.set(isa, 0, field, encoding.value(rest & crate::bits::ones(width), width));
        rest >>= width;
    }
    for (field, value) in choice.records.get(record).map_or(&[][..], |r| r.implies) {
        values.set(isa, 0, *field as usize, *value);
    }
}

/// Completes encoding once the header's record and the slots are known.
fn with_header(
    isa: &GroupIsa,
    values: &mut Values,
    form: &Form,
    header: usize,
    plan: &Plan,
) -> Result<Group, BuildError> {
    end_chains(isa, values);
    for rule in plan.rules.iter().filter_map(|r| isa.rules.get(*r as usize)) {
        if let Some((field, value)) = broken(rule, |field| values.get(isa, 0, field as usize)) {
            return Err(BuildError::Rule { rule: rule.doc, field: names(isa, 0, field).1, value });
        }
    }
    let mut group = Group::empty();
    group.present = values.present;
    let mut words = [0u64; SLOTS];
    let mut at = 0;
    for (index, slot) in present(isa, values.present) {
        let skip = if index == 0 { plan.derived.iter().fold(0, |set, d| set | 1 << (d.field & 63)) } else { 0 };
        let asked = if index == 0 { header as u8 } else { form.records[index] };
        let (record, word) = choose(isa, values, index, asked, skip)?;
        group.records[index] = record;
        group.starts[index] = at as u8;
        words[index] = word;
        at += isa.choices[slot.choice as usize].records[record as usize].bytes as usize;
        if at > usize::from(isa.longest) {
            return Err(BuildError::TooLong { length: at, longest: isa.longest.into() });
        }
    }
    let needed = at.next_multiple_of(isa.unit.max(1).into());
    let length = if form.length == 0 { needed } else { form.length.into() };
    if length < needed || !length.is_multiple_of(isa.unit.max(1).into()) {
        return Err(BuildError::Length { length, needed });
    }
    if length > usize::from(isa.longest) {
        return Err(BuildError::TooLong { length, longest: isa.longest.into() });
    }
    group.len = length as u8;
    for derived in plan.derived {
        let value = match derived.rule {
            Derive::Length => (length / usize::from(isa.unit.max(1))) as i64,
            Derive::Offset { slot, if_any } => offset(&group, slot, if_any, at) as i64,
        };
        let stored = derived.encoding.stored(value, derived.bits.width());
        let (slot, field) = names(isa, 0, derived.field);
        let stored = stored.ok_or(BuildError::Value { slot, field, value })?;
        words[0] = derived.bits.set(words[0], 0, stored);
    }
    write(isa, &mut group, &words, at);
    Ok(group)
}

/// Sets, in every part of a chain, whether it is the last.
fn end_chains(isa: &GroupIsa, values: &mut Values) {
    for chain in isa.chains {
        let there = values.present & chain;
        for (index, slot) in present(isa, there).filter(|(_, slot)| slot.ends != Slot::NEVER) {
            let last = there >> index == 1;
            values.set(isa, index, slot.ends as usize, last.into());
        }
    }
}

/// Chooses the record of a slot and encodes its word: the record asked for, or else the first that can hold everything.
fn choose(isa: &GroupIsa, values: &Values, index: usize, asked: u8, skip: u64) -> Result<(u8, u64), BuildError> {
    let slot = &isa.slots[index];
    let choice = &isa.choices[slot.choice as usize];
    let fields = values.of(isa, index);
    let name = |misfit: Misfit| names(isa, index as u8, misfit.field).1;
    if asked != Form::FIRST {
        let Some(record) = choice.records.get(asked as usize).filter(|_| slot.records.contains(&asked)) else {
            return Err(BuildError::Parts { slot: slot.name });
        };
        let word = record.build(choice, fields, skip);
        return word.map(|word| (asked, word)).map_err(|m| BuildError::Form {
            slot: slot.name,
            record: record.name,
            field: name(m),
            value: m.value,
        });
    }
    for candidate in slot.records {
        let record = &choice.records[*candidate as usize];
        if let Some(word) = record.try_build(choice, fields, skip).filter(|_| record.unusable.is_empty()) {
            return Ok((*candidate, word));
        }
    }
    // Report the misfit of the record that got furthest; fields are checked in order.
    let mut misfit = Misfit { field: 0, value: 0 };
    let mut unusable = None;
    for candidate in slot.records {
        let record = &choice.records[*candidate as usize];
        match record.build(choice, fields, skip) {
            Ok(_) => unusable = Some(record),
            Err(m) if m.field >= misfit.field => misfit = m,
            Err(_) => {}
        }
    }
    Err(match unusable {
        Some(record) => BuildError::Unusable { slot: slot.name, record: record.name, reason: record.unusable },
        None => BuildError::Value { slot: slot.name, field: name(misfit), value: misfit.value },
    })
}

/// The slots of a bit set.
fn present(isa: &GroupIsa, mut rest: u32) -> impl Iterator<Item = (usize, &Slot)> {
    core::iter::from_fn(move || {
        let index = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        Some((index, isa.slots.get(index)?))
    })
}

fn write(isa: &GroupIsa, group: &mut Group, words: &[u64; SLOTS], end: usize) {
    for (index, slot) in present(isa, group.present) {
        let start = group.starts[index] as usize;
        let bytes = isa.choices[slot.choice as usize].records[group.records[index] as usize].bytes as usize;
        if let (Some(to), Some(from)) =
            (group.bytes.get_mut(start..start + bytes), words[index].to_le_bytes().get(..bytes))
        {
            to.copy_from_slice(from);
        }
    }
    let length = group.len as usize;
    for at in end..length {
        group.bytes[at] = padding(isa, end, length, at);
    }
}
