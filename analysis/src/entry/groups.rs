//! Instructions of sets that encode them in groups of bytes.

use isaforge_core::group::info::{operations, registers};
use isaforge_core::group::listing::pieces;
use isaforge_core::group::program::{is_last, target};
use isaforge_core::group::text::{SEPARATOR, register};
use isaforge_core::group::value::Values;
use isaforge_core::group::{Group, GroupIsa, print};
use isaforge_core::semantics::{Node, Op, Semantics, compose};
use isaforge_core::text::Line;

use super::{Entry, Flow, Instruction, Operand, Register, flow_of, once, write};
use crate::effects::{Effects, When};
use crate::implied::Accesses;
use crate::set::Set;

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
    // Calls may read registers from one on.
    let calls = effects.as_ref().is_none_or(|effects| !effects.intrinsics.is_empty());
    let spans = |operand: u16| {
        if calls {
            return MAX_REGISTERS;
        }
        let elements = shape.iter().flat_map(|shape| &shape.nodes).filter(|node| node.op == Op::Operand);
        elements.filter(|node| node.args[0] == operand).map(|node| u32::from(node.args[1]) + 1).max().unwrap_or(1)
    };
    let lanes = semantics.map_or(Lanes::All, |semantics| lanes(semantics, isa, &values));
    // A repeated group advances its registers by one per repetition.
    let repeats = semantics
        .and_then(|semantics| semantics.path.as_ref())
        .map_or(1, |path| values.get(isa, path.repeats.0.into(), path.repeats.1.into()).clamp(1, 16) as u32);
    let (mut operands, mut may_read) = (Vec::new(), Vec::new());
    let mut named = |write: bool| {
        let mut found = Vec::new();
        registers(isa, group, write, |named| {
            let mut name = Line::new();
            register(isa, named.bank, named.number, &mut name);
            let operand = isa.operands.get(usize::from(named.operand)).map_or("", |operand| operand.name);
            let text = name.as_str().to_owned();
            operands.push(Operand { name: operand, kind: "register", value: named.number, text });
            let first = named.number.max(0) as u32;
            let all = first..first.saturating_add(repeats - 1 + spans(named.operand.into()));
            may_read.extend(all.filter(|_| calls || !write).map(|index| Register { bank: named.bank as u16, index }));
            found.extend((first..first + repeats).map(|index| Register { bank: named.bank as u16, index }));
        });
        found
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    named(false).into_iter().for_each(|register| once(&mut reads, register));
    // The group's graph does not say for each operand which part of the register it leaves unchanged.
    let conditional = effects.as_ref().is_some_and(|effects| effects.conditional) || lanes == Lanes::Some;
    named(true).into_iter().for_each(|register| write(&mut writes, register, repeats == 1 && !conditional));
    Instruction {
        mnemonic: names.join(SEPARATOR),
        text: text.as_str().to_owned(),
        modifiers: Vec::new(),
        operands,
        reads,
        last: Vec::new(),
        writes,
        flow: flow((set, isa, group), (set.base, at), effects.as_ref()),
        pure: effects.as_ref().is_some_and(|effects| !effects.others && !effects.barrier),
        lane: effects.as_ref().is_some_and(|effects| effects.lane),
        may_read,
        mask: if let Lanes::In(state) = lanes { Some(state) } else { None },
        accesses: Accesses::of(effects.as_ref()),
        states: effects.map_or(Vec::new(), |effects| effects.writes.iter().map(|(state, _)| *state).collect()),
        lists: Vec::new(),
    }
}

/// The maximum number of consecutive registers that a call reads.
const MAX_REGISTERS: u32 = 64;

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

fn flow((set, isa, group): (&Set, &'static GroupIsa, &Group), at: (u64, usize), effects: Option<&Effects>) -> Flow {
    let mut flow = flow_of(effects, leads(isa, group, at), |_| true);
    if let Some(effects) = effects {
        let called = |list: &[u16]| list.iter().any(|intrinsic| set.ends(*intrinsic));
        flow.end = match () {
            () if called(&effects.always_called) => When::Always,
            () if called(&effects.intrinsics) => flow.end.max(When::Sometimes),
            () => flow.end,
        };
    }
    if is_last(isa, group) {
        flow.end = When::Always;
    }
    flow
}
