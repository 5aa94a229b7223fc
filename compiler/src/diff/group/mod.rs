//! Compares two revisions of a set of groups.
//!
//! An operation of a slot counts as an instruction. One more entry, with the name of the first slot, is about what all
//! groups have: header, slots, lengths, and whatever no operation describes.

mod claims;
mod names;
mod words;

use isaforge_core::explain::hex;
use isaforge_core::group::table::{Choice, Operation, Slot, Token};
use isaforge_core::stream::Wide;

use super::change::{Change, How, Subject};
use super::difference::{Decoding, DefinitionDiff, Diff, Example, Instruction, Pattern, Sort};
use super::effects::{self, Effects};
use super::entries::{Judged, fill};
use super::machine::machine;
use super::revision::{Revision, Side};
use super::structure::{constants_and_banks, enum_changes, pairs, quoted};
use claims::Claims;
use names::{Fact, Set, differences, fact};

/// Compares two revisions of a set of groups.
pub fn diff_groups(old: impl Into<Revision<Set>>, new: impl Into<Revision<Set>>) -> Diff {
    let (was, is) = (old.into(), new.into());
    let (old, new) = (was.tables, is.tables);
    let partners = partners(old, new);
    let both = was.semantics.is_some() && is.semantics.is_some();
    let changed = |(entry, partner): (Option<usize>, &Option<u16>)| {
        let Some(n) = partner.map(usize::from) else { return Vec::new() };
        let (facts, effects) = match (entry, n.checked_sub(1)) {
            (Some(a), Some(b)) => (
                [of_operation(old, &old.operations[a]), of_operation(new, &new.operations[b])],
                vec![("", Effects::of_group(was, a as u16), Effects::of_group(is, b as u16))],
            ),
            _ => ([of_header(was, both), of_header(is, both)], whole(was, is)),
        };
        let mut changes = differences(&facts[0], &facts[1]);
        let renamed = changes.iter().filter(|change| change.how == How::Renamed);
        let renamed: Vec<_> =
            renamed.map(|change| (change.name.clone(), change.new.trim_matches('`').to_owned())).collect();
        for (name, before, after) in effects {
            let named =
                |change: Change| if name.is_empty() { change } else { Change { name: name.to_owned(), ..change } };
            changes.extend(effects::changes(&before, &after, renamed.clone()).into_iter().map(named));
        }
        changes
    };
    let entries = || std::iter::once(None).chain((0..old.operations.len()).map(Some));
    let changes: Vec<Vec<Change>> = entries().zip(&partners).map(changed).collect();
    let mut diff = Diff {
        old: side(old),
        new: side(new),
        instructions: Vec::new(),
        common: Vec::new(),
        definitions: definitions(was, is),
        alike: 0,
        different: 0,
        unproven: 0,
        resized: false,
    };
    let banks = |isa: Set| isa.banks.iter().map(|bank| bank.name).collect::<Vec<_>>();
    diff.definitions.extend(machine(old.name, (was, &banks(old)), (is, &banks(new))));
    let mut back = vec![None; new.operations.len() + 1];
    partners.iter().zip(0..).for_each(|(partner, i)| {
        if let Some(n) = partner {
            back[usize::from(*n)] = Some(i);
        }
    });
    let example = |bytes: Vec<u8>| Example {
        word: hex(&bytes),
        old: words::reading(old, &bytes),
        new: words::reading(new, &bytes),
    };
    let forward = judge(old, new, &partners, &example);
    let backward = judge(new, old, &back, &example);
    fill(&mut diff, forward, backward, &partners, &changes);
    diff
}

fn side(isa: Set) -> Side {
    Side {
        name: isa.name.to_owned(),
        word_bits: 8 * u16::from(isa.longest),
        instructions: isa.operations.len() + 1,
        enums: isa.enums.len(),
    }
}

/// How another revision reads the groups of this one: all groups, then those with each operation.
fn judge(of: Set, by: Set, partners: &[Option<u16>], example: &dyn Fn(Vec<u8>) -> Example) -> Vec<Judged> {
    let judged = |instruction, alike: bool, found: Option<Vec<u8>>, has_partner: bool| {
        let decoding = match &found {
            _ if alike => Decoding::Alike,
            Some(_) => Decoding::Different,
            None => Decoding::Unproven,
        };
        let own = found.iter().flat_map(|bytes| words::names(of, bytes)).collect::<Vec<_>>();
        let others = found.iter().filter(|_| !has_partner).flat_map(|bytes| words::names(by, bytes));
        let readers = others.filter(|name| !own.contains(name)).map(str::to_owned).collect();
        Judged { instruction, decoding, example: found.map(example), readers }
    };
    let is_new = |operation: &&Operation| !of.operations.iter().any(|known| known.name == operation.name);
    let taken = by.operations.iter().filter(is_new).any(|operation| words::meets(of, by, operation));
    let alike = !taken && Claims::of_header(of).hold_in(&Claims::of_header(by));
    let found = if alike { None } else { words::any_differing(of, by) };
    let nothing = Pattern { mask: Wide::ZERO, value: Wide::ZERO };
    let header = Instruction { name: of.slots[0].name.to_owned(), pattern: nothing };
    let mut all = vec![judged(header, alike, found, true)];
    for (operation, partner) in of.operations.iter().zip(partners.iter().skip(1)) {
        let partner = partner.map(|n| &by.operations[usize::from(n) - 1]);
        let claims = Claims::of_operation(of, operation);
        let same = |other| claims.hold_in(&Claims::of_operation(by, other));
        // An operation without a public encoding has no words.
        let alike = words::patterns(of, operation).is_empty() || partner.is_some_and(same);
        let found = if alike { None } else { words::differing(of, by, operation, claims.slots) };
        all.push(judged(instruction(of, operation), alike, found, partner.is_some()));
    }
    all
}

fn instruction(isa: Set, operation: &Operation) -> Instruction {
    Instruction { name: operation.name.to_owned(), pattern: words::pattern(isa, operation) }
}

/// The new counterpart of each old entry: for an operation, that of the same name, or else the one with the same
/// conditions if each name is unknown to the other revision.
fn partners(old: Set, new: Set) -> Vec<Option<u16>> {
    let named = |isa: Set, name: &str| isa.operations.iter().position(|operation| operation.name == name);
    let renamed = |operation: &'static Operation| {
        let wanted = (words::pattern(old, operation), conditions(old, operation));
        let same = |other: &&Operation| (words::pattern(new, other), conditions(new, other)) == wanted;
        let other = new.operations.iter().filter(|other| named(old, other.name).is_none()).find(same)?;
        named(new, other.name)
    };
    let partner = |of: &'static Operation| named(new, of.name).or_else(|| renamed(of)).map(|n| n as u16 + 1);
    std::iter::once(Some(0)).chain(old.operations.iter().map(partner)).collect()
}

/// Where an operation may be, and the values that say that it is there.
fn conditions(isa: Set, of: &Operation) -> Vec<Fact> {
    let own = of.slots.trailing_zeros() as usize;
    let condition = |(at, field, values): &(u8, u8, &[i64])| {
        let slot = if *at == Token::OWN { own } else { (*at).into() };
        let field_of = &names::choice(isa, slot).fields[usize::from(*field)];
        let values = names::listed(values.iter().map(|value| names::value(isa, field_of, *value)));
        fact(Subject::Condition, names::member(isa, own, *at, *field), values)
    };
    std::iter::once(fact(Subject::Slot, "", names::slot_names(isa, of.slots)))
        .chain(of.is.iter().map(condition))
        .collect()
}

/// What the specification says about an operation.
fn of_operation(isa: Set, of: &Operation) -> Vec<Fact> {
    let mut facts = conditions(isa, of);
    let operand = |index: u8| isa.operands.get(usize::from(index)).map_or("", |operand| operand.name);
    let template = |tokens| names::template(isa, of, tokens);
    facts.push(fact(Subject::Syntax, "", format!("`{}`", template(of.syntax))));
    facts.push(fact(Subject::Alias, "", names::listed(of.also.iter().map(|tokens| template(tokens)))));
    facts.push(fact(Subject::Unit, "", quoted(of.part)));
    if of.unless != Slot::NEVER {
        facts.push(fact(Subject::Property, "left out", format!("after `{}`", operand(of.unless))));
    }
    if of.remark {
        facts.push(fact(Subject::Property, "remark", "adds no slot"));
    }
    if !of.no_encoding.is_empty() {
        facts.push(fact(Subject::Property, "encoding", "is not public"));
    }
    let written = (0..64).filter(|index| of.writes >> index & 1 != 0).map(operand);
    facts.extend(written.map(|name| fact(Subject::Access, name, "write")));
    // Those of the header are common to all groups.
    for bits in words::patterns(isa, of).iter().filter(|bits| bits.slot != 0) {
        let matters = |field| words::concerns(isa, of, bits.slot, bits.record, field);
        facts.extend(names::record(isa, names::choice(isa, bits.slot), bits.record, matters));
    }
    facts
}

/// What the specification says about all groups; what they do only if that is to be compared.
fn of_header(revision: Revision<Set>, does: bool) -> Vec<Fact> {
    let isa = revision.tables;
    let header = names::choice(isa, 0);
    let field = |slot: usize, index: u8| names::choice(isa, slot).fields[usize::from(index)].name;
    let order = isa.order.iter().map(|slot| isa.slots[usize::from(*slot)].name);
    let padding = isa.padding;
    let mut facts = vec![
        fact(Subject::Length, "", format!("multiples of {} bytes, at most {}", isa.unit, isa.longest)),
        fact(
            Subject::ConstantBits,
            "padding",
            format!("{:02x} {:02x} {:02x}", padding.odd, padding.first, padding.rest),
        ),
        fact(Subject::Syntax, "order", names::listed(order)),
        fact(Subject::Alignment, "", format!("{} bytes", isa.program.align)),
    ];
    let last: Vec<String> = isa.program.ends.iter().map(|when| names::when(isa, when)).collect();
    facts.push(fact(Subject::Condition, "last group", last.join(" or ")));
    for (slot, of) in isa.slots.iter().enumerate() {
        let records = names::listed(names::records(isa, slot).map(|record| record.name));
        let roles = of
            .roles
            .iter()
            .map(|(role, operand)| format!("; {role} is `{}`", isa.operands[usize::from(*operand)].name));
        let chain = isa.chains.iter().find(|chain| **chain >> slot & 1 != 0).map_or_else(String::new, |chain| {
            let last = names::ends(isa, slot).map_or_else(String::new, |field| format!(" up to one with `{field}`"));
            format!("; one of {}{last}", names::slot_names(isa, *chain))
        });
        let filler = if of.filler { "; whenever possible" } else { "" };
        let text = format!("`{}`: {records}{chain}{filler}", names::choice(isa, slot).name);
        facts.push(fact(Subject::Slot, of.name, text + &roles.collect::<String>()));
        facts.push(fact(Subject::Condition, of.name, names::presence(isa, slot)));
    }
    facts.extend(header.records.iter().flat_map(|record| names::record(isa, header, record, |_| true)));
    let derived = isa.derived.iter();
    facts.extend(derived.map(|of| fact(Subject::Computed, field(0, of.field), names::derived(isa, of.rule))));
    let rules = isa.rules.iter();
    facts.extend(rules.map(|rule| {
        let (when, need) = (names::when(isa, rule.when), names::when(isa, rule.need));
        fact(Subject::Condition, rule.doc, if when.is_empty() { need } else { format!("{need} if {when}") })
    }));
    facts.extend(isa.program.targets.iter().map(|target| {
        let slot = usize::from(target.slot);
        let absolute = (target.absolute != Slot::NEVER).then(|| field(slot, target.absolute));
        let text = absolute.map_or_else(
            || "from the group".to_owned(),
            |field| format!("from the group, from the start of the program if `{field}`"),
        );
        fact(Subject::Target, format!("{}.{}", isa.slots[slot].name, field(slot, target.field)), text)
    }));
    let semantics = revision.semantics.filter(|_| does);
    let Some(path) = semantics.and_then(|semantics| semantics.path.as_ref()) else { return facts };
    let states = semantics.map_or(&[][..], |semantics| semantics.states);
    let values = |slot: usize, fields: &[(u8, &'static [i64])]| {
        let text = |(index, values): &(u8, &'static [i64])| {
            let of = &names::choice(isa, slot).fields[usize::from(*index)];
            format!("`{}` is {}", of.name, names::listed(values.iter().map(|value| names::value(isa, of, *value))))
        };
        fields.iter().map(text).collect::<Vec<_>>().join(" and ")
    };
    let mask = path.mask.and_then(|mask| states.get(usize::from(mask))).map_or("", |state| state.name);
    facts.extend([
        fact(Subject::Property, "repetitions", field(path.repeats.0.into(), path.repeats.1)),
        fact(Subject::Property, "executed where", mask),
        fact(Subject::Property, "executed everywhere", values(0, path.everyone)),
        fact(Subject::Property, "executed in turn", values(0, path.in_turn)),
    ]);
    let stays = path.stays.iter().map(|stays| {
        let slot = usize::from(stays.slot);
        let operands = isa.operands.iter().zip(0..64).filter(|(_, index)| stays.operands >> index & 1 != 0);
        let operands = names::listed(operands.map(|(operand, _)| operand.name));
        format!(
            "{operands} of `{}` [{}] [{}]",
            isa.slots[slot].name,
            values(slot, stays.when),
            values(slot, stays.unless)
        )
    });
    facts.push(fact(Subject::Property, "registers that stay", stays.collect::<Vec<_>>().join("; ")));
    facts
}

/// What whole groups do in both revisions, and what comes before.
fn whole(was: Revision<Set>, is: Revision<Set>) -> Vec<(&'static str, Effects, Effects)> {
    let path = |revision: Revision<Set>| revision.semantics.and_then(|semantics| semantics.path.as_ref());
    let does = |revision| Effects::of_path(revision, path(revision).map(|path| &path.path));
    let before = |revision| Effects::of_path(revision, path(revision).and_then(|path| path.before.as_ref()));
    vec![("", does(was), does(is)), ("before", before(was), before(is))]
}

/// What changed in enums, constants, banks, operands, the spelling of registers, and in what slots without operations
/// may hold.
fn definitions(was: Revision<Set>, is: Revision<Set>) -> Vec<DefinitionDiff> {
    let (old, new) = (was.tables, is.tables);
    let mut out = Vec::new();
    let enums = |isa: Set| isa.enums.iter().map(|of| (of.name, of));
    pairs(Sort::Enum, enums(old), enums(new), &mut out, enum_changes);
    constants_and_banks((old.constants, old.banks), (new.constants, new.banks), &mut out);
    let operands = |isa: Set| isa.operands.iter().map(|operand| (operand.name, operand));
    pairs(Sort::Kind, operands(old), operands(new), &mut out, |a, b| {
        differences(&names::operand(old, a), &names::operand(new, b))
    });
    let choices = |isa: Set| {
        let operated = isa.operations.iter().fold(1, |all, operation| all | operation.slots);
        let is_free = move |of: &&'static Choice| {
            names::slots(operated)
                .all(|slot| isa.slots.get(slot).is_none_or(|_| !std::ptr::eq(names::choice(isa, slot), *of)))
        };
        isa.choices.iter().filter(is_free).map(|of| (of.name, of))
    };
    let facts = |isa: Set, of: &'static Choice| {
        of.records.iter().flat_map(|record| names::record(isa, of, record, |_| true)).collect::<Vec<_>>()
    };
    pairs(Sort::Choice, choices(old), choices(new), &mut out, |a, b| differences(&facts(old, a), &facts(new, b)));
    let places = was.runs_as(is);
    let spelt = |revision: Revision<Set>| names::registers(revision.tables, revision.hardware.filter(|_| places));
    let changes = differences(&spelt(was), &spelt(is));
    if !changes.is_empty() {
        let name = "registers".to_owned();
        out.push(DefinitionDiff { sort: Sort::Bank, how: How::Changed, name, renamed: String::new(), changes });
    }
    out
}
