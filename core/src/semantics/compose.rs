//! Composes the values of a group to the shape that is executed: see [`group`](super::group).

mod links;

pub use links::{End, Link};

use alloc::vec::Vec;

use super::group::{DataPath, Fields, Stays};
use super::instantiate::{Shape, chosen, fold, renumber};
use super::node::{NONE, Node, Op};
use super::operation::{Modifier, Operation};
use super::table::Semantics;
use super::types::Type;
use crate::group::table::{GroupIsa, OperandKind, SLOTS, Token};
use crate::group::value::{Values, is, there};
use links::Links;

/// The maximum number of repetitions of a group.
pub const REPETITIONS: u16 = 16;
/// The maximum number of nodes in a shape.
const MAX_NODES: usize = 20_000;

/// Why a group has no shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The instruction set does not describe the data path of groups.
    Path,
    /// The contents of this slot have no semantics.
    Slot(u8),
    /// The shape would have too many nodes.
    TooLarge,
}

/// The shape of a group.
///
/// # Errors
/// When something is missing.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::assemble;
/// use isaforge_core::semantics::compose;
/// use isaforge_usc::{ISA, semantics::SEMANTICS};
///
/// let group = assemble(ISA, "fadd ft0, r0, r1 | mov r2, ft0")?.encode(ISA)?;
/// let shape = compose(SEMANTICS, ISA, &group.values(ISA)).unwrap();
/// assert!(!shape.nodes.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compose(semantics: &Semantics, isa: &GroupIsa, values: &Values) -> Result<Shape, Missing> {
    composed(semantics, isa, values).map(|(shape, _)| shape)
}

/// The values that pass from one part of a group to another, in order of use: the wiring of its data path. Links that
/// recur in repetitions are listed once.
///
/// # Errors
/// When something is missing.
pub fn links(semantics: &Semantics, isa: &GroupIsa, values: &Values) -> Result<Vec<Link>, Missing> {
    composed(semantics, isa, values).map(|(_, links)| links)
}

fn composed(semantics: &Semantics, isa: &GroupIsa, values: &Values) -> Result<(Shape, Vec<Link>), Missing> {
    let path = semantics.path.as_ref().ok_or(Missing::Path)?;
    let (slot, field) = path.repeats;
    let repetitions = values.get(isa, slot.into(), field.into()).clamp(1, REPETITIONS.into()) as u16;
    let mut composer = Composer {
        semantics,
        isa,
        values,
        path,
        stays: stays(path, isa, values),
        states: alloc::vec![NONE; semantics.states.len()],
        changed: alloc::vec![false; semantics.states.len()],
        operands: Vec::new(),
        links: Links::new(semantics.states.len()),
        shape: Shape::default(),
        repetition: 0,
        repetitions,
    };
    for repetition in 0..repetitions {
        composer.repetition = repetition;
        if repetition > 0 {
            composer.shape.push(Node { op: Op::Commit, imm: 0, ty: Type::BOOL, args: [NONE; 4] });
            composer.operands.clear();
        }
        composer.inline(&path.path, Token::OWN, NONE)?;
    }
    composer.finish()
}

fn stays(path: &DataPath, isa: &GroupIsa, values: &Values) -> u64 {
    let holds = |slot: u8, fields: Fields| {
        fields.iter().all(|(field, allowed)| allowed.contains(&values.get(isa, slot.into(), (*field).into())))
    };
    let applies = |s: &&Stays| {
        values.has(s.slot.into()) && holds(s.slot, s.when) && (s.unless.is_empty() || !holds(s.slot, s.unless))
    };
    path.stays.iter().filter(applies).fold(0, |all, s| all | s.operands)
}

impl Modifier {
    /// Its value for the operation in a slot of a group, in one of some repetitions.
    pub(crate) fn in_group(&self, isa: &GroupIsa, values: &Values, slot: u8, repetitions: (u16, u16)) -> u64 {
        let own = |of: u8| usize::from(if of == Token::OWN { slot } else { of });
        match *self {
            Modifier::Field(of, field) => values.get(isa, own(of), field.into()) as u64,
            Modifier::Present(of) => values.has(own(of)).into(),
            Modifier::Repetition => repetitions.0.into(),
            Modifier::Repetitions => repetitions.1.into(),
            Modifier::Form(_) | Modifier::Suffix(..) => 0,
        }
    }
}

struct Composer<'a> {
    semantics: &'a Semantics,
    isa: &'a GroupIsa,
    values: &'a Values,
    path: &'a DataPath,
    /// Operands that do not step with repetitions, as a bit set.
    stays: u64,
    /// The current value of each state; [`NONE`] if it has not been read yet.
    states: Vec<u16>,
    /// The states that have been written.
    changed: Vec<bool>,
    /// Registers that have been read since the last write.
    operands: Vec<(Node, u16)>,
    links: Links,
    shape: Shape,
    repetition: u16,
    repetitions: u16,
}

/// What an operand of a graph refers to in a group.
enum Found {
    State(u16),
    Register(u16),
    Nothing,
}

impl Composer<'_> {
    fn finish(mut self) -> Result<(Shape, Vec<Link>), Missing> {
        for state in usize::from(self.path.local)..self.states.len() {
            if self.changed[state] {
                let ty = self.semantics.states[state].ty;
                self.shape.push(Node {
                    op: Op::SetState,
                    imm: 0,
                    ty,
                    args: [state as u16, NONE, self.states[state], NONE],
                });
            }
        }
        if self.shape.nodes.len() > MAX_NODES || self.shape.lists.len() > MAX_NODES {
            return Err(Missing::TooLarge);
        }
        Ok((self.shape.compact(), self.links.found))
    }

    /// Adds the graph of an operation in a slot, executed under a condition.
    fn inline(&mut self, operation: &Operation, slot: u8, when: u16) -> Result<(), Missing> {
        let mut map: Vec<u16> = Vec::with_capacity(operation.nodes.len());
        let repetitions = (self.repetition, self.repetitions);
        let value = |modifier: &Modifier| modifier.in_group(self.isa, self.values, slot, repetitions);
        let modifiers: Vec<u64> = operation.modifiers.iter().map(value).collect();
        let modifier = |index: u16| modifiers.get(usize::from(index)).copied().unwrap_or(0);
        for node in operation.nodes {
            let id = match chosen(&mut self.shape, operation, node, &map, modifier) {
                Some(id) => id,
                None => self.node(operation, node, &map, slot, when)?,
            };
            map.push(id);
        }
        if self.shape.nodes.len() > MAX_NODES { Err(Missing::TooLarge) } else { Ok(()) }
    }

    fn node(&mut self, operation: &Operation, node: &Node, map: &[u16], slot: u8, when: u16) -> Result<u16, Missing> {
        Ok(match node.op {
            Op::Slot => {
                let own = match map.get(usize::from(node.args[0])) {
                    Some(own) if node.args[0] != NONE => *own,
                    _ => NONE,
                };
                let when = self.both(when, own);
                if when == NONE || self.shape.constant(when) != Some(0) {
                    self.slot(node.imm as u8, if self.is_true(when) { NONE } else { when })?;
                }
                NONE
            }
            Op::Operand => match self.operand(node.args[0], slot) {
                Found::State(state) => self.read(state, slot),
                Found::Register(operand) => {
                    let id = self.register(node, operand);
                    self.links.register_is_read(operand, slot, id);
                    id
                }
                Found::Nothing => self.shape.push_constant(node.ty, 0),
            },
            Op::State if node.args[1] == NONE => self.read(node.args[0], slot),
            Op::SetState if node.args[1] == NONE => {
                self.set(node.args[0], map, node, slot, when);
                NONE
            }
            Op::Write => {
                match self.operand(node.args[0], slot) {
                    Found::State(state) => self.set(state, map, node, slot, when),
                    Found::Register(operand) => {
                        let value = map.get(usize::from(node.args[2])).copied().unwrap_or(NONE);
                        let mut moved = renumber(node, operation.lists, map, &mut self.shape.lists);
                        (moved.args[0], moved.args[1]) = (operand, self.element(operand, node.args[1]));
                        moved.args[3] = self.both(when, moved.args[3]);
                        if !self.is_never(moved.args[3]) {
                            self.links.register_is_written(operand, slot, value, &self.shape);
                        }
                        fold(self.semantics, &mut self.shape, moved);
                    }
                    Found::Nothing => {}
                }
                NONE
            }
            op => {
                let mut moved = renumber(node, operation.lists, map, &mut self.shape.lists);
                if let Some(k) = op.condition() {
                    moved.args[k] = self.both(when, moved.args[k]);
                }
                if op == Op::Intrinsic {
                    self.step_operands(&moved);
                }
                fold(self.semantics, &mut self.shape, moved)
            }
        })
    }

    /// Adds the operations in a slot, in the order of the specification.
    fn slot(&mut self, slot: u8, when: u16) -> Result<(), Missing> {
        let at = usize::from(slot) % SLOTS;
        if !self.values.has(at) {
            return Ok(());
        }
        let mut any = false;
        for (number, operation) in self.isa.operations.iter().enumerate() {
            if is(self.isa, operation, at, self.values) {
                let text = self.semantics.operations.get(number).filter(|text| !text.text.is_empty());
                self.inline(text.ok_or(Missing::Slot(slot))?, slot, when)?;
                any = true;
            }
        }
        if any { Ok(()) } else { Err(Missing::Slot(slot)) }
    }

    /// Finds what an operand of a graph refers to. A role refers to the operand that the slot assigns to it.
    fn operand(&self, operand: u16, slot: u8) -> Found {
        let mut operand = usize::from(operand);
        if let Some(role) = operand.checked_sub(self.isa.operands.len()) {
            let roles = self.isa.slots.get(usize::from(slot)).map_or(&[][..], |s| s.roles);
            let name = self.path.roles.get(role).copied().unwrap_or_default();
            match roles.iter().find(|(role, _)| *role == name) {
                Some((_, found)) => operand = usize::from(*found),
                None => return Found::Nothing,
            }
        }
        if let Some((_, state)) = self.path.wires.iter().find(|(wire, _)| usize::from(*wire) == operand) {
            return Found::State(*state);
        }
        match self.isa.operands.get(operand).map(|operand| operand.kind) {
            Some(OperandKind::Register(places)) if places.iter().any(|place| there(self.isa, place, self.values)) => {
                Found::Register(operand as u16)
            }
            _ => Found::Nothing,
        }
    }

    /// The offset of a register from the one that the operand names.
    fn element(&self, operand: u16, element: u16) -> u16 {
        if self.stays >> (operand & 63) & 1 != 0 { element } else { element + self.repetition }
    }

    fn register(&mut self, node: &Node, operand: u16) -> u16 {
        let element = self.element(operand, node.args[1]);
        let moved = Node { args: [operand, element, NONE, NONE], ..*node };
        if let Some((_, id)) = self.operands.iter().find(|(known, _)| *known == moved) {
            return *id;
        }
        let id = self.shape.push(moved);
        self.operands.push((moved, id));
        id
    }

    /// Operands that are passed to an intrinsic have the repetition in the high byte of their number.
    fn step_operands(&mut self, node: &Node) {
        let Some(intrinsic) = self.semantics.intrinsics.get(usize::from(node.args[0])) else { return };
        for (k, _) in intrinsic.parameters.iter().enumerate().filter(|(_, ty)| **ty == Type::unsigned(16)) {
            let at = usize::from(node.args[1]) + k;
            let Some(operand) = self.shape.lists.get(at).and_then(|n| self.shape.constant(*n)) else { continue };
            let operand = operand as u16 & 0xff;
            let stepped = operand | self.element(operand, 0) << 8;
            self.shape.lists[at] = self.shape.push_constant(Type::unsigned(16), stepped.into());
        }
    }

    /// The current value of a state, read by the text of a slot or of the path.
    fn read(&mut self, state: u16, slot: u8) -> u16 {
        let id = self.state(state);
        self.links.state_is_read(state, slot, id);
        id
    }

    /// The current value of a state.
    fn state(&mut self, state: u16) -> u16 {
        let at = usize::from(state);
        let Some(known) = self.states.get(at).copied() else { return NONE };
        if known != NONE {
            return known;
        }
        let ty = self.semantics.states[at].ty;
        let id = if state < self.path.local {
            self.shape.push_constant(ty, 0)
        } else {
            self.shape.push(Node { op: Op::State, imm: 0, ty, args: [state, NONE, NONE, NONE] })
        };
        self.states[at] = id;
        id
    }

    fn set(&mut self, state: u16, map: &[u16], node: &Node, slot: u8, when: u16) {
        let value = map.get(usize::from(node.args[2])).copied().unwrap_or(NONE);
        let own = if node.args[3] == NONE { NONE } else { map.get(usize::from(node.args[3])).copied().unwrap_or(NONE) };
        let when = self.both(when, own);
        // The path also contains the texts of other units, under conditions that are false here.
        if self.is_never(when) {
            return;
        }
        self.links.state_is_written(state, slot, value, &self.shape);
        let value = if self.is_true(when) {
            value
        } else {
            let old = self.state(state);
            let ty = self.semantics.states[usize::from(state)].ty;
            let select = Node { op: Op::Select, imm: 0, ty, args: [when, value, old, NONE] };
            fold(self.semantics, &mut self.shape, select)
        };
        if let Some(place) = self.states.get_mut(usize::from(state)) {
            *place = value;
            self.changed[usize::from(state)] = true;
        }
    }

    fn is_true(&self, when: u16) -> bool {
        when == NONE || self.shape.constant(when).is_some_and(|holds| holds != 0)
    }

    fn is_never(&self, when: u16) -> bool {
        when != NONE && self.shape.constant(when) == Some(0)
    }

    /// The conjunction of two conditions.
    fn both(&mut self, a: u16, b: u16) -> u16 {
        match (a, b) {
            (NONE, other) | (other, NONE) => other,
            _ => {
                let node = Node { op: Op::And, imm: 0, ty: Type::BOOL, args: [a, b, NONE, NONE] };
                fold(self.semantics, &mut self.shape, node)
            }
        }
    }
}
