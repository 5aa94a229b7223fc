//! The parts of a set of groups, described by the names that its specification gives them.

use std::collections::BTreeMap;

use isaforge_core::group::GroupIsa;
use isaforge_core::group::table::{
    Choice, Derive, Encoding, Field, Operand, OperandKind, Operation, Place, Record, RegisterName, RegisterPlace, Slot,
    Token, Type, When,
};
use isaforge_core::machine::{Hardware, Named};
use isaforge_core::stream::Wide;

use crate::diff::change::{Change, How, Subject, change};
use crate::diff::difference::Pattern;
use crate::diff::structure::bits_text;

/// The tables of a revision.
pub(super) type Set = &'static GroupIsa;

/// A property of something that two revisions have.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Fact {
    subject: Subject,
    /// How it changes if its text does.
    how: How,
    name: String,
    /// The record that it is about. It counts only if both revisions have that.
    record: &'static str,
    text: String,
}

/// Makes a fact that is not about one record.
pub(super) fn fact(subject: Subject, name: impl Into<String>, text: impl Into<String>) -> Fact {
    Fact { subject, how: How::Changed, name: name.into(), record: "", text: text.into() }
}

/// The differences between two lists of facts.
pub(super) fn differences(old: &[Fact], new: &[Fact]) -> Vec<Change> {
    let shared = |facts: &[Fact], others: &[Fact]| {
        let known = |name: &str| others.iter().any(|other| other.subject == Subject::Variant && other.name == name);
        let kept = facts.iter().filter(|fact| fact.record.is_empty() || known(fact.record)).cloned();
        let mut members: BTreeMap<usize, Vec<Fact>> = BTreeMap::new();
        let all: Vec<Fact> = kept.collect();
        for fact in &all {
            let first = all.iter().position(|other| (other.subject, &other.name) == (fact.subject, &fact.name));
            let list = members.entry(first.unwrap_or_default()).or_default();
            if !list.contains(fact) {
                list.push(fact.clone());
            }
        }
        members.into_values().collect::<Vec<_>>()
    };
    let (before, after) = (shared(old, new), shared(new, old));
    let same = |a: &Fact, b: &Fact| (a.subject, &a.name) == (b.subject, &b.name);
    let text = |facts: &[Fact]| facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join(", ");
    let is_new = |facts: &&Vec<Fact>| !before.iter().any(|known| same(&known[0], &facts[0]));
    let (mut out, mut renamed) = (Vec::new(), Vec::new());
    for facts in &before {
        let first = &facts[0];
        if let Some(others) = after.iter().find(|others| same(&others[0], first)) {
            let key = |fact: &Fact| (fact.how == How::Moved, fact.record);
            let find = |facts: &[Fact], wanted: &Fact| facts.iter().find(|fact| key(fact) == key(wanted)).cloned();
            let added = others.iter().filter(|fact| find(facts, fact).is_none());
            for fact in facts.iter().chain(added) {
                let said = |facts| find(facts, fact).map_or_else(String::new, |fact| fact.text);
                let (was, is) = (said(facts), said(others));
                if was != is {
                    out.push(change(fact.subject, fact.how, &fact.name, was, is));
                }
            }
            continue;
        }
        let alike = |others: &&Vec<Fact>| others[0].subject == Subject::Field && text(others) == text(facts);
        match after.iter().filter(is_new).find(alike).filter(|_| first.subject == Subject::Field) {
            Some(others) => {
                renamed.push(others[0].name.clone());
                out.push(change(Subject::Field, How::Renamed, &first.name, "", format!("`{}`", others[0].name)));
            }
            None => out.push(change(first.subject, How::Removed, &first.name, text(facts), "")),
        }
    }
    for facts in after.iter().filter(is_new).filter(|facts| !renamed.contains(&facts[0].name)) {
        out.push(change(facts[0].subject, How::Added, &facts[0].name, "", text(facts)));
    }
    out
}

/// The members of a set.
pub(super) fn slots(set: u32) -> impl Iterator<Item = usize> {
    (0..u32::BITS).filter(move |slot| set >> slot & 1 != 0).map(|slot| slot as usize)
}

/// What a slot may hold.
pub(super) fn choice(isa: Set, slot: usize) -> &'static Choice {
    &isa.choices[usize::from(isa.slots[slot].choice)]
}

/// The records of a slot that are decoded, in the order of trying.
pub(super) fn records(isa: Set, slot: usize) -> impl Iterator<Item = &'static Record> {
    let all = isa.slots[slot].records.iter().map(move |record| &choice(isa, slot).records[usize::from(*record)]);
    all.filter(|record| record.unusable.is_empty())
}

/// The name of a field for an operation in a slot.
pub(super) fn member(isa: Set, own: usize, at: u8, field: u8) -> String {
    let slot = if at == Token::OWN { own } else { at.into() };
    let name = choice(isa, slot).fields[usize::from(field)].name;
    if slot == own { name.to_owned() } else { format!("{}.{name}", isa.slots[slot].name) }
}

/// A list of names.
pub(super) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The names of the slots in a set.
pub(super) fn slot_names(isa: Set, set: u32) -> String {
    listed(slots(set).map(|slot| isa.slots[slot].name))
}

/// The name of a value of a field.
pub(super) fn value(isa: Set, field: &Field, value: i64) -> String {
    let named = match field.ty {
        Type::Enum(index) => u64::try_from(value).ok().and_then(|bits| isa.enums[usize::from(index)].value(bits)),
        _ => None,
    };
    named.map_or_else(|| value.to_string(), |named| named.name.to_owned())
}

/// A condition on fields of the header.
pub(super) fn when(isa: Set, when: When) -> String {
    let holds = |(field, set): &(u8, u64)| {
        let field = &choice(isa, 0).fields[usize::from(*field)];
        let values = (0..64).filter(|bits| set >> bits & 1 != 0).map(|bits| value(isa, field, bits));
        format!("`{}` is {}", field.name, listed(values))
    };
    when.iter().map(holds).collect::<Vec<_>>().join(" and ")
}

/// The type, the encoding and the default of a field.
pub(super) fn kind(isa: Set, field: &Field) -> String {
    let mut text = match field.ty {
        Type::Flag => "a flag".to_owned(),
        Type::Decimal => "a decimal number".to_owned(),
        Type::Hex => "a hexadecimal number".to_owned(),
        Type::Enum(index) => format!("`{}`", isa.enums[usize::from(index)].name),
    };
    match field.encoding {
        Encoding::Plain => {}
        Encoding::Minus(less) => text += &format!(" stored minus {less}"),
        Encoding::Wrap => text += " with its greatest value stored as 0",
        Encoding::Times(unit) => text += &format!(" in units of {unit}"),
        Encoding::SignedTimes(unit) => text += &format!(" in signed units of {unit}"),
    }
    if field.default != 0 {
        text += &format!(", {} by default", value(isa, field, field.default));
    }
    text + if field.form { ", without meaning" } else { "" }
}

/// What a record is and where those of its fields are that matter.
pub(super) fn record(
    isa: Set,
    of: &'static Choice,
    record: &'static Record,
    matters: impl Fn(u8) -> bool,
) -> Vec<Fact> {
    let pattern = Pattern { mask: Wide::new(record.mask), value: Wide::new(record.value) }.to_string();
    let parts = [format!("{} bytes", record.bytes), pattern];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut facts = vec![fact(Subject::Variant, record.name, parts.join(", "))];
    let mut add = |field: u8, text: String| {
        let field = &of.fields[usize::from(field)];
        let about =
            |how, record, text| Fact { subject: Subject::Field, how, name: field.name.to_owned(), record, text };
        facts.push(about(How::Moved, record.name, format!("{text} `{}`", record.name)));
        facts.push(about(How::Changed, "", kind(isa, field)));
    };
    for Place { field, bits, .. } in record.places.iter().filter(|place| matters(place.field)) {
        add(*field, format!("{} of", bits_text(bits)));
    }
    for (field, implied) in record.implies.iter().filter(|(field, _)| matters(*field)) {
        add(*field, format!("`{}` in", value(isa, &of.fields[usize::from(*field)], *implied)));
    }
    facts
}

/// The header fields and values with which a group has a slot.
pub(super) fn presence(isa: Set, slot: usize) -> String {
    let mut cases: Vec<(String, Vec<&str>)> = Vec::new();
    for (record, plan) in choice(isa, 0).records.iter().zip(isa.plans) {
        let valid = |key: &usize| plan.slots[*key] != 0;
        let with: Vec<usize> = (0..plan.slots.len()).filter(|key| plan.slots[*key] >> slot & 1 != 0).collect();
        if with.is_empty() {
            continue;
        }
        let mut at = 0;
        let mut conditions: Vec<(Vec<usize>, u32, &Place)> = Vec::new();
        for place in plan.key {
            let own = with.iter().map(|key| key >> at & ((1 << place.bits.width()) - 1));
            conditions.push((own.collect(), at, place));
            at += place.bits.width();
        }
        // The keys that fulfil all conditions but one.
        let fitting = |conditions: &[(Vec<usize>, u32, &Place)], except: Option<usize>| {
            let fits = |key: usize, (own, at, place): &(Vec<usize>, u32, &Place)| {
                own.contains(&(key >> at & ((1 << place.bits.width()) - 1)))
            };
            let all = |key: &usize| conditions.iter().enumerate().all(|(n, of)| except == Some(n) || fits(*key, of));
            (0..plan.slots.len()).filter(valid).filter(all).collect::<Vec<_>>()
        };
        while let Some(idle) =
            (0..conditions.len()).find(|n| fitting(&conditions, Some(*n)) == fitting(&conditions, None))
        {
            conditions.remove(idle);
        }
        let texts = conditions.iter().map(|(own, _, place)| {
            let field = &choice(isa, 0).fields[usize::from(place.field)];
            let mut names: Vec<String> = Vec::new();
            for bits in own {
                let name = value(isa, field, field.encoding.value(*bits as u64, place.bits.width()));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            format!("`{}` is {}", field.name, listed(names))
        });
        let texts: Vec<String> = texts.collect();
        let exact = fitting(&conditions, None) == with;
        let exact = if exact { String::new() } else { format!(" with the keys {with:?}") };
        let text = if texts.is_empty() { exact } else { format!(" where {}{exact}", texts.join(" and ")) };
        match cases.iter_mut().find(|(known, _)| *known == text) {
            Some((_, records)) => records.push(record.name),
            None => cases.push((text, vec![record.name])),
        }
    }
    let cases: Vec<String> = cases.iter().map(|(text, records)| format!("in {}{text}", listed(records))).collect();
    if cases.is_empty() { "never".to_owned() } else { cases.join("; ") }
}

/// A derived field.
pub(super) fn derived(isa: Set, rule: Derive) -> String {
    match rule {
        Derive::Length => "the length of the group".to_owned(),
        Derive::Offset { slot, if_any } => {
            let only =
                if if_any == 0 { String::new() } else { format!(" if there is any of {}", slot_names(isa, if_any)) };
            format!("the offset of `{}`{only}", isa.slots[usize::from(slot)].name)
        }
    }
}

/// A syntax of an operation, as the specification writes it.
pub(super) fn template(isa: Set, of: &Operation, tokens: &[Token]) -> String {
    let own = of.slots.trailing_zeros() as usize;
    let name = |at: u8, field: u8| member(isa, own, at, field);
    let token = |token: &Token| match *token {
        Token::Text(text) => text.to_owned(),
        Token::Flag(at, field, text) => format!("{{{}={}}}", name(at, field), text.trim_start_matches('.')),
        Token::Suffix(at, field, optional) => format!("{{.{}{}}}", name(at, field), if optional { "?" } else { "" }),
        Token::Value(at, field) => format!("{{{}}}", name(at, field)),
        Token::Words(at, field, words) => format!("{{{}:{}}}", name(at, field), words.join("|")),
        Token::Optional(at, field, text) => format!("{{{}?:{text}}}", name(at, field)),
        Token::Bits(at, field, words) => format!("{{{}#{}}}", name(at, field), words.join("|")),
        Token::Operand(operand) => format!("{{{}}}", isa.operands[usize::from(operand)].name),
        Token::Role(role) => format!("{{{role}}}"),
    };
    tokens.iter().map(token).collect()
}

/// How registers are written that share a spelling.
pub(super) fn register(name: &RegisterName) -> (String, String) {
    let RegisterName { bank, from, to, first, low, is, through: _, before, after } = *name;
    let low = if low == 0 { String::new() } else { format!(" whose low {low} bits are {is}") };
    (format!("{before}{{n}}{after}"), format!("bank {bank}, {from} to {to}{low}, from {first} on"))
}

/// The field that marks the last part of a chain.
pub(super) fn ends(isa: Set, slot: usize) -> Option<&'static str> {
    let field = isa.slots[slot].ends;
    (field != Slot::NEVER).then(|| choice(isa, slot).fields[usize::from(field)].name)
}

/// How an operand is resolved.
pub(super) fn operand(isa: Set, of: &Operand) -> Vec<Fact> {
    let field = |slot: u8, field: u8| member(isa, isa.slots.len(), slot, field);
    match of.kind {
        OperandKind::Wire(wire) => vec![fact(Subject::Syntax, "", format!("`{wire}`"))],
        OperandKind::Register(places) => {
            let place = |place: &RegisterPlace| {
                let [bank, number] = [place.bank, place.number].map(|part| field(place.slot, part));
                let least = (place.count.0 != Slot::NEVER).then(|| field(place.slot, place.count.0));
                let least =
                    least.map_or_else(String::new, |count| format!(" if `{count}` is at least {}", place.count.1));
                fact(
                    Subject::Alternative,
                    isa.slots[usize::from(place.slot)].name,
                    format!("`{bank}`, `{number}`{least}"),
                )
            };
            places.iter().map(place).collect()
        }
        OperandKind::Select { slot, field: index, options, sets } => {
            let selects = &choice(isa, slot.into()).fields[usize::from(index)];
            let set = if sets { "" } else { ", set elsewhere" };
            let option = |(bits, operand): &(i64, u8)| {
                let text = format!("`{}`", isa.operands[usize::from(*operand)].name);
                fact(Subject::Alternative, value(isa, selects, *bits), text)
            };
            let by = fact(Subject::Field, "", format!("`{}`{set}", field(slot, index)));
            std::iter::once(by).chain(options.iter().map(option)).collect()
        }
    }
}

/// The spellings of registers, with their places in the machine if it is given.
pub(super) fn registers(isa: Set, hardware: Option<&'static Hardware>) -> Vec<Fact> {
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    for (index, name) in isa.registers.iter().enumerate() {
        let (spelling, mut text) = register(name);
        let place = hardware.and_then(|hardware| Some((hardware, (*hardware.named.get(index)?)?)));
        if let Some((hardware, Named { first, index })) = place {
            text += &format!(", at {}", hardware.name(first));
            text += &index.map_or_else(String::new, |index| format!(" plus {}", hardware.name(index)));
        }
        let through = isa.operands.iter().zip(0..64).filter(|(_, operand)| name.through >> operand & 1 != 0);
        let through = listed(through.map(|(operand, _)| operand.name));
        text += &if through.is_empty() { through } else { format!(", through {through}") };
        match texts.iter_mut().find(|(known, _)| *known == spelling) {
            Some((_, all)) => all.push(text),
            None => texts.push((spelling, vec![text])),
        }
    }
    texts.into_iter().map(|(spelling, all)| fact(Subject::Syntax, spelling, all.join("; "))).collect()
}
