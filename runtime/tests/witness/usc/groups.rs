//! The groups under test: every operation with its fields, generated from the tables.

use isaforge_core::bits::ones;
use isaforge_core::group::info::operations_of;
use isaforge_core::group::table::{GroupIsa, Operation, Slot, Type};
use isaforge_core::group::{Form, Values, encode};
use isaforge_core::text::Line;
use isaforge_usc::{ISA, Parts};

use crate::random::Random;

/// Generates a group that holds an operation: its bytes, or its text if it has no encoding. `None` when an attempt
/// fails.
pub fn draw(number: usize, random: &mut Random) -> Option<Input> {
    let operation = &ISA.operations[number];
    let slots: Vec<usize> = (0..ISA.slots.len()).filter(|slot| operation.slots >> slot & 1 != 0).collect();
    let slot = random.pick(&slots);
    let mut values = Values::new(ISA);
    values.insert(0);
    values.insert(slot);
    let simple = random.one_in(2);
    for (other, at) in ISA.slots.iter().enumerate().skip(1) {
        let wanted = match at.name {
            "lower" | "upper" | "iss" => true,
            "w0" | "w1" => random.one_in(4),
            "w01" => random.one_in(2),
            _ => !simple && !at.records.is_empty() && random.one_in(3),
        };
        if wanted && goes_with(at, &ISA.slots[slot]) {
            values.insert(other);
        }
    }
    header(&mut values, random);
    for present in (1..ISA.slots.len()).filter(|slot| values.has(*slot)).collect::<Vec<_>>() {
        fields(&mut values, present, random);
    }
    for (slot_of, field, allowed) in operation.is {
        let at = if *slot_of == u8::MAX { slot } else { (*slot_of).into() };
        values.set(ISA, at, (*field).into(), random.pick(allowed));
    }
    let there = |values: &Values| operations_of(ISA, values.clone()).any(|(_, index, _)| index == number);
    if !operation.no_encoding.is_empty() {
        return typed(operation, &values).filter(|_| there(&values));
    }
    let group = encode(ISA, &values, &Form::CANONICAL).ok()?;
    there(&group.values(ISA)).then(|| Input::Bytes(group.as_bytes().to_vec()))
}

/// What is executed.
#[derive(Clone, Debug)]
pub enum Input {
    Bytes(Vec<u8>),
    Text(String),
}

fn typed(operation: &Operation, values: &Values) -> Option<Input> {
    let mut line = Line::new();
    isaforge_core::group::text::describe(ISA, values, " | ", true, &mut line);
    let text = line.as_str().to_owned();
    let parts: Parts = text.parse().ok()?;
    let name = operation.name;
    parts.operations().any(|(_, operation)| operation.info().name == name).then_some(Input::Text(text))
}

/// Whether another slot of a group can occur together with the slot of an operation.
fn goes_with(other: &Slot, own: &Slot) -> bool {
    let unit = |slot: &Slot| match slot.name {
        "b0" | "b1" | "b2" => "bitwise",
        "backend" | "mov" | "tst" | "pck" | "p0" | "p1" | "sop" | "extra" => "main",
        name => name,
    };
    match other.name {
        "lower" | "upper" => matches!(unit(own), "bitwise" | "main" | "cnd"),
        "iss" => unit(own) == "main",
        "w0" => matches!(unit(own), "bitwise" | "main" | "cnd" | "savl"),
        "w1" | "w01" => matches!(unit(own), "bitwise" | "main"),
        _ => matches!(unit(own), "bitwise" | "main") && unit(other) == unit(own),
    }
}

fn field_of(isa: &GroupIsa, slot: usize, name: &str) -> Option<usize> {
    isa.choices[usize::from(isa.slots[slot].choice)].field(name)
}

/// Sets the fields of the header: repetition, end, and condition.
fn header(values: &mut Values, random: &mut Random) {
    let mut set = |name: &str, value: i64| {
        if let Some(field) = field_of(ISA, 0, name) {
            values.set(ISA, 0, field, value);
        }
    };
    if random.one_in(2) {
        set("cc", random.below(4) as i64);
    }
    if random.one_in(4) {
        set("rpt", random.below(4) as i64 + 1);
    }
    set("atom", random.one_in(8).into());
    set("olchk", random.one_in(16).into());
    set("end", random.one_in(24).into());
}

/// Sets the fields of a slot: existing registers, and otherwise any values that a record of the slot can hold.
fn fields(values: &mut Values, slot: usize, random: &mut Random) {
    let choice = &ISA.choices[usize::from(ISA.slots[slot].choice)];
    match choice.name {
        "lower" | "upper" | "single" | "dual" => return registers(values, slot, random),
        _ => {}
    }
    let records = [ISA.slots[slot].records, ISA.slots[slot].without].concat();
    let record = &choice.records[usize::from(random.pick(&records))];
    for (field, value) in record.implies {
        values.set(ISA, slot, (*field).into(), *value);
    }
    for place in record.places {
        let stored = random.next() & ones(place.bits.width());
        let stored = if place.bits.width() > 8 && random.one_in(2) { stored & 15 } else { stored };
        let encoding = choice.fields[usize::from(place.field)].encoding;
        values.set(ISA, slot, place.field.into(), encoding.value(stored, place.bits.width()));
    }
    for field in record.says {
        let value = match choice.fields[usize::from(*field)].ty {
            Type::Enum(index) => {
                let values = ISA.enums[usize::from(index)].values;
                values[random.below(values.len())].bits as i64
            }
            Type::Flag => random.below(2) as i64,
            _ => random.below(16) as i64,
        };
        values.set(ISA, slot, (*field).into(), value);
    }
}

fn registers(values: &mut Values, slot: usize, random: &mut Random) {
    let choice = &ISA.choices[usize::from(ISA.slots[slot].choice)];
    for (index, field) in choice.fields.iter().enumerate() {
        let Some(digits) = field.name.strip_prefix("sb").or(field.name.strip_prefix("db")) else {
            let value = match field.name {
                "n" => random.pick(&[1, 2, 3, 3, 3]),
                "is0" => random.below(6) as i64,
                _ => continue,
            };
            values.set(ISA, slot, index, value);
            continue;
        };
        let Type::Enum(banks) = field.ty else { continue };
        let bank = |name: &str| ISA.enums[usize::from(banks)].values.iter().find(|value| value.name == name);
        let result = field.name.starts_with('d');
        let (name, register) = match random.below(if result { 14 } else { 20 }) {
            0..8 => ("temp", random.below(28) as i64),
            8 => ("vtxin", random.below(28) as i64),
            9 => ("special", 36 + random.below(8) as i64),
            10 => ("special", random.pick(&[32, 33, 34, 35, 104, 105, 110, 164, 165])),
            11 => ("shared", random.below(28) as i64),
            12 => ("coeff", random.below(40) as i64),
            13 => (random.pick(&["idx0", "idx1"]), reach(random)),
            14 => ("coeff_alt", random.below(16) as i64),
            15 => ("special", random.pick(&[51, 63, 97, 100, 112, 160])),
            _ => ("special", random.pick(&[0, 1, 2, 3, 4, 5, 30, 31, 64, 65, 70, 90, 128, 129, 140, 143])),
        };
        let Some(found) = bank(name) else { continue };
        values.set(ISA, slot, index, found.bits as i64);
        let prefix = if result { "d" } else { "s" };
        if let Some(number) = choice.field(&format!("{prefix}{digits}")) {
            values.set(ISA, slot, number, register);
        }
    }
}

/// A register accessed through an index, with the bank in the low bits and the offset above.
fn reach(random: &mut Random) -> i64 {
    let bank = random.below(8) as i64;
    match bank {
        5 => 5,
        7 => 7,
        bank => bank | (random.below(12) as i64) << 3,
    }
}
