//! Instructions of sets that encode them in groups of bytes.

mod registers;

use isaforge_core::group::info::operations;
use isaforge_core::group::listing::pieces;
use isaforge_core::group::program::{is_last, target};
use isaforge_core::group::text::{SEPARATOR, register};
use isaforge_core::group::value::Values;
use isaforge_core::group::{Group, GroupIsa, print};
use isaforge_core::semantics::{Node, Op, Semantics, compose};
use isaforge_core::text::Line;

use super::instruction::{Entry, Flow, Instruction, Operand};
use crate::access::Implied;
use crate::effects::{Effects, When};
use crate::set::Set;
use registers::{Registers, named};

pub(super) fn targets(
    isa: &'static GroupIsa,
    base: u64,
    bytes: &[u8],
) -> impl Iterator<Item = (usize, Option<(u64, bool)>)> {
    pieces(isa, bytes, &[]).map(move |piece| {
        (piece.at, piece.group.ok().and_then(|group| Some((leads(isa, &group, (base, piece.at))?, false))))
    })
}

pub(super) fn read(set: &Set, isa: &'static GroupIsa, bytes: &[u8]) -> impl Iterator<Item = Entry> {
    pieces(isa, bytes, &[]).map(move |piece| {
        let instruction = piece.group.map(|group| instruction(set, isa, &group, piece.at));
        Entry { bytes: piece.at..piece.at + piece.len, instruction: instruction.map_err(|error| error.to_string()) }
    })
}

/// The offset of the branch target of a group at an offset in a program at `base`.
fn leads(isa: &'static GroupIsa, group: &Group, (base, at): (u64, usize)) -> Option<u64> {
    let address = usize::try_from(base).ok()?.checked_add(at)?;
    u64::try_from(target(isa, group, address)?).ok()?.checked_sub(base)
}

fn instruction(set: &Set, isa: &'static GroupIsa, group: &Group, at: usize) -> Instruction {
    let mut text = Line::new();
    print(isa, group, SEPARATOR, &mut text);
    let mut names: Vec<&str> = Vec::new();
    operations(isa, group).for_each(|(_, _, operation)| names.push(operation.name));
    let values = group.values(isa);
    let semantics = set.semantics;
    let shape = semantics.and_then(|semantics| compose(semantics, isa, &values).ok());
    let effects = semantics.zip(shape.as_ref()).map(|(semantics, shape)| Effects::of(semantics, shape, &|_, _| None));
    let lanes = semantics.map_or(Lanes::All, |semantics| lanes(semantics, isa, &values));
    // Under a mask, lanes that do not execute the group keep what they have.
    let named = named(isa, group);
    let registers = Registers::of((set, isa), &values, &named, shape.as_ref(), lanes != Lanes::Some);
    let operands = named.iter().map(|(named, _)| {
        let mut name = Line::new();
        register(isa, named.bank, named.number, &mut name);
        let operand = isa.operands.get(usize::from(named.operand)).map_or("", |operand| operand.name);
        Operand { name: operand, kind: "register", value: named.number, text: name.as_str().to_owned() }
    });
    Instruction {
        mnemonic: names.join(SEPARATOR),
        text: text.as_str().to_owned(),
        operands: operands.collect(),
        reads: registers.found.reads,
        writes: registers.found.writes,
        named: registers.found.named,
        flow: flow((set, isa, group, &values), (set.base, at), effects.as_ref()),
        pure: effects.as_ref().is_some_and(|effects| !effects.others && !effects.barrier) && !registers.writes_indexed,
        lane: effects.as_ref().is_some_and(|effects| effects.lane),
        may_read: registers.may_read,
        mask: if let Lanes::In(state) = lanes { Some(state) } else { None },
        implied: Implied::of(effects.as_ref()),
        stops: effects.as_ref().is_some_and(|effects| set.stops(effects)),
        states: effects.map_or(Vec::new(), |effects| effects.writes.iter().map(|(state, _)| *state).collect()),
        ..Instruction::default()
    }
}

/// Which of the active lanes execute a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    All,
    /// Those in which this state holds.
    In(u16),
    /// Perhaps only some.
    Some,
}

fn lanes(semantics: &Semantics, isa: &GroupIsa, values: &Values) -> Lanes {
    let Some(execution) = semantics.path.as_ref().map(|path| path.execution(semantics, isa, values)) else {
        return Lanes::All;
    };
    let (Some(mask), Some(before)) = (execution.mask, execution.before.filter(|_| !execution.everyone)) else {
        return Lanes::All;
    };
    let sets = |node: &&Node| node.op == Op::SetState && node.args[0] == mask;
    let value = before.nodes.iter().rfind(sets).and_then(|node| before.nodes.get(usize::from(node.args[2])));
    match value {
        Some(Node { op: Op::Const, args, .. })
            if before.constants.get(usize::from(args[0])).is_some_and(|c| *c != 0) =>
        {
            Lanes::All
        }
        Some(Node { op: Op::State, args, .. }) => Lanes::In(args[0]),
        _ => Lanes::Some,
    }
}

fn flow(
    (set, isa, group, values): (&Set, &'static GroupIsa, &Group, &Values),
    at: (u64, usize),
    effects: Option<&Effects>,
) -> Flow {
    let mut flow = Flow::of(effects, leads(isa, group, at), || false, |_| true);
    if let Some(effects) = effects {
        let called = |list: &[u16]| list.iter().any(|intrinsic| set.ends(*intrinsic));
        flow.end = match () {
            () if called(&effects.always_called) => When::Always,
            () if called(&effects.intrinsics) => flow.end.max(When::Sometimes),
            () => flow.end,
        };
    }
    if set.semantics.is_some_and(|semantics| !semantics.flow.is_empty()) {
        for (slot, _, operation) in operations(isa, group) {
            flow.add_facts(set.semantics, operation.name, |name| field(isa, group, values, (slot, name)), false);
        }
    }
    if is_last(isa, group) {
        flow.end = When::Always;
    }
    flow
}

/// The value of a field of a slot, or of the one that `slot.field` names. `None` if the group does not have the field.
fn field(isa: &GroupIsa, group: &Group, values: &Values, (slot, name): (usize, &str)) -> Option<u64> {
    let (slot, name) = match name.split_once('.') {
        Some((slot, field)) => (isa.slots.iter().position(|known| known.name == slot)?, field),
        None => (slot, name),
    };
    let choice = isa.choices.get(usize::from(isa.slots.get(slot)?.choice))?;
    let field = choice.fields.iter().position(|known| known.name == name)?;
    let has_it = group.record(isa, slot)?.has(u8::try_from(field).ok()?);
    has_it.then(|| values.get(isa, slot, field) as u64)
}
