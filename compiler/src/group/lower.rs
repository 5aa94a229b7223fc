//! From the model of groups to the tables of `isaforge-core`.

use isaforge_core::bits as core_bits;
use isaforge_core::bits::ones;
use isaforge_core::group::table as core;
use isaforge_core::table::{Bank, Constant, Constants, Enum, Provenance as CoreProvenance, Value};

use super::header::{allowed, holds, key_of, slots_of};
use crate::group::model::{
    Choice, Condition, Derived, Field, Groups, OperandKind, Operation, Place, Record, Rule, Slot, Token,
};
use crate::leak::{slice, text};
use crate::model::{self, Bits, Isa};
use crate::spec::Provenance;

fn bits(bits: &Bits) -> core_bits::Bits {
    let piece = |p: &model::Piece| core_bits::Piece { at: p.at, width: p.width, shared: false };
    match &bits.0[..] {
        [] => core_bits::Bits::new(0, 0),
        [low, high @ ..] => core_bits::Bits { low: piece(low), high: slice(high.iter().map(piece)) },
    }
}

/// Lowers a model that has passed its checks.
pub fn lower(isa: &Isa, groups: &Groups) -> &'static core::GroupIsa {
    let choices: &'static [core::Choice] = slice(groups.choices.iter().map(|c| choice(isa, c)));
    let mut fields = 0;
    let slots: Vec<core::Slot> = groups
        .slots
        .iter()
        .enumerate()
        .map(|(index, s)| {
            let first = fields;
            fields += groups.choices[s.choice].fields.len() as u16;
            slot(groups, &choices[s.choice], s, index, first)
        })
        .collect();
    let header = &groups.choices[groups.slots[0].choice];
    let headers = |when: &[Condition]| {
        let records = header.records.iter().enumerate().filter(|(_, r)| holds(when, r));
        records.fold(0, |set, (i, _)| set | 1 << i)
    };
    let derived = groups.derived.iter().map(|d| core::Derived {
        slot: 0,
        field: d.field as u8,
        headers: headers(&d.when),
        rule: derive(d),
    });
    let rules = groups.rules.iter().map(|r| {
        let headers =
            header.records.iter().enumerate().filter(|(_, h)| speaks_of(r, h)).fold(0, |set, (i, _)| set | 1 << i);
        core::Rule { doc: text(&r.doc), headers, when: when(&r.when), need: when(&r.need) }
    });
    let [odd, first, rest] = groups.padding;
    Box::leak(Box::new(core::GroupIsa {
        name: text(&isa.name),
        doc: text(&isa.doc),
        unit: groups.unit,
        longest: groups.longest,
        enums: slice(isa.enums.iter().map(enumeration)),
        constants: slice(isa.constants.iter().map(|c| Constants {
            name: text(&c.name),
            doc: text(&c.doc),
            values: slice(c.values.iter().map(|(value, doc)| Constant { value: *value, doc: text(doc) })),
        })),
        banks: slice(isa.banks.iter().map(|b| Bank {
            name: text(&b.name),
            doc: text(&b.doc),
            count: b.count,
            width: b.width,
        })),
        choices,
        slots: slice(slots),
        plans: slice(header.records.iter().map(|r| plan(isa, groups, header, r))),
        derived: slice(derived),
        rules: slice(rules),
        padding: core::Padding { odd, first, rest },
        program: core::Program {
            align: groups.align,
            ends: slice(groups.ends.iter().map(when)),
            targets: slice(groups.targets.iter().map(|(slot, field, absolute)| core::Target {
                slot: *slot as u8,
                field: *field as u8,
                absolute: absolute.map_or(core::Slot::NEVER, |a| a as u8),
            })),
        },
        operations: slice(groups.operations.iter().map(operation)),
        operands: slice(groups.operands.iter().map(|o| core::Operand {
            name: text(&o.name),
            doc: text(&o.doc),
            kind: match &o.kind {
                OperandKind::Wire(wire) => core::OperandKind::Wire(text(wire)),
                OperandKind::Register(places) => {
                    core::OperandKind::Register(slice(places.iter().map(|p| core::RegisterPlace {
                        slot: p.slot as u8,
                        bank: p.bank as u8,
                        number: p.number as u8,
                        count: p.count.map_or((core::Slot::NEVER, 0), |(field, least)| (field as u8, least)),
                    })))
                }
                OperandKind::Select(slot, field, options, sets) => {
                    let options = slice(options.iter().map(|(v, o)| (*v, *o as u8)));
                    core::OperandKind::Select { slot: *slot as u8, field: *field as u8, options, sets: *sets }
                }
            },
        })),
        registers: slice(groups.registers.iter().map(|r| core::RegisterName {
            bank: r.bank,
            from: r.range.0,
            to: r.range.1,
            first: r.first,
            low: r.low.0,
            is: r.low.1,
            through: r.through.iter().fold(0, |set, o| set | 1 << (o & 63)),
            before: text(&r.prints.0),
            after: text(&r.prints.1),
        })),
        order: slice(groups.order.iter().map(|s| *s as u8)),
        defaults: slice(groups.slots.iter().flat_map(|s| groups.choices[s.choice].fields.iter().map(|f| f.default))),
        fillers: groups.slots.iter().enumerate().filter(|(_, s)| s.filler).fold(0, |set, (i, _)| set | 1 << i),
        chains: slice(chains(groups)),
        computed: computed(groups, header),
        aliases: slice(groups.aliases.iter().map(|(other, own)| (text(other), text(own)))),
    }))
}

/// The fields of the header that are computed: its keys, fields that its records imply, and derived fields.
fn computed(groups: &Groups, header: &Choice) -> u64 {
    let records = header.records.iter();
    let keys = records.clone().flat_map(|r| key_of(groups, r).into_iter().map(|p| p.field));
    let implied = records.flat_map(|r| r.implies.iter().map(|(field, _)| *field));
    let derived = groups.derived.iter().map(|d| d.field);
    keys.chain(implied).chain(derived).filter(|f| *f < 64).fold(0, |set, f| set | 1 << f)
}

/// The slots of each chain, as bit sets.
fn chains(groups: &Groups) -> Vec<u32> {
    let of = |chain: u8| {
        let slots = groups.slots.iter().enumerate().filter(|(_, s)| s.chain == chain);
        slots.fold(0, |set, (i, _)| set | 1 << i)
    };
    (1..=30).map(of).filter(|set| *set != 0).collect()
}

fn when(condition: &Condition) -> core::When {
    slice(condition.iter().map(|(field, values)| {
        let set = values.iter().filter(|v| (0..64).contains(*v)).fold(0, |set, v| set | 1 << v);
        (*field as u8, set)
    }))
}

fn enumeration(e: &model::Enum) -> Enum {
    let mut values: Vec<_> = e.values.iter().collect();
    values.sort_by_key(|v| v.bits);
    let value = |v: &&model::Value| Value { bits: v.bits, name: text(&v.name), text: text(&v.text), doc: text(&v.doc) };
    Enum {
        name: text(&e.name),
        doc: text(&e.doc),
        values: slice(values.iter().map(value)),
        dotted: &[],
        default: e.default,
    }
}

fn choice(isa: &Isa, c: &Choice) -> core::Choice {
    let field = |f: &Field| core::Field {
        name: text(&f.name),
        doc: text(&f.doc),
        ty: f.ty,
        encoding: f.encoding,
        default: f.default,
        form: f.form,
    };
    core::Choice {
        name: text(&c.name),
        doc: text(&c.doc),
        fields: slice(c.fields.iter().map(field)),
        records: slice(c.records.iter().map(|r| record(isa, c, r))),
    }
}

fn place(isa: &Isa, c: &Choice, p: &Place) -> core::Place {
    let set = allowed(isa, c, p);
    let all = if p.bits.width() >= 6 { u64::MAX } else { ones(1 << p.bits.width()) };
    let set = if set & all == all { u64::MAX } else { set };
    core::Place { field: p.field as u8, bits: bits(&p.bits), allowed: set }
}

fn record(isa: &Isa, c: &Choice, r: &Record) -> core::Record {
    let (mask, value) = r.pattern();
    let places: &[core::Place] = slice(r.places.iter().map(|p| place(isa, c, p)));
    let checks = places.iter().filter(|p| p.allowed != u64::MAX);
    let checks = checks.map(|p| core::Check { field: p.field, bits: p.bits, allowed: p.allowed });
    let needs = c.fields.iter().enumerate().filter_map(|(i, f)| {
        let free = f.form || r.says.contains(&i) || r.places.iter().any(|p| p.field == i);
        let implied = r.implies.iter().find(|(field, _)| *field == i);
        (!free).then(|| (i as u8, implied.map_or(f.default, |(_, value)| *value)))
    });
    core::Record {
        name: text(&r.name),
        doc: text(&r.doc),
        bytes: r.bytes,
        mask,
        value,
        places,
        needs: slice(needs),
        implies: slice(r.implies.iter().map(|(f, v)| (*f as u8, *v))),
        checks: slice(checks),
        unusable: text(&r.unusable),
        no_encoding: r.no_encoding,
        says: slice(r.says.iter().map(|f| *f as u8)),
        provenance: provenance(r.provenance),
        note: text(&r.note),
        source: text(&r.source),
    }
}

fn test(choice: &core::Choice, record: usize, last: bool) -> core::Test {
    let r = &choice.records[record];
    core::Test { mask: r.mask, value: r.value, checks: r.checks, record: record as u8, bytes: r.bytes, last }
}

fn slot(groups: &Groups, lowered: &core::Choice, s: &Slot, index: usize, fields: u16) -> core::Slot {
    let choice = &groups.choices[s.choice];
    let mut lists: Vec<(Vec<usize>, u16)> = Vec::new();
    let mut tests: Vec<core::Test> = Vec::new();
    let mut first = [core::Slot::NONE; 256];
    for (byte, entry) in first.iter_mut().enumerate() {
        let starts = |r: &&usize| {
            let record = &choice.records[**r];
            let (mask, value) = record.pattern();
            record.unusable.is_empty() && !record.no_encoding && (byte as u64 ^ value) & mask & 0xff == 0
        };
        let mut list: Vec<usize> = s.records.iter().filter(starts).copied().collect();
        if list.is_empty() {
            continue;
        }
        // A record for which the first byte holds a reserved value is skipped if another record matches.
        let reserved = |r: &usize| {
            let within = |c: &&core::Check| c.bits.mask(0) & !0xff == 0;
            let checks = lowered.records[*r].checks;
            checks.iter().filter(within).any(|c| c.allowed >> (c.bits.get(byte as u64, 0) & 63) & 1 == 0)
        };
        if !list.iter().all(reserved) {
            list.retain(|r| !reserved(r));
        }
        let known = lists.iter().find(|(l, _)| *l == list).map(|(_, at)| *at);
        *entry = known.unwrap_or_else(|| {
            let at = tests.len() as u16;
            let last = list.len() - 1;
            tests.extend(list.iter().enumerate().map(|(i, r)| test(lowered, *r, i == last)));
            lists.push((list, at));
            at
        });
    }
    let (without, encoded): (Vec<&usize>, Vec<&usize>) =
        s.records.iter().partition(|r| choice.records[**r].no_encoding);
    core::Slot {
        name: text(&s.name),
        doc: text(&s.doc),
        choice: s.choice as u8,
        records: slice(encoded.iter().map(|r| **r as u8)),
        without: slice(without.iter().map(|r| **r as u8)),
        first: Box::leak(Box::new(first)),
        tests: slice(tests),
        fields,
        chain: s.chain,
        ends: s.ends.map_or(core::Slot::NEVER, |e| e as u8),
        filler: s.filler,
        operations: slice(
            groups.operations.iter().enumerate().filter(|(_, o)| o.slots.contains(&index)).map(|(i, _)| i as u16),
        ),
        roles: slice(s.roles.iter().map(|(role, operand)| (text(role), *operand as u8))),
    }
}

fn operation(o: &Operation) -> core::Operation {
    let own = |slot: &Option<usize>| slot.map_or(core::Token::OWN, |s| s as u8);
    let mut syntaxes = o.syntax.iter().map(|tokens| slice(tokens.iter().map(token)));
    core::Operation {
        name: text(&o.name),
        doc: text(&o.doc),
        slots: o.slots.iter().fold(0, |set, s| set | 1 << s),
        part: text(&o.part),
        is: slice(o.is.iter().map(|(slot, field, values)| (own(slot), *field as u8, slice(values.iter().copied())))),
        unless: o.unless.map_or(core::Slot::NEVER, |u| u as u8),
        remark: o.remark,
        writes: o.writes.iter().fold(0, |set, w| set | 1 << (w & 63)),
        syntax: syntaxes.next().unwrap_or_default(),
        also: slice(syntaxes),
        no_encoding: text(&o.no_encoding),
        provenance: provenance(o.provenance),
        note: text(&o.note),
        source: text(&o.source),
    }
}

fn token(token: &Token) -> core::Token {
    let own = |slot: &Option<usize>| slot.map_or(core::Token::OWN, |s| s as u8);
    let words = |words: &[String]| slice(words.iter().map(|w| text(w)));
    match token {
        Token::Text(t) => core::Token::Text(text(t)),
        Token::Flag(s, f, t) => core::Token::Flag(own(s), *f as u8, text(t)),
        Token::Suffix(s, f, optional) => core::Token::Suffix(own(s), *f as u8, *optional),
        Token::Value(s, f) => core::Token::Value(own(s), *f as u8),
        Token::Words(s, f, w) => core::Token::Words(own(s), *f as u8, words(w)),
        Token::Optional(s, f, t) => core::Token::Optional(own(s), *f as u8, text(t)),
        Token::Bits(s, f, w) => core::Token::Bits(own(s), *f as u8, words(w)),
        Token::Operand(o) => core::Token::Operand(*o as u8),
        Token::Role(r) => core::Token::Role(text(r)),
    }
}

fn provenance(provenance: Provenance) -> CoreProvenance {
    match provenance {
        Provenance::Document => CoreProvenance::Document,
        Provenance::VendorBinary => CoreProvenance::VendorBinary,
        Provenance::Driver => CoreProvenance::Driver,
        Provenance::Assumed => CoreProvenance::Assumed,
    }
}

/// Computes the slots for each value of the key of a header record.
fn plan(isa: &Isa, groups: &Groups, header: &Choice, record: &Record) -> core::Plan {
    let key = key_of(groups, record);
    let width: u32 = key.iter().map(|p| p.bits.width()).sum();
    let mut slots = Vec::new();
    for number in 0..=ones(width) {
        let found = slots_of(isa, groups, header, record, &key, number);
        // If two headers announce the same slots, only the first is valid: the second would be decoded but never
        // encoded.
        slots.push(if slots.contains(&found) { core::Plan::NONE } else { found });
    }
    let any = slots.iter().fold(0, |all, s| all | s);
    let derived = groups.derived.iter().filter(|d| holds(&d.when, record)).filter_map(|d| {
        let place = record.places.iter().find(|p| p.field == d.field)?;
        let encoding = header.fields[d.field].encoding;
        Some(core::PlannedField { bits: bits(&place.bits), encoding, rule: derive(d), field: d.field as u8 })
    });
    // The length comes first, because the other fields are checked once it is known.
    let (lengths, others): (Vec<_>, Vec<_>) = derived.partition(|d| d.rule == core::Derive::Length);
    let rules = groups.rules.iter().enumerate().filter(|(_, r)| speaks_of(r, record)).map(|(i, _)| i as u8);
    core::Plan {
        key: slice(key.iter().map(|p| place(isa, header, p))),
        slots: slice(slots),
        any,
        derived: slice(lengths.into_iter().chain(others)),
        rules: slice(rules),
    }
}

fn derive(d: &Derived) -> core::Derive {
    match d.offset {
        None => core::Derive::Length,
        Some(slot) => core::Derive::Offset { slot: slot as u8, if_any: d.if_any.iter().fold(0, |set, s| set | 1 << s) },
    }
}

/// Whether a record of the header stores all fields that a rule constrains.
fn speaks_of(rule: &Rule, record: &Record) -> bool {
    rule.need.iter().all(|(f, _)| record.places.iter().any(|p| p.field == *f))
}
