//! The effects of an operation once an instruction's modifiers and constant operands are known.

use isaforge_core::bits::ones;
use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::primitive::primitive;
use isaforge_core::semantics::{NONE, Node, Op, Semantics, Shape, Special, Type};
use isaforge_core::table::Access;

/// Whether an effect happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum When {
    /// Never.
    #[default]
    Never,
    /// If a condition holds.
    Sometimes,
    /// Always.
    Always,
}

/// The effects of a shape other than computing values.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Whether it branches.
    pub branch: When,
    /// Whether it ends the thread.
    pub end: When,
    /// Whether it is a barrier for the threads of a workgroup.
    pub barrier: bool,
    /// Whether it depends on the number of the lane.
    pub lane: bool,
    /// Whether an intrinsic may change where threads continue, even after an instruction that ends or branches.
    pub leads: bool,
    /// Whether it always faults.
    pub faults: bool,
    /// Whether it accesses memory, writes a state, may fault, or calls an intrinsic.
    pub others: bool,
    /// The states it reads.
    pub reads: Vec<u16>,
    /// The intrinsics it calls.
    pub intrinsics: Vec<u16>,
    /// Those of them that it always calls.
    pub always_called: Vec<u16>,
    /// The states it writes, and whether it always does.
    pub writes: Vec<(u16, bool)>,
    /// If it branches: the operands to which it writes the address of the next instruction.
    links: Vec<u16>,
    /// Whether it writes this address to a state or to memory.
    link_state: bool,
    /// For each operand written: the bits that are always written.
    written: Vec<(u16, u128)>,
    /// For each operand whose bits it reads or writes, other than for an intrinsic: their number from the first.
    extents: Vec<(u16, u32)>,
    /// The operands whose value it needs, other than to write a part of it back.
    needed: u128,
    /// The operands to which it writes back a part of their value.
    kept: u128,
}

impl Effects {
    /// Computes the effects of a shape. `known` returns the value of an operand's element if it is constant.
    pub fn of(semantics: &Semantics, shape: &Shape, known: &dyn Fn(u16, u16) -> Option<u64>) -> Effects {
        let (values, kept) = (fold(shape, known, &|_| None), kept(shape));
        let mut found = Effects::default();
        for node in &shape.nodes {
            let when = when(node, &values);
            if when == When::Never && node.op.condition().is_some() {
                continue;
            }
            match node.op {
                Op::State => found.reads.push(node.args[0]),
                Op::SetState
                    if node.args[1] == NONE && kept.get(usize::from(node.args[2])) == Some(&Some(node.args[0])) => {}
                Op::SetState => {
                    found.others = true;
                    found.writes.push((node.args[0], when == When::Always));
                }
                Op::Branch => found.branch = found.branch.max(when),
                Op::End => found.end = found.end.max(when),
                Op::Barrier => found.barrier = true,
                Op::Special => found.lane |= node.imm == Special::Lane as u16,
                Op::Intrinsic => {
                    found.others = true;
                    found.intrinsics.push(node.args[0]);
                    found.always_called.extend((when == When::Always).then_some(node.args[0]));
                    let called = semantics.intrinsics.get(usize::from(node.args[0]));
                    found.leads |= called.is_some_and(|intrinsic| intrinsic.effects.flow);
                }
                Op::Load | Op::Store | Op::Atomic => found.others = true,
                Op::Fault => {
                    found.others = true;
                    found.faults |= when == When::Always;
                }
                Op::Write => {
                    let size = node.ty.size();
                    let bits = match when {
                        When::Always => {
                            let at = u32::from(node.args[1]).saturating_mul(size);
                            u128::from(ones(size)).checked_shl(at).unwrap_or(0)
                        }
                        _ => 0,
                    };
                    match found.written.iter_mut().find(|(operand, _)| *operand == node.args[0]) {
                        Some((_, all)) => *all |= bits,
                        None => found.written.push((node.args[0], bits)),
                    }
                }
                _ => {}
            }
        }
        found.extents = extents(shape, &values);
        (found.needed, found.kept) = origins(shape, &values);
        // Only what branches can be a call.
        for node in shape.nodes.iter().filter(|_| found.branch != When::Never) {
            match node.op {
                Op::Write if from_next(shape, node.args[2]) => found.links.push(node.args[0]),
                Op::SetState => found.link_state |= from_next(shape, node.args[2]),
                Op::Store => found.link_state |= from_next(shape, node.args[1]),
                _ => {}
            }
        }
        found
    }

    /// Whether it branches and saves the address of the next instruction, as a call does: in a state, in memory, or in
    /// an operand that `keeps` it.
    pub fn calls(&self, keeps: impl Fn(u16) -> bool) -> bool {
        self.link_state || self.links.iter().any(|operand| keeps(*operand))
    }

    /// The number of the operand's bits, from the first, that the operation reads or writes other than for an
    /// intrinsic.
    pub fn extent(&self, operand: u16) -> Option<u32> {
        self.extents.iter().find(|(known, _)| *known == operand).map(|(_, bits)| *bits)
    }

    /// The number of a source's bits, from the first, that the operation reads. `None` if an intrinsic may read more.
    pub fn source(&self, operand: u16) -> Option<u32> {
        self.extent(operand).filter(|_| self.intrinsics.is_empty())
    }

    /// Whether the operation needs the value of an operand, other than to write a part of it back.
    pub fn needs(&self, operand: u16) -> bool {
        self.needed & bit(operand) != 0
    }

    /// Whether the operation writes back a part of the operand's value.
    pub fn keeps(&self, operand: u16) -> bool {
        self.kept & bit(operand) != 0
    }

    /// Whether the operation may write an operand: an intrinsic may write what it is given.
    pub fn may_write(&self, operand: u16) -> bool {
        !self.intrinsics.is_empty() || self.written.iter().any(|(known, _)| *known == operand)
    }

    /// Whether the operation always writes the whole operand, which has this many bits. True if the operation does not
    /// write it as an operand.
    pub fn overwrites(&self, operand: u16, bits: u32) -> bool {
        let wanted = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        self.written.iter().find(|(known, _)| *known == operand).is_none_or(|(_, written)| written & wanted == wanted)
    }
}

/// Whether the text of an operation has branches.
pub(crate) fn has_branch(semantics: Option<&Semantics>, operation: u16) -> bool {
    let operation = semantics.and_then(|semantics| semantics.operations.get(usize::from(operation)));
    operation.is_some_and(|operation| operation.nodes.iter().any(|node| node.op == Op::Branch))
}

/// Whether an operand of this many bits is overwritten completely, and whether an instruction that only writes it needs
/// its value all the same. What keeps a part of a register leaves a value to be read there.
pub(crate) fn overwritten(effects: Option<&Effects>, operand: u16, access: Access, bits: u32) -> (bool, bool) {
    let Some(effects) = effects else { return (true, false) };
    let written = access == Access::Write;
    (effects.overwrites(operand, bits) && !(written && effects.keeps(operand)), written && effects.needs(operand))
}

/// For each operand whose bits a shape reads or writes: their number from the first. An intrinsic decides itself which
/// of its arguments it needs, so they do not count.
fn extents(shape: &Shape, values: &[Option<u64>]) -> Vec<(u16, u32)> {
    let mut found: Vec<(u16, u32)> = Vec::new();
    let mut add = |node: &Node| {
        let bits = (u32::from(node.args[1]) + 1).saturating_mul(node.ty.size());
        match found.iter_mut().find(|(operand, _)| *operand == node.args[0]) {
            Some((_, most)) => *most = bits.max(*most),
            None => found.push((node.args[0], bits)),
        }
    };
    let mut needed = vec![false; shape.nodes.len()];
    // Arguments precede the nodes that need them.
    for (at, node) in shape.nodes.iter().enumerate().rev() {
        let effect = node.op.is_effect() && when(node, values) != When::Never;
        if node.op == Op::Intrinsic || !(effect || needed[at]) {
            continue;
        }
        if matches!(node.op, Op::Operand | Op::Write) {
            add(node);
        }
        for_each_argument(node, &shape.lists, |argument| needed[usize::from(argument)] = true);
    }
    found
}

/// The operands whose values reach an effect other than a write to the same operand, and those whose values reach such
/// a write, as bits. Instructions have far fewer than 128 operands.
fn origins(shape: &Shape, values: &[Option<u64>]) -> (u128, u128) {
    let (mut needed, mut kept) = (0, 0);
    // For each node: the operands that its value depends on.
    let mut origins: Vec<u128> = Vec::with_capacity(shape.nodes.len());
    for node in &shape.nodes {
        let of = |argument: u16| origins.get(usize::from(argument)).copied().unwrap_or(0);
        let happens = !node.op.is_effect() || when(node, values) != When::Never;
        let mut own = 0;
        match node.op {
            _ if !happens => {}
            Op::Operand => own = bit(node.args[0]),
            Op::Write => {
                let (value, operand) = (of(node.args[2]), bit(node.args[0]));
                kept |= value & operand;
                needed |= value & !operand | of(node.args[3]);
            }
            op => {
                for_each_argument(node, &shape.lists, |argument| own |= of(argument));
                needed |= if op.is_effect() { own } else { 0 };
            }
        }
        origins.push(own);
    }
    (needed, kept)
}

/// The bit of an operand.
fn bit(operand: u16) -> u128 {
    1_u128.checked_shl(operand.into()).unwrap_or(0)
}

/// For each node: the state whose value it has, whatever choices between its values depend on.
fn kept(shape: &Shape) -> Vec<Option<u16>> {
    let mut kept: Vec<Option<u16>> = Vec::with_capacity(shape.nodes.len());
    for node in &shape.nodes {
        let of = |argument: u16| kept.get(usize::from(argument)).copied().flatten();
        kept.push(match node.op {
            Op::State if node.args[1] == NONE => Some(node.args[0]),
            Op::Select => of(node.args[1]).filter(|state| of(node.args[2]) == Some(*state)),
            _ => None,
        });
    }
    kept
}

/// The value that a shape always writes to an element of an operand. `None` if it is not known, as `known` is those of
/// operands, and `special` the properties of the thread.
pub(crate) fn written_value(
    shape: &Shape,
    written: (u16, u16),
    known: &dyn Fn(u16, u16) -> Option<u64>,
    special: &dyn Fn(Special) -> Option<u64>,
) -> Option<u64> {
    let values = fold(shape, known, special);
    let mut writes = shape.nodes.iter().filter(|node| node.op == Op::Write && (node.args[0], node.args[1]) == written);
    let (write, None) = (writes.next()?, writes.next()) else { return None };
    let always = when(write, &values) == When::Always;
    values.get(usize::from(write.args[2])).copied().flatten().filter(|_| always)
}

/// Evaluates the nodes that depend only on constants, known operands and known properties of the thread.
fn fold(
    shape: &Shape,
    known: &dyn Fn(u16, u16) -> Option<u64>,
    special: &dyn Fn(Special) -> Option<u64>,
) -> Vec<Option<u64>> {
    let mut values: Vec<Option<u64>> = Vec::with_capacity(shape.nodes.len());
    for (at, node) in shape.nodes.iter().enumerate() {
        let value = match node.op {
            Op::Const => shape.constant(at as u16),
            Op::Operand => known(node.args[0], node.args[1]).map(|value| value & node.ty.mask()),
            Op::Special => Special::ALL.into_iter().find(|one| *one as u16 == node.imm).and_then(special),
            Op::Pack | Op::Canonical => None,
            op if op.is_pure() => computed(shape, node, &values),
            _ => None,
        };
        values.push(value);
    }
    values
}

fn computed(shape: &Shape, node: &Node, values: &[Option<u64>]) -> Option<u64> {
    let mut types = [Type::BOOL; 4];
    let mut arguments = [0; 4];
    for k in (0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0) {
        let argument = usize::from(node.args[k]);
        types[k] = shape.nodes.get(argument)?.ty;
        arguments[k] = (*values.get(argument)?)?;
    }
    Some(primitive(node.op, node.imm, node.ty, types, arguments))
}

fn when(node: &Node, values: &[Option<u64>]) -> When {
    let Some(condition) = node.op.condition().and_then(|k| node.args.get(k)).copied() else { return When::Always };
    if condition == NONE {
        return When::Always;
    }
    match values.get(usize::from(condition)).copied().flatten() {
        Some(0) => When::Never,
        Some(_) => When::Always,
        None => When::Sometimes,
    }
}

/// Whether a value depends on the address of the next instruction.
fn from_next(shape: &Shape, node: u16) -> bool {
    let mut open = vec![node];
    let mut seen = vec![false; shape.nodes.len()];
    while let Some(at) = open.pop() {
        let Some(node) = shape.nodes.get(usize::from(at)) else { continue };
        if std::mem::replace(&mut seen[usize::from(at)], true) {
            continue;
        }
        if node.op == Op::Special && node.imm == Special::Next as u16 {
            return true;
        }
        // A value loaded from memory does not count, even if its address depends on the next instruction.
        if node.op.is_pure() {
            for_each_argument(node, &shape.lists, |argument| open.push(argument));
        }
    }
    false
}
