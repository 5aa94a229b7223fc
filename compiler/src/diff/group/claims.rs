//! Proves that groups read the same: a revision is taken apart into claims, each a text about one thing that decoding
//! and printing depend on. If the other revision makes the same claims, old groups read the same in it; it may make
//! more, about values and records that the old one does not have.

use std::collections::BTreeSet;

use isaforge_core::bits::ones;
use isaforge_core::group::table::{Operand, OperandKind, Operation, Place, Record, Slot, Token, Type};
use isaforge_core::table::Value;

use super::names::{Set, choice, derived, ends, kind, member, records, register, slot_names, slots, template, when};
use super::words::{concerns, patterns};
use crate::diff::identity::each;

/// What the reading of some part of groups depends on.
pub(super) struct Claims {
    isa: Set,
    texts: BTreeSet<String>,
    /// The slots whose records matter.
    pub slots: u32,
}

impl Claims {
    /// Those about an operation.
    pub(super) fn of_operation(isa: Set, of: &'static Operation) -> Claims {
        let mut claims = Claims { isa, texts: BTreeSet::new(), slots: 0 };
        let own = of.slots.trailing_zeros() as usize;
        let conditions = of.is.iter().map(|(at, field, values)| (member(isa, own, *at, *field), values));
        claims.add(format!("{:?} {:?}", conditions.collect::<Vec<_>>(), (of.part, of.remark)));
        claims.add(template(isa, of, of.syntax));
        for slot in slots(of.slots) {
            claims.add(format!("in {}", isa.slots[slot].name));
            let means = |field: u8, value: i64| {
                let own = |(at, known, _): &&(u8, u8, _)| *at == Token::OWN && *known == field;
                of.is.iter().find(own).is_none_or(|(.., values)| values.contains(&value))
            };
            let mut seen: Vec<&'static Record> = Vec::new();
            for pattern in patterns(isa, of).into_iter().filter(|pattern| pattern.slot == slot) {
                if !seen.iter().any(|known| std::ptr::eq(*known, pattern.record)) {
                    seen.push(pattern.record);
                    claims.record(slot, pattern.record, |field| concerns(isa, of, slot, pattern.record, field), means);
                }
            }
            // Of those for the same part of the slot that may both be meant, the first is written.
            let excludes = |other: &Operation| {
                let differs = |(at, field, values): &(u8, u8, &[i64])| {
                    let same = |(x, y, _): &&(u8, u8, _)| (x, y) == (at, field);
                    of.is.iter().filter(same).any(|(.., own)| !own.iter().any(|value| values.contains(value)))
                };
                other.is.iter().any(differs)
            };
            let before = isa.operations.iter().take_while(|other| !std::ptr::eq(*other, of));
            let rivals = before.filter(|other| other.slots >> slot & 1 != 0 && other.part == of.part);
            for other in rivals.filter(|other| !excludes(other)) {
                claims.add(format!("after {}", other.name));
            }
        }
        for (at, field, _) in of.is.iter().filter(|(at, ..)| *at != Token::OWN) {
            claims.field((*at).into(), *field);
        }
        for token in of.syntax {
            match *token {
                Token::Text(_) => {}
                Token::Operand(operand) => claims.operand(operand),
                Token::Role(role) => {
                    for slot in slots(of.slots) {
                        let found = isa.slots[slot].roles.iter().find(|(name, _)| *name == role);
                        found.iter().for_each(|(_, operand)| claims.operand(*operand));
                    }
                }
                Token::Flag(at, field, _)
                | Token::Suffix(at, field, _)
                | Token::Value(at, field)
                | Token::Words(at, field, _)
                | Token::Optional(at, field, _)
                | Token::Bits(at, field, _)
                    if at != Token::OWN =>
                {
                    claims.field(at.into(), field)
                }
                _ => {}
            }
        }
        if let Some(unless) = isa.operands.get(usize::from(of.unless)) {
            claims.add(format!("unless {}", unless.name));
        }
        claims
    }

    /// Those about the header, and about all that no operation claims.
    pub(super) fn of_header(isa: Set) -> Claims {
        let mut claims = Claims { isa, texts: BTreeSet::new(), slots: 0 };
        let padding = isa.padding;
        claims.add(format!("{:?}", (isa.unit, isa.longest, padding.odd, padding.first, padding.rest)));
        let order = isa.order.iter().map(|slot| usize::from(*slot));
        for (sort, slots) in [("bytes", (0..isa.slots.len()).collect()), ("text", order.collect::<Vec<_>>())] {
            for (place, slot) in slots.iter().enumerate() {
                let later = slots[place + 1..].iter();
                later.for_each(|other| {
                    claims.add(format!("{sort}: {} before {}", isa.slots[*slot].name, isa.slots[*other].name));
                });
            }
        }
        for (slot, of) in isa.slots.iter().enumerate() {
            let chain = isa.chains.iter().copied().find(|chain| chain >> slot & 1 != 0).unwrap_or_default();
            let filler = isa.fillers >> slot & 1;
            claims.add(format!("{}: {} {:?} {filler}", of.name, slot_names(isa, chain), ends(isa, slot)));
            let named = |operand: &&Operand| match operand.kind {
                OperandKind::Register(places) => places.iter().any(|place| usize::from(place.slot) == slot),
                _ => false,
            };
            let names = isa.operands.iter().filter(named).map(|operand| operand.name);
            claims.add(format!("{}: named by {:?}", of.name, names.collect::<Vec<_>>()));
            let own_operations = || isa.operations.iter().filter(move |operation| operation.slots >> slot & 1 != 0);
            let covered: Vec<_> = own_operations().flat_map(|operation| patterns(isa, operation)).collect();
            for record in records(isa, slot) {
                if slot == 0 || !covered.iter().any(|pattern| std::ptr::eq(pattern.record, record)) {
                    claims.record(slot, record, |_| true, |_, _| true);
                    continue;
                }
                for Place { field, .. } in record.places {
                    // Values that no operation claims as its own.
                    let own = |(at, known, _): &&(u8, u8, _)| *at == Token::OWN && known == field;
                    let taken: Vec<i64> = own_operations()
                        .flat_map(|of| of.is.iter().filter(own).flat_map(|(.., all)| *all))
                        .copied()
                        .collect();
                    let left = |value: i64| !taken.contains(&value);
                    if !taken.is_empty() && values(isa, slot, record, *field).any(|(_, value, _)| left(value)) {
                        claims.place(slot, record, *field, left);
                    }
                }
            }
        }
        let header = choice(isa, 0);
        for (field, index) in header.fields.iter().zip(0..) {
            claims.add(format!("{} is computed: {}", field.name, index < 64 && isa.computed >> index & 1 != 0));
        }
        for ((record, plan), index) in header.records.iter().zip(isa.plans).zip(0..) {
            for (key, present) in plan.slots.iter().enumerate().filter(|(_, present)| **present != 0) {
                let (mut rest, mut text) = (key as u64, record.name.to_owned());
                for place in plan.key {
                    let bits = rest & ones(place.bits.width());
                    text += &format!(" {}={bits}", header.fields[usize::from(place.field)].name);
                    rest >>= place.bits.width();
                }
                claims.add(format!("{text}: {}", slot_names(isa, *present)));
            }
            let rules = isa.rules.iter().filter(|rule| rule.headers >> index & 1 != 0);
            let rules: Vec<_> = rules.map(|rule| (when(isa, rule.when), when(isa, rule.need))).collect();
            let computed = isa.derived.iter().filter(|derived| derived.headers >> index & 1 != 0);
            let computed: Vec<_> =
                computed.map(|of| (header.fields[usize::from(of.field)].name, derived(isa, of.rule))).collect();
            claims.add(format!("{}: {rules:?} {computed:?}", record.name));
        }
        claims
    }

    /// Whether another revision makes all claims that this one makes, so that what this is about reads the same there.
    pub(super) fn hold_in(&self, other: &Claims) -> bool {
        self.texts.is_subset(&other.texts) && slots(self.slots).all(|slot| kept(self.isa, other.isa, slot))
    }

    fn add(&mut self, text: String) {
        self.texts.insert(text);
    }

    /// A record of a slot with those of its fields that matter, and their values that do.
    fn record(
        &mut self,
        slot: usize,
        record: &'static Record,
        matters: impl Fn(u8) -> bool,
        means: impl Fn(u8, i64) -> bool,
    ) {
        self.slots |= 1 << slot;
        let name = self.isa.slots[slot].name;
        // If several records fit, the first is written.
        let place = records(self.isa, slot).position(|known| std::ptr::eq(known, record));
        let Record { bytes, mask, value, .. } = *record;
        self.add(format!("{name}.{}: {place:?} {bytes} {mask:x} {value:x}", record.name));
        let fields = choice(self.isa, slot).fields.len() as u8;
        (0..fields).filter(|field| matters(*field)).for_each(|field| {
            self.place(slot, record, field, |value| means(field, value));
        });
    }

    /// A field of a slot, in all its records.
    fn field(&mut self, slot: usize, field: u8) {
        self.slots |= 1 << slot;
        records(self.isa, slot).for_each(|record| self.place(slot, record, field, |_| true));
    }

    /// A field in a record of a slot, and those of its values that matter.
    fn place(&mut self, slot: usize, record: &'static Record, index: u8, means: impl Fn(i64) -> bool) {
        let isa = self.isa;
        let field = &choice(isa, slot).fields[usize::from(index)];
        let name = format!("{}.{}.{}", isa.slots[slot].name, record.name, field.name);
        if let Some((_, value)) = record.implies.iter().find(|(known, _)| *known == index) {
            return self.add(format!("{name} = {value}"));
        }
        let Some(place) = record.places.iter().find(|place| place.field == index) else {
            return self.add(format!("{name} = {} by default", field.default));
        };
        self.add(format!("{name}: {} {:?}", kind(isa, field), place.bits));
        for (bits, _, named) in values(isa, slot, record, index).filter(|(_, value, _)| means(*value)) {
            self.add(format!("{name} = {bits} {} {}", named.name, named.text));
        }
        // In wide fields, values without a name are numbers.
        if place.bits.width() > 6 {
            let named: Vec<u64> = values(isa, slot, record, index).map(|(bits, ..)| bits).collect();
            self.add(format!("{name}: {named:?}"));
        }
    }

    fn operand(&mut self, index: u8) {
        let isa = self.isa;
        let Operand { name, kind, .. } = &isa.operands[usize::from(index)];
        let field = |slot: u8, field: u8| member(isa, isa.slots.len(), slot, field);
        match *kind {
            OperandKind::Wire(wire) => self.add(format!("{name}: wire {wire}")),
            OperandKind::Register(places) => {
                for (place, number) in places.iter().zip(0..) {
                    let count = (place.count.0 != Slot::NEVER).then(|| field(place.slot, place.count.0));
                    let parts = [place.bank, place.number].map(|part| field(place.slot, part));
                    self.add(format!("{name}.{number}: {parts:?} {count:?} {}", place.count.1));
                    for part in [place.bank, place.number].into_iter().chain(count.map(|_| place.count.0)) {
                        self.field(place.slot.into(), part);
                    }
                }
                let through = |set: u64| {
                    let named = isa.operands.iter().zip(0..64).filter(|(_, operand)| set >> operand & 1 != 0);
                    named.map(|(operand, _)| operand.name).collect::<Vec<_>>()
                };
                let all = isa.registers.iter().map(|name| (register(name), through(name.through)));
                self.add(format!("{name}: {} places, {:?}", places.len(), all.collect::<Vec<_>>()));
            }
            OperandKind::Select { slot, field: selects, options, sets } => {
                let name_of = |operand: u8| isa.operands[usize::from(operand)].name;
                let all: Vec<_> = options.iter().map(|(value, operand)| (value, name_of(*operand))).collect();
                let text = format!("{name}: {} {all:?} {sets}", field(slot, selects));
                // An operand may lead back to itself.
                if self.texts.insert(text) {
                    self.field(slot.into(), selects);
                    options.iter().for_each(|(_, operand)| self.operand(*operand));
                }
            }
        }
    }
}

/// The values of a field that have names and are valid in a record: the bits, the value and its name.
fn values(isa: Set, slot: usize, record: &Record, index: u8) -> impl Iterator<Item = (u64, i64, &'static Value)> {
    let field = &choice(isa, slot).fields[usize::from(index)];
    let place = record.places.iter().find(|place| place.field == index).copied();
    let all = match field.ty {
        Type::Enum(names) => isa.enums[usize::from(names)].values,
        _ => &[],
    };
    all.iter().filter_map(move |named| {
        let Place { bits, allowed, .. } = place?;
        let valid = named.bits <= ones(bits.width()) && (named.bits > 63 || allowed >> named.bits & 1 != 0);
        valid.then(|| (named.bits, field.encoding.value(named.bits, bits.width()), named))
    })
}

/// Whether the words of a slot's records are still decoded by records of the same names, as far as others compete: a
/// record that may take words of another one must be new to neither, and have the same reserved values.
fn kept(old: Set, new: Set, slot: usize) -> bool {
    let Some(other) = new.slots.iter().position(|known| known.name == old.slots[slot].name) else { return false };
    let apart = |a: &Record, b: &Record| (a.value ^ b.value) & a.mask & b.mask != 0;
    let same = |a: &Record, b: &Record| {
        (a.name, a.mask, a.value) == (b.name, b.mask, b.value)
            && each(a.checks, b.checks, |x, y| (x.bits, x.allowed) == (y.bits, y.allowed))
    };
    let competes = |rival: &'static Record| !records(old, slot).any(|known| same(known, rival));
    let rivals: Vec<&Record> = records(new, other).filter(|rival| competes(rival)).collect();
    records(old, slot).all(|record| rivals.iter().all(|rival| rival.name == record.name || apart(record, rival)))
}
