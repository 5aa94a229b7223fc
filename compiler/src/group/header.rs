//! Which slots of a group its header announces: by the values that a record of the header implies and stores.

use isaforge_core::bits::ones;
use isaforge_core::group::table::{self as core, Type};

use super::model::{Choice, Condition, Groups, Place, Record, Slot};
use crate::model::Isa;

/// A bit set of the values of a field that are valid; all of them for a number.
pub(crate) fn allowed(isa: &Isa, choice: &Choice, place: &Place) -> u64 {
    let Type::Enum(index) = choice.fields[place.field].ty else { return u64::MAX };
    let index = place.narrowed.unwrap_or(index.into());
    let fits = |v: &&crate::model::Value| v.bits < 64 && v.bits <= ones(place.bits.width());
    isa.enums[index].values.iter().filter(fits).fold(0, |set, v| set | 1 << v.bits)
}

/// The fields of the header that conditions of slots use and that the given header record stores in bits.
pub(crate) fn key_of(groups: &Groups, record: &Record) -> Vec<Place> {
    let mut fields: Vec<usize> =
        groups.slots.iter().flat_map(|s| s.when.iter().flatten()).map(|(field, _)| *field).collect();
    fields.sort_unstable();
    fields.dedup();
    fields.iter().filter_map(|f| record.places.iter().find(|p| p.field == *f)).cloned().collect()
}

/// Whether at least one of the conditions holds for the values that a header record implies.
pub(crate) fn holds(when: &[Condition], record: &Record) -> bool {
    let says =
        |(field, values): &(usize, Vec<i64>)| record.implies.iter().any(|(f, v)| f == field && values.contains(v));
    when.is_empty() || when.iter().any(|c| c.iter().all(says))
}

/// Whether a group can begin with a record of the header. The width of its key must have passed the check.
pub(crate) fn begins_group(isa: &Isa, groups: &Groups, header: &Choice, record: &Record) -> bool {
    let key = key_of(groups, record);
    let width: u32 = key.iter().map(|p| p.bits.width()).sum();
    (0..=ones(width)).any(|number| slots_of(isa, groups, header, record, &key, number) != core::Plan::NONE)
}

pub(super) fn slots_of(
    isa: &Isa,
    groups: &Groups,
    header: &Choice,
    record: &Record,
    key: &[Place],
    number: u64,
) -> u32 {
    let mut rest = number;
    let mut values: Vec<i64> = header.fields.iter().map(|f| f.default).collect();
    for (field, value) in &record.implies {
        values[*field] = *value;
    }
    for place in key {
        let width = place.bits.width();
        let stored = rest & ones(width);
        rest >>= width;
        if stored < 64 && allowed(isa, header, place) >> stored & 1 == 0 {
            return core::Plan::NONE;
        }
        values[place.field] = header.fields[place.field].encoding.value(stored, width);
    }
    let holds = |c: &Condition| c.iter().all(|(field, allowed)| allowed.contains(&values[*field]));
    let there = |s: &Slot| !s.no_encoding && (s.when.is_empty() || s.when.iter().any(holds));
    let set = groups.slots.iter().enumerate().filter(|(_, s)| there(s)).fold(0, |set, (i, _)| set | 1 << i);
    // A header alone, or with only filler slots, has no effect.
    let does = groups.slots.iter().enumerate().any(|(i, s)| i > 0 && !s.filler && set >> i & 1 != 0);
    if does { set } else { core::Plan::NONE }
}
