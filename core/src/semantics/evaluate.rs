//! Executes shapes for all lanes of a warp at once.
//!
//! This is the reference: it evaluates one node at a time, each by its definition in [`primitive`](super::primitive).

use alloc::vec::Vec;

use super::immediate::{AtomicOp, Part, Special};
use super::instantiate::{Shape, canonical};
use super::node::{NONE, Node, Op};
use super::primitive::{component, primitive};
use super::table::Semantics;
use super::types::Type;

/// One value for each of the `L` lanes of a warp.
pub type Column<const L: usize> = [u64; L];

/// Applies a function to the value of each lane. A loop over lanes becomes vector instructions where `map` of an array
/// often does not.
#[inline(always)]
pub fn each<const L: usize, A: Copy, B: Copy + Default>(column: &[A; L], f: impl Fn(A) -> B) -> [B; L] {
    let mut results = [B::default(); L];
    for (result, value) in results.iter_mut().zip(column) {
        *result = f(*value);
    }
    results
}

/// The environment in which an instruction executes: registers, memory, intrinsics.
///
/// Bit 0 of a mask is lane 0. Values are masked to the size of their type. Results in lanes outside a mask are ignored.
pub trait Environment<const L: usize> {
    /// The reason why execution stops.
    type Fault;

    /// The number of lanes, at most `L`.
    fn lane_count(&self) -> usize {
        L
    }
    /// The lanes that execute.
    fn active(&self) -> u64;
    /// Reads one element of an operand of the instruction, as it is encoded.
    ///
    /// # Errors
    /// When it cannot be read.
    fn operand(&mut self, operand: u16, element: u16, ty: Type) -> Result<Column<L>, Self::Fault>;
    /// Writes one element of an operand. With a type narrower than the operand, `element` counts parts of that width.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, operand: u16, element: u16, ty: Type, value: &Column<L>, mask: u64) -> Result<(), Self::Fault>;
    /// Reads a state; `index` is the element in each lane.
    ///
    /// # Errors
    /// When there is no such element.
    fn state(&mut self, state: u16, index: Option<&Column<L>>) -> Result<Column<L>, Self::Fault>;
    /// Writes a state; `index` is the element in each lane.
    ///
    /// # Errors
    /// When there is no such element.
    fn set_state(
        &mut self,
        state: u16,
        index: Option<&Column<L>>,
        value: &Column<L>,
        mask: u64,
    ) -> Result<(), Self::Fault>;
    /// A property of each thread. [`Special::Lane`] and [`Special::Active`] are never requested.
    fn special(&mut self, special: Special) -> Column<L>;
    /// Reads memory.
    ///
    /// # Errors
    /// When an address of a lane in the mask cannot be read.
    fn load(&mut self, space: u16, ty: Type, address: &Column<L>, mask: u64) -> Result<Column<L>, Self::Fault>;
    /// Writes memory, in ascending order of lanes.
    ///
    /// # Errors
    /// When an address of a lane in the mask cannot be written.
    fn store(
        &mut self,
        space: u16,
        ty: Type,
        address: &Column<L>,
        value: &Column<L>,
        mask: u64,
    ) -> Result<(), Self::Fault>;
    /// Reads a part of a larger access.
    ///
    /// # Errors
    /// When the whole access is not possible in a lane in the mask.
    fn load_part(
        &mut self,
        space: u16,
        ty: Type,
        address: &Column<L>,
        part: Part,
        mask: u64,
    ) -> Result<Column<L>, Self::Fault> {
        self.load(space, ty, &address.map(|address| address.wrapping_add(part.from.into())), mask)
    }
    /// Writes a part of a larger access.
    ///
    /// # Errors
    /// When the whole access is not possible in a lane in the mask. No part of it is written then.
    fn store_part(
        &mut self,
        space: u16,
        ty: Type,
        address: &Column<L>,
        part: Part,
        value: &Column<L>,
        mask: u64,
    ) -> Result<(), Self::Fault> {
        self.store(space, ty, &address.map(|address| address.wrapping_add(part.from.into())), value, mask)
    }
    /// Replaces memory with the result of `op` on it and the value, lane by lane. If there is an expected value, only
    /// lanes where memory equals it are changed. Returns the previous contents.
    ///
    /// # Errors
    /// When an address of a lane in the mask cannot be read or written.
    #[allow(clippy::too_many_arguments, reason = "an atomic has that many parts")]
    fn atomic(
        &mut self,
        op: AtomicOp,
        space: u16,
        ty: Type,
        address: &Column<L>,
        value: &Column<L>,
        expected: Option<&Column<L>>,
        mask: u64,
    ) -> Result<Column<L>, Self::Fault>;
    /// Continues the lanes at other addresses.
    ///
    /// # Errors
    /// When there is no instruction there.
    fn branch(&mut self, target: &Column<L>, mask: u64) -> Result<(), Self::Fault>;
    /// Makes lanes wait for the others of their workgroup.
    ///
    /// # Errors
    /// When they cannot wait.
    fn barrier(&mut self, mask: u64) -> Result<(), Self::Fault>;
    /// Ends lanes.
    ///
    /// # Errors
    /// When they cannot end.
    fn end(&mut self, mask: u64) -> Result<(), Self::Fault>;
    /// Raises a fault of [`Semantics::faults`] in some lanes. `mask` is never empty.
    ///
    /// # Errors
    /// The fault, unless the environment continues.
    fn fault(&mut self, fault: u16, datum: &Column<L>, mask: u64) -> Result<(), Self::Fault>;
    /// Executes an intrinsic of [`Semantics::intrinsics`].
    ///
    /// # Errors
    /// When it cannot be executed.
    fn intrinsic(&mut self, intrinsic: u16, arguments: &[Column<L>], mask: u64) -> Result<Column<L>, Self::Fault>;
}

/// Reusable storage for the values of a shape.
#[derive(Debug)]
pub struct Scratch<const L: usize> {
    values: Vec<Column<L>>,
    arguments: Vec<Column<L>>,
}

impl<const L: usize> Default for Scratch<L> {
    fn default() -> Self {
        Scratch { values: Vec::new(), arguments: Vec::new() }
    }
}

/// Executes a shape.
///
/// # Errors
/// The fault that the environment returns. Operands and states are unchanged then.
pub fn evaluate<const L: usize, E: Environment<L>>(
    semantics: &Semantics,
    shape: &Shape,
    scratch: &mut Scratch<L>,
    env: &mut E,
) -> Result<(), E::Fault> {
    let active = env.active();
    let values = &mut scratch.values;
    values.clear();
    let mut written = 0;
    for (at, node) in shape.nodes.iter().enumerate() {
        let value = match node.op {
            Op::Write | Op::SetState => [0; L],
            Op::Commit => {
                write(&shape.nodes[written..at], values, active, env)?;
                written = at;
                [0; L]
            }
            Op::Permute | Op::Ballot => across(node, values, active, env.lane_count()),
            op if op.is_effect() => effect(node, shape, values, &mut scratch.arguments, active, env)?,
            Op::Const => [shape.constants.get(usize::from(node.args[0])).copied().unwrap_or(0); L],
            Op::Operand => env.operand(node.args[0], node.args[1], node.ty)?,
            Op::State => {
                let index = (node.args[1] != NONE).then(|| values[usize::from(node.args[1])]);
                env.state(node.args[0], index.as_ref())?
            }
            Op::Special => match Special::ALL.get(usize::from(node.imm)) {
                Some(Special::Lane) => core::array::from_fn(|lane| lane as u64),
                Some(Special::Active) => [active; L],
                Some(special) => env.special(*special),
                None => [0; L],
            },
            _ => pure(semantics, node, shape, values),
        };
        values.push(value);
    }
    write(&shape.nodes[written..], values, active, env)
}

/// Performs the writes of these nodes.
fn write<const L: usize, E: Environment<L>>(
    nodes: &[Node],
    values: &[Column<L>],
    active: u64,
    env: &mut E,
) -> Result<(), E::Fault> {
    for node in nodes.iter().filter(|node| matches!(node.op, Op::Write | Op::SetState)) {
        let mask = condition(node.args[3], values, active);
        if mask == 0 {
            continue;
        }
        let value = values[usize::from(node.args[2])];
        if node.op == Op::Write {
            env.write(node.args[0], node.args[1], node.ty, &value, mask)?;
        } else {
            let index = (node.args[1] != NONE).then(|| values[usize::from(node.args[1])]);
            env.set_state(node.args[0], index.as_ref(), &value, mask)?;
        }
    }
    Ok(())
}

fn condition<const L: usize>(node: u16, values: &[Column<L>], active: u64) -> u64 {
    match values.get(usize::from(node)) {
        Some(column) => column.iter().enumerate().fold(0, |mask, (lane, holds)| mask | (holds & 1) << lane) & active,
        None => active,
    }
}

pub(super) fn pure<const L: usize>(
    semantics: &Semantics,
    node: &Node,
    shape: &Shape,
    values: &[Column<L>],
) -> Column<L> {
    let argument = |k: usize| values.get(usize::from(node.args[k])).unwrap_or(const { &[0; L] });
    match node.op {
        Op::Pack => {
            let list = shape.lists.get(usize::from(node.args[0])..).unwrap_or_default();
            let mut all = [0; L];
            for (i, part) in list.iter().take(node.args[1].into()).enumerate() {
                let Some(part) = values.get(usize::from(*part)) else { continue };
                for (all, part) in all.iter_mut().zip(part) {
                    *all |= part << (usize::from(node.ty.bits) * i).min(63);
                }
            }
            all
        }
        Op::Canonical => argument(0).map(|value| canonical(semantics, node.ty, value)),
        _ => {
            let used = node.op.node_arguments();
            let ty = |k: usize| match used >> k & 1 {
                0 => node.ty,
                _ => shape.nodes.get(usize::from(node.args[k])).map_or(node.ty, |n| n.ty),
            };
            let types = [ty(0), ty(1), ty(2), ty(3)];
            let [a, b, c, d] = [argument(0), argument(1), argument(2), argument(3)];
            core::array::from_fn(|lane| {
                primitive(node.op, node.imm, node.ty, types, [a[lane], b[lane], c[lane], d[lane]])
            })
        }
    }
}

fn across<const L: usize>(node: &Node, values: &[Column<L>], active: u64, lanes: usize) -> Column<L> {
    let a = values[usize::from(node.args[0])];
    match node.op {
        Op::Ballot => [condition(node.args[0], values, active); L],
        _ => {
            let from = values[usize::from(node.args[1])];
            let there = a.get(..lanes).unwrap_or(&a);
            from.map(|lane| usize::try_from(lane).ok().and_then(|lane| there.get(lane).copied()).unwrap_or(0))
        }
    }
}

fn effect<const L: usize, E: Environment<L>>(
    node: &Node,
    shape: &Shape,
    values: &[Column<L>],
    arguments: &mut Vec<Column<L>>,
    active: u64,
    env: &mut E,
) -> Result<Column<L>, E::Fault> {
    let mask = node.op.condition().map_or(active, |k| condition(node.args[k], values, active));
    if mask == 0 {
        return Ok([0; L]);
    }
    let argument = |k: usize| values[usize::from(node.args[k])];
    let nothing = [0; L];
    match node.op {
        Op::Load => match Part::of(node.imm) {
            None => env.load(node.imm & 0xff, node.ty, &argument(0), mask),
            Some(part) => env.load_part(node.imm & 0xff, node.ty, &argument(0), part, mask),
        },
        Op::Store => match Part::of(node.imm) {
            None => env.store(node.imm & 0xff, node.ty, &argument(0), &argument(1), mask).map(|()| nothing),
            Some(part) => stores(node, part, shape, values, mask, env).map(|()| nothing),
        },
        Op::Atomic => {
            let op = AtomicOp::ALL.get(usize::from(node.imm >> 8)).copied().unwrap_or(AtomicOp::Exchange);
            let expected = (node.args[2] != NONE).then(|| argument(2));
            env.atomic(op, node.imm & 0xff, node.ty, &argument(0), &argument(1), expected.as_ref(), mask)
        }
        Op::Branch => env.branch(&argument(0), mask).map(|()| nothing),
        Op::Barrier => env.barrier(mask).map(|()| nothing),
        Op::End => env.end(mask).map(|()| nothing),
        Op::Fault => env.fault(node.imm, &argument(0), mask).map(|()| nothing),
        _ => {
            arguments.clear();
            let list = shape.lists.get(usize::from(node.args[1])..).unwrap_or_default();
            arguments.extend(list.iter().take(node.args[2].into()).map(|n| values[usize::from(*n)]));
            env.intrinsic(node.args[0], arguments, mask)
        }
    }
}

/// Performs an access that consists of several stores once `last`, its final part, is reached: lane by lane, as a
/// single access.
fn stores<const L: usize, E: Environment<L>>(
    last: &Node,
    part: Part,
    shape: &Shape,
    values: &[Column<L>],
    mask: u64,
    env: &mut E,
) -> Result<(), E::Fault> {
    if u32::from(part.from) + last.ty.size() / 8 < part.size.into() {
        return Ok(());
    }
    let same = |node: &&Node| node.op == Op::Store && node.args[0] == last.args[0] && node.args[2] == last.args[2];
    let part_of = |node: &Node| Part::of(node.imm).filter(|other| other.size == part.size);
    for lane in (0..L).filter(|lane| mask >> lane & 1 != 0) {
        // Nodes that already have a value precede the last one, which is included.
        for node in shape.nodes.iter().take(values.len() + 1).filter(same) {
            if let (Some(part), Some(value)) = (part_of(node), values.get(usize::from(node.args[1]))) {
                env.store_part(node.imm & 0xff, node.ty, &values[usize::from(last.args[0])], part, value, 1 << lane)?;
            }
        }
    }
    Ok(())
}

/// Extracts component `index` in every lane.
pub fn components<const L: usize>(column: &Column<L>, ty: Type, index: u32) -> Column<L> {
    column.map(|value| component(value, ty, index))
}
