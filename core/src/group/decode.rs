//! Decodes bytes to groups, strictly.

use crate::group::error::GroupError;
use crate::group::table::{Check, Derive, GroupIsa, MAX_BYTES, Plan, Rule, SLOTS, Slot, Test};
use crate::group::value::Group;

/// Decodes the group at the start of `bytes`. Bytes after it are ignored.
///
/// Every bit is checked: constant bits, reserved values, derived fields, padding. A group that decodes contains exactly
/// the bytes it came from.
///
/// # Errors
/// The first error.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::decode;
/// use isaforge_usc::ISA;
///
/// let group = decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?;
/// assert_eq!(group.len(), 8);
/// assert!(decode(ISA, &[0xff; 32]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode(isa: &GroupIsa, bytes: &[u8]) -> Result<Group, GroupError> {
    let mut group = Group::empty();
    let have = bytes.len().min(MAX_BYTES);
    match (group.bytes.first_chunk_mut::<MAX_BYTES>(), bytes.first_chunk::<MAX_BYTES>()) {
        // Copying a known size takes two vector moves.
        (Some(to), Some(from)) => *to = *from,
        _ => group.bytes.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from),
    }
    let Some(header) = isa.slots.first() else { return Err(GroupError::Truncated { needed: 1, found: have }) };
    if have == 0 {
        return Err(GroupError::Truncated { needed: 1, found: 0 });
    }
    let length = take(isa, header, &mut group, 0, 0, have)?.ok_or_else(|| unknown(&group, header, 0))?;
    let index = group.record_index(0);
    let Some(plan) = isa.plans.get(index) else { return Err(no_parts(isa, Some(header), index, 0)) };
    group.present = slots_of(plan, group.word(0)).map_err(|found| no_parts(isa, Some(header), index, found))?;
    let end = parts(isa, &mut group, length, have)?;
    finish(isa, &mut group, plan, end, have)?;
    Ok(group)
}

/// The slots that the key fields of a header word select; the key if no group has such a header.
#[inline]
fn slots_of(plan: &Plan, word: u64) -> Result<u32, u64> {
    let mut key = 0;
    let mut shift = 0;
    for place in plan.key {
        key |= place.bits.get(word, 0) << shift;
        shift += place.bits.width();
    }
    match plan.slots.get(key as usize) {
        Some(&slots) if slots != Plan::NONE => Ok(slots),
        _ => Err(key),
    }
}

#[cold]
fn no_parts(isa: &GroupIsa, header: Option<&Slot>, index: usize, found: u64) -> GroupError {
    let choice = header.and_then(|header| isa.choices.get(header.choice as usize));
    let record = choice.and_then(|c| c.records.get(index));
    GroupError::Header { record: record.map_or("", |r| r.name), found }
}

#[cold]
fn unknown(group: &Group, slot: &Slot, at: usize) -> GroupError {
    GroupError::Unknown { slot: slot.name, at: at as u8, found: group.word_at(at) as u8 }
}

/// Finds and checks the record of a slot at `at`. Returns its length; `None` when no record matches.
#[inline(always)]
fn take(
    isa: &GroupIsa,
    slot: &Slot,
    group: &mut Group,
    index: usize,
    at: usize,
    have: usize,
) -> Result<Option<usize>, GroupError> {
    let word = group.word_at(at);
    let first = slot.first[(word & 0xff) as usize] as usize;
    let Some(tests) = slot.tests.get(first..) else { return Ok(None) };
    for test in tests {
        if word & test.mask == test.value {
            let end = at + test.bytes as usize;
            if end > have {
                return Err(short(group, slot, at, end, have));
            }
            for check in test.checks {
                let found = check.bits.get(word, 0);
                if check.allowed >> (found & 63) & 1 == 0 {
                    return Err(reserved(isa, slot, test, check, at, found));
                }
            }
            group.records[index & (SLOTS - 1)] = test.record;
            group.starts[index & (SLOTS - 1)] = at as u8;
            return Ok(Some(test.bytes as usize));
        }
        if test.last {
            break;
        }
    }
    Ok(None)
}

#[cold]
fn short(group: &Group, slot: &Slot, at: usize, needed: usize, have: usize) -> GroupError {
    // Without the missing bytes, the record may be a different one, but more bytes are needed in any case.
    if have == MAX_BYTES { unknown(group, slot, at) } else { GroupError::Truncated { needed, found: have } }
}

#[cold]
fn reserved(isa: &GroupIsa, slot: &Slot, test: &Test, check: &Check, at: usize, found: u64) -> GroupError {
    let choice = isa.choices.get(slot.choice as usize);
    let field = choice.and_then(|c| c.fields.get(check.field as usize)).map_or("", |f| f.name);
    let record = choice.and_then(|c| c.records.get(test.record as usize)).map_or("", |r| r.name);
    GroupError::Reserved { slot: slot.name, record, field, at: at as u8, found }
}

/// Decodes the records of all slots after the header. Returns the offset of their end.
#[inline]
fn parts(isa: &GroupIsa, group: &mut Group, start: usize, have: usize) -> Result<usize, GroupError> {
    let mut at = start;
    let mut rest = group.present & !1;
    // The current chain: its number, the last slot found, and whether that slot announces another part.
    let mut chain = (0, None::<&Slot>, false);
    while rest != 0 {
        let index = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let Some(slot) = isa.slots.get(index) else { break };
        if slot.chain != chain.0 {
            close(group, chain, at)?;
            chain = (slot.chain, None, true);
        }
        if slot.chain == 0 {
            at += take(isa, slot, group, index, at, have)?.ok_or_else(|| missing(group, slot, at, have))?;
            continue;
        }
        let found = if chain.2 { take(isa, slot, group, index, at, have)? } else { None };
        match found {
            None => group.present &= !(1 << index),
            Some(length) => {
                at += length;
                let ended = slot.ends == Slot::NEVER || group.get(isa, index, slot.ends as usize) != 0;
                chain = (slot.chain, Some(slot), !ended);
            }
        }
    }
    close(group, chain, at)?;
    Ok(at)
}

fn missing(group: &Group, slot: &Slot, at: usize, have: usize) -> GroupError {
    if at >= have { GroupError::Truncated { needed: at + 1, found: have } } else { unknown(group, slot, at) }
}

/// Checks that a chain has at least one part and that its last part is marked as the last.
#[inline]
fn close(group: &Group, chain: (u8, Option<&Slot>, bool), at: usize) -> Result<(), GroupError> {
    match chain {
        (0, ..) | (_, Some(_), false) => Ok(()),
        (_, Some(last), true) => Err(GroupError::Missing { slot: last.name, at: at as u8 }),
        (_, None, _) => Err(GroupError::Unknown { slot: "chain", at: at as u8, found: group.word_at(at) as u8 }),
    }
}

/// Checks length, padding, derived fields and rules.
#[inline]
fn finish(isa: &GroupIsa, group: &mut Group, plan: &Plan, end: usize, have: usize) -> Result<(), GroupError> {
    let header = group.word(0);
    for planned in plan.derived {
        let found = planned.encoding.value(planned.bits.get(header, 0), planned.bits.width());
        let expected = match planned.rule {
            Derive::Length => {
                let length = found.unsigned_abs() as usize * isa.unit as usize;
                if length > have {
                    return Err(GroupError::Truncated { needed: length, found: have });
                }
                if length < end {
                    return Err(GroupError::Overrun { parts: end as u8, length: length as u8 });
                }
                group.len = length as u8;
                continue;
            }
            Derive::Offset { slot, if_any } => offset(group, slot, if_any, end) as i64,
        };
        if expected != found {
            let (slot, field) = names(isa, 0, planned.field);
            return Err(GroupError::Derived { slot, field, expected, found });
        }
    }
    // Tables with a header that does not give the length of its group are rejected when they are built. A group of
    // length 0 would make callers that decode consecutive groups loop forever.
    if group.len == 0 {
        return Err(no_parts(isa, isa.slots.first(), group.record_index(0), header));
    }
    for at in end..group.len as usize {
        let (expected, found) = (padding(isa, end, group.len as usize, at), group.bytes[at]);
        if expected != found {
            return Err(GroupError::Padding { at: at as u8, expected, found });
        }
    }
    for rule in plan.rules.iter().filter_map(|r| isa.rules.get(*r as usize)) {
        if let Some((field, found)) = broken(rule, |field| group.get(isa, 0, field as usize)) {
            return Err(GroupError::Rule { rule: rule.doc, field: names(isa, 0, field).1, found });
        }
    }
    Ok(())
}

pub(super) fn names(isa: &GroupIsa, slot: u8, field: u8) -> (&'static str, &'static str) {
    let Some(slot) = isa.slots.get(slot as usize) else { return ("", "") };
    let field = isa.choices.get(slot.choice as usize).and_then(|c| c.fields.get(field as usize));
    (slot.name, field.map_or("", |f| f.name))
}

/// Returns the first field that breaks a rule, and its value.
pub(super) fn broken(rule: &Rule, get: impl Fn(u8) -> i64) -> Option<(u8, i64)> {
    let allowed = |set: u64, value: i64| (0..64).contains(&value) && set >> value & 1 != 0;
    if !rule.when.iter().all(|(field, set)| allowed(*set, get(*field))) {
        return None;
    }
    rule.need
        .iter()
        .map(|(field, set)| (*field, *set, get(*field)))
        .find(|(_, set, value)| !allowed(*set, *value))
        .map(|(f, _, v)| (f, v))
}

/// The offset of a slot; if the slot is absent, that of the next present slot.
pub(super) fn offset(group: &Group, slot: u8, if_any: u32, end: usize) -> usize {
    if if_any != 0 && group.present & if_any == 0 {
        return 0;
    }
    match (group.present >> (slot & 31)).trailing_zeros() {
        32 => end,
        next => group.start(slot as usize + next as usize),
    }
}

/// The byte of padding at `at` in a group whose parts end at `end`.
pub(super) fn padding(isa: &GroupIsa, end: usize, length: usize, at: usize) -> u8 {
    let unit = usize::from(isa.unit.max(1));
    let whole = end.next_multiple_of(unit);
    if at < whole {
        isa.padding.odd
    } else if at == whole {
        isa.padding.first | ((length - whole) / unit) as u8
    } else {
        isa.padding.rest
    }
}
