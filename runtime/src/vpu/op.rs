//! Instructions ready to run: the semantics of a word, folded to a shape, with the places of its operands.

use isaforge_core::semantics::instantiate::for_each_argument;
use isaforge_core::semantics::{self, NONE, Node, Shape, instantiate};
use isaforge_core::table::{self, Type};
use isaforge_vpu::semantics::SEMANTICS;
use isaforge_vpu::{ISA, decode};

use crate::exec::vector::code::Code;
use crate::exec::vector::select::select;
use crate::vpu::bind::Rows;
use crate::vpu::error::Wait;
use crate::vpu::group::{Group, Groups, THREADS};
use crate::vpu::name;
use crate::vpu::operand::Location;

/// An instruction ready to run.
#[derive(Debug)]
pub(crate) struct Op {
    pub shape: Shape,
    /// The same as operations on rows, if it can be covered.
    pub code: Option<Code<THREADS, Groups>>,
    /// Whether the code has effects other than those on rows.
    pub acts: bool,
    pub places: Vec<Location>,
    /// The registers of the bank that it reads, bit 0 for the first.
    pub globals: u32,
    /// What it may have to wait for.
    pub waits: Option<Wait>,
    /// Whether masked threads execute it, too.
    pub unmasks: bool,
    /// Whether it may end threads.
    pub ends: bool,
    /// Whether its result goes to the group being prepared.
    pub spawns: bool,
    /// Whether its code makes a result pending in all threads that execute it; the caller must check whether one was
    /// pending before.
    pub pends: bool,
}

impl Op {
    /// Creates the instruction of a word; `None` if it is not an instruction.
    pub(crate) fn new(word: u64) -> Option<Op> {
        let opcode = decode(word).ok()?.opcode() as usize;
        let form = &ISA.forms[opcode];
        let operation = SEMANTICS.operations.get(opcode)?;
        let modifier = |index: u16| {
            let modifier = operation.modifiers.get(usize::from(index));
            modifier.map_or(0, |modifier| modifier.bits(ISA, form, word))
        };
        let places: Vec<Location> = form.operands.iter().map(|operand| place(operand, word)).collect();
        let written = |(operand, place): (&table::Operand, &Location)| {
            operand.access == table::Access::Write && matches!(place, Location::Global(_))
        };
        let shape = instantiate(SEMANTICS, operation, modifier);
        let read = |(operand, place): (&table::Operand, &Location)| match place {
            Location::Global(index) if operand.access != table::Access::Write => 1 << index,
            _ => 0,
        };
        Some(Op {
            code: None,
            acts: true,
            globals: form.operands.iter().zip(&places).map(read).fold(0, |all, one| all | one),
            ends: shape.nodes.iter().any(|node| node.op == semantics::Op::End),
            shape,
            waits: operation.intrinsics.iter().find_map(|intrinsic| waits(*intrinsic)),
            unmasks: operation.intrinsics.contains(&name::UNMASK),
            spawns: form.operands.iter().zip(&places).any(written),
            pends: false,
            places,
        })
    }
}

impl Op {
    /// Covers it with operations on rows.
    pub(crate) fn cover(&mut self, rows: &mut Rows<'_>) {
        if !rows.steady {
            self.globals = 0;
        }
        let settled = self.settled();
        rows.settles_pending = settled.is_some();
        self.pends = settled.is_some_and(|settled| settled.contains(&true));
        self.code = select(SEMANTICS, &self.shape, rows);
        self.pends &= self.code.is_some();
        self.acts = self.code.as_ref().is_none_or(|code| code.effects().next().is_some());
    }

    /// Returns the values to which it sets the pending state of results, if they are unconditional.
    pub(crate) fn settled(&self) -> Option<Vec<bool>> {
        let pending = |node: &&Node| node.op == semantics::Op::SetState && node.args[0] == name::PENDING;
        let settled = |node: &Node| match (self.shape.constant(node.args[2]), node.args[3]) {
            (Some(0), _) => Some(false),
            (Some(_), NONE) => Some(true),
            _ => None,
        };
        self.shape.nodes.iter().filter(pending).map(settled).collect()
    }

    /// Returns the threads of a group that execute it.
    #[inline]
    pub(crate) fn active(&self, group: &Group) -> u8 {
        if self.unmasks { group.living } else { group.active }
    }

    /// Returns how it may interact with other groups that run at the same time.
    pub(crate) fn interacts(&self) -> Interacts {
        let own = self.own();
        let is_own = |address: u16| own.get(usize::from(address)).copied().unwrap_or(false);
        let mut interacts = if self.spawns { Interacts::Anyone } else { Interacts::Nobody };
        for node in &self.shape.nodes {
            interacts =
                interacts.max(match node.op {
                    semantics::Op::Store | semantics::Op::Load if node.imm & 0xff == name::TILE => {
                        if is_own(node.args[0]) { Interacts::SamePlace } else { Interacts::Anyone }
                    }
                    semantics::Op::Store | semantics::Op::Atomic => Interacts::Anyone,
                    semantics::Op::Intrinsic if !matches!(node.args[0], name::UNMASK | name::WAIT_FOR_RESULT) => {
                        Interacts::Anyone
                    }
                    _ => Interacts::Nobody,
                });
        }
        interacts
    }

    /// Returns which nodes derive only from a thread's own position.
    fn own(&self) -> Vec<bool> {
        let mut own: Vec<bool> = Vec::with_capacity(self.shape.nodes.len());
        for node in &self.shape.nodes {
            let from = match node.op {
                semantics::Op::State => matches!(node.args[0], name::POSITION | name::TILE_SIZE),
                semantics::Op::Const => true,
                op if op.is_pure() => {
                    let mut from = true;
                    for_each_argument(node, &self.shape.lists, |n| from &= own.get(usize::from(n)) == Some(&true));
                    from
                }
                _ => false,
            };
            own.push(from);
        }
        own
    }
}

/// How groups that run at the same time may interact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Interacts {
    /// They do not.
    Nobody,
    /// Through a tile buffer, if they are at the same position of the tile.
    SamePlace,
    /// Through memory, locks, or launches.
    Anyone,
}

fn waits(intrinsic: u16) -> Option<Wait> {
    match intrinsic {
        name::LOCK => Some(Wait::Lock),
        name::WAIT_FOR_RESULT => Some(Wait::Memory),
        name::ALLOCATE => Some(Wait::Bank),
        name::LAUNCH => Some(Wait::Queue),
        _ => None,
    }
}

fn place(operand: &table::Operand, word: u64) -> Location {
    match operand.shape {
        table::Shape::One { kind, at } => {
            let fits = |a: &&table::Alternative| word >> at & a.mask == a.value;
            let reading = ISA.kinds[usize::from(kind)].alternatives.iter().find(fits);
            let register = reading.into_iter().flat_map(|reading| reading.fields).find_map(|field| match field.ty {
                Type::Register(bank) => Some((ISA.banks[usize::from(bank)].name, field.bits.get(word, at) as u8)),
                _ => None,
            });
            match register {
                Some(("local", index)) => Location::Local(index & 15),
                Some(("shared", index)) => Location::Shared(index & 15),
                Some((_, index)) => Location::Global(index & 31),
                None => Location::Nowhere,
            }
        }
        table::Shape::Number { bits, .. } => Location::Number(bits.get(word, 0)),
        table::Shape::List { .. } => Location::Nowhere,
    }
}
