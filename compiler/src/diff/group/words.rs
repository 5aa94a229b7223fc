//! The words of operations: patterns of their records, and groups that contain them.

use isaforge_core::bits::ones;
use isaforge_core::group::info::operations;
use isaforge_core::group::table::{Check, Operation, Record, Token, Type};
use isaforge_core::group::text::{SEPARATOR, is};
use isaforge_core::group::{Group, Values, canonical, decode, print};
use isaforge_core::stream::Wide;
use isaforge_core::text::Line;

use super::names::{Set, choice, records, slots};
use crate::diff::difference::{Pattern, Reading};

/// The bits that one record has if its slot contains an operation.
#[derive(Clone)]
pub(super) struct Bits {
    pub slot: usize,
    pub record: &'static Record,
    pub mask: u64,
    pub value: u64,
}

/// The bits of all records that may hold an operation, once for each combination of values that mean it.
pub(super) fn patterns(isa: Set, of: &Operation) -> Vec<Bits> {
    let in_record = |slot: usize, record: &'static Record| {
        let mut found = vec![Bits { slot, record, mask: record.mask, value: record.value }];
        for (_, field, allowed) in of.is.iter().filter(|(at, ..)| *at == Token::OWN || usize::from(*at) == slot) {
            let own = &choice(isa, slot).fields[usize::from(*field)];
            let Some(place) = record.places.iter().find(|place| place.field == *field) else {
                let implied = record.implies.iter().find(|(known, _)| known == field);
                found.retain(|_| allowed.contains(&implied.map_or(own.default, |(_, value)| *value)));
                continue;
            };
            let width = place.bits.width();
            let stored = allowed.iter().filter_map(|value| own.encoding.stored(*value, width));
            let stored: Vec<u64> = stored.filter(|bits| *bits > 63 || place.allowed >> bits & 1 != 0).collect();
            let with = |bits: &Bits, value: u64| Bits {
                mask: bits.mask | place.bits.mask(0),
                value: place.bits.set(bits.value, 0, value),
                ..bits.clone()
            };
            found = found.iter().flat_map(|bits| stored.iter().map(|value| with(bits, *value))).collect();
        }
        found
    };
    let all = slots(of.slots).flat_map(|slot| records(isa, slot).map(move |record| (slot, record)));
    all.flat_map(|(slot, record)| in_record(slot, record)).collect()
}

/// Whether a field of a record is the business of an operation. It is not if the record always has another operation,
/// for another part of the slot, that says what the field is.
pub(super) fn concerns(isa: Set, of: &Operation, slot: usize, record: &Record, field: u8) -> bool {
    let says = |other: &Operation| {
        let own = |at: u8, known: u8| known == field && (at == Token::OWN || usize::from(at) == slot);
        other.is.iter().any(|(at, known, _)| own(*at, *known))
            || other.syntax.iter().any(|token| match *token {
                Token::Text(_) | Token::Operand(_) | Token::Role(_) => false,
                Token::Flag(at, known, _)
                | Token::Suffix(at, known, _)
                | Token::Value(at, known)
                | Token::Words(at, known, _)
                | Token::Optional(at, known, _)
                | Token::Bits(at, known, _) => own(at, known),
            })
    };
    let always = |other: &Operation| {
        let is_own = |(at, ..): &(u8, u8, _)| *at == Token::OWN || usize::from(*at) == slot;
        let whole = |bits: &Bits| bits.slot == slot && std::ptr::eq(bits.record, record) && bits.mask == record.mask;
        other.is.iter().all(is_own) && patterns(isa, other).iter().any(whole)
    };
    let others = isa.operations.iter().filter(|other| other.part != of.part && other.slots >> slot & 1 != 0);
    says(of) || !others.into_iter().any(|other| !other.remark && says(other) && always(other))
}

/// The bits that the first record of an operation always has.
pub(super) fn pattern(isa: Set, of: &Operation) -> Pattern {
    let all = patterns(isa, of);
    let Some(first) = all.first() else { return Pattern { mask: Wide::ZERO, value: Wide::ZERO } };
    let same = all.iter().filter(|bits| bits.slot == first.slot && std::ptr::eq(bits.record, first.record));
    let mask = same.fold(first.mask, |mask, bits| mask & bits.mask & !(bits.value ^ first.value));
    Pattern { mask: Wide::new(mask), value: Wide::new(first.value & mask) }
}

/// Whether a revision may decode a record of an operation that only the other one has.
pub(super) fn meets(isa: Set, other: Set, of: &Operation) -> bool {
    patterns(other, of).iter().any(|bits| {
        let slot = isa.slots.iter().position(|slot| slot.name == other.slots[bits.slot].name);
        slot.is_some_and(|slot| {
            records(isa, slot).any(|record| {
                let fits = |check: &Check| {
                    let given = check.bits.mask(0) & !bits.mask == 0;
                    !given || check.allowed >> (check.bits.get(bits.value, 0) & 63) & 1 != 0
                };
                (record.value ^ bits.value) & record.mask & bits.mask == 0 && record.checks.iter().all(fits)
            })
        })
    })
}

/// How a revision decodes the bytes of one group.
pub(super) fn reading(isa: Set, bytes: &[u8]) -> Reading {
    match decode(isa, bytes) {
        Ok(group) if group.len() != bytes.len() => Reading::Invalid(format!("the group has {} bytes", group.len())),
        Ok(group) => {
            let mut line = Line::new();
            print(isa, &group, SEPARATOR, &mut line);
            Reading::Text(line.as_str().to_owned())
        }
        Err(error) => Reading::Invalid(error.to_string()),
    }
}

/// The names of the operations in the bytes of a group.
pub(super) fn names(isa: Set, bytes: &[u8]) -> Vec<&'static str> {
    let group = decode(isa, bytes).ok();
    group.iter().flat_map(|group| operations(isa, group).map(|(.., operation)| operation.name)).collect()
}

/// Whether bytes are a group with an operation.
fn contains(isa: Set, bytes: &[u8], of: &Operation) -> bool {
    let Ok(group) = decode(isa, bytes) else { return false };
    let values = group.values(isa);
    slots(group.present()).any(|slot| is(isa, of, slot, &values))
}

/// The number of groups that are tried with an operation.
const TRIES: usize = 8192;

/// Bytes with an operation that another revision reads differently. Those with slots of a set are tried first.
pub(super) fn differing(of: Set, by: Set, with: &Operation, first: u32) -> Option<Vec<u8>> {
    let differs = |bytes: &Vec<u8>| contains(of, bytes, with) && reading(of, bytes) != reading(by, bytes);
    let all = || groups(of, with, first);
    let plain = all().map(|(_, group)| group.as_bytes().to_vec());
    let flipped = all().take(1).flat_map(|(_, group)| flipped(&group));
    let changed = all().flat_map(|(slot, group)| changed(of, slot, &group));
    plain.chain(flipped).chain(changed).take(TRIES).find(differs)
}

/// Bytes with any operations that another revision reads differently.
pub(super) fn any_differing(of: Set, by: Set) -> Option<Vec<u8>> {
    // Of both revisions, since one may take bytes for an operation that the other has not.
    let all = |isa: Set| isa.operations.iter().filter_map(move |known| groups(isa, known, 0).next());
    let plain = all(of).chain(all(by)).map(|(_, group)| group.as_bytes().to_vec());
    let changed = all(of).flat_map(|(slot, group)| changed(of, slot, &group).chain(changed(of, 0, &group)));
    let flipped = all(of).flat_map(|(_, group)| flipped(&group));
    let mut tried = plain.chain(changed).chain(flipped).take(8 * TRIES);
    tried.find(|bytes| decode(of, bytes).is_ok() && reading(of, bytes) != reading(by, bytes))
}

/// Groups with an operation in each of its slots, and with each record of that slot or of another one, which is given.
fn groups(isa: Set, of: &Operation, first: u32) -> impl Iterator<Item = (usize, Group)> {
    let others: Vec<usize> = slots(first).chain(slots(!first)).filter(|slot| *slot < isa.slots.len()).collect();
    slots(of.slots).flat_map(move |slot| {
        let others = std::iter::once(slot).chain(others.clone());
        let all = others.flat_map(move |other| {
            std::iter::once((other, None)).chain(records(isa, other).map(move |record| (other, Some(record))))
        });
        all.filter_map(move |(other, record)| {
            let mut values = Values::new(isa);
            values.insert(slot);
            values.insert(other);
            for (field, value) in record.iter().flat_map(|record| record.needs.iter().chain(record.implies)) {
                values.set(isa, other, (*field).into(), *value);
            }
            for (at, field, allowed) in of.is {
                let at = if *at == Token::OWN { slot } else { (*at).into() };
                values.set(isa, at, (*field).into(), allowed.first().copied().unwrap_or(0));
            }
            Some((other, canonical(isa, &values).ok()?))
        })
    })
}

/// Groups that differ from this one in a field of a slot.
fn changed(isa: Set, slot: usize, group: &Group) -> impl Iterator<Item = Vec<u8>> + use<> {
    let values = group.values(isa);
    (0..choice(isa, slot).fields.len()).flat_map(move |field| {
        let values = values.clone();
        tries(isa, slot, field).into_iter().filter_map(move |value| {
            let mut changed = values.clone();
            changed.set(isa, slot, field, value);
            Some(canonical(isa, &changed).ok()?.as_bytes().to_vec())
        })
    })
}

/// The bytes of a group with one bit inverted, for each bit.
fn flipped(group: &Group) -> impl Iterator<Item = Vec<u8>> + use<> {
    let bytes = group.as_bytes().to_vec();
    (0..8 * bytes.len()).map(move |bit| {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    })
}

/// Values of a field: all that have names, or those at the ends of its range and powers of two.
fn tries(isa: Set, slot: usize, field: usize) -> Vec<i64> {
    let own = &choice(isa, slot).fields[field];
    if let Type::Enum(names) = own.ty {
        return isa.enums[usize::from(names)].values.iter().map(|value| value.bits as i64).collect();
    }
    let places = records(isa, slot).flat_map(|record| record.places).filter(|place| usize::from(place.field) == field);
    let width = places.map(|place| place.bits.width()).max().unwrap_or(1);
    let powers = (0..width.min(62)).map(|bit| 1 << bit);
    let stored = [0, ones(width), ones(width.min(62)) >> 1].into_iter().chain(powers);
    stored.map(|bits| own.encoding.value(bits, width)).collect()
}
