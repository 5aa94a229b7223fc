//! Translates instructions to values and effects: their shapes, with operands bound to slots of the register file and
//! to numbers.
//!
//! This follows the evaluator and the machine step by step. An instruction that cannot be expressed in a [`Block`] is
//! refused, and the evaluator executes it. The evaluator starts such an instruction from its beginning, so an
//! instruction must not be left after it has written memory.

use isaforge_core::machine::{Instruction, Location, Machine, Register, part_of};
use isaforge_core::semantics::{AtomicOp, NONE, Node, Op as Pure, Part, Shape, Special, Type};
use rustc_hash::FxHashMap;

use super::ir::{self, Access, Block, Effect, End, Graph, Value};
use super::simplify::{not, pure};

/// The evaluator has to execute the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Lowers operations to those of a back end.
pub trait Lower {
    /// Returns the value of an operation with arguments of these types. Conditions that must hold for it are added to
    /// `guards`, each with the value that it must have.
    ///
    /// # Errors
    /// When the back end cannot compute the operation.
    fn pure(
        &self,
        graph: &mut Graph,
        guards: &mut Vec<(Value, bool)>,
        node: &Node,
        types: [Type; 4],
        args: &[Value],
    ) -> Result<Value, Refused>;
}

/// A block under construction.
pub struct Binder<'a> {
    machine: &'a Machine<1>,
    lower: &'a dyn Lower,
    /// The block so far.
    pub block: Block,
    /// The current values of the slots that have been written.
    now: FxHashMap<u32, Value>,
    /// Whether the current instruction has written memory.
    stored: bool,
    /// The writes of the current instruction, which take effect when it is complete.
    writes: Vec<(u32, Value)>,
    /// Where execution continues after the current instruction.
    next: Value,
    /// The addresses of the current instruction and of the one after it.
    place: (u64, u64),
}

impl<'a> Binder<'a> {
    /// Creates an empty block for a machine's program.
    pub fn new(machine: &'a Machine<1>, lower: &'a dyn Lower) -> Self {
        let graph = Graph::default();
        let block = Block { instructions: vec![], graph, effects: vec![], accesses: vec![], end: End::Leave(0) };
        let now = FxHashMap::default();
        Binder { machine, lower, block, now, stored: false, writes: vec![], next: Value(0), place: (0, 0) }
    }

    /// Adds an instruction. Returns where execution continues after it.
    ///
    /// # Errors
    /// When the evaluator has to execute it; the block is unchanged then.
    pub fn instruction(&mut self, pc: u64, instruction: &Instruction) -> Result<Value, Refused> {
        let hardware = self.machine.hardware();
        if instruction.ends || hardware.unit > 1 || !hardware.is_plain() {
            return Err(Refused);
        }
        let before = (self.block.effects.len(), self.block.accesses.len());
        let pc_bits = self.machine.semantics().pc_bits;
        let following = pc.wrapping_add(instruction.length) & Type::unsigned(pc_bits).mask();
        self.place = (pc, following);
        self.next = self.block.graph.constant(following);
        (self.stored, self.writes) = (false, vec![]);
        self.block.effects.push(Effect::Begin(self.block.instructions.len() as u32));
        match self.shape(&instruction.shape, &instruction.operands, false) {
            Ok(_) => {
                self.commit();
                self.block.instructions.push(pc);
                Ok(self.next)
            }
            Err(refused) => {
                self.block.effects.truncate(before.0);
                self.block.accesses.truncate(before.1);
                Err(refused)
            }
        }
    }

    fn commit(&mut self) {
        for (slot, value) in std::mem::take(&mut self.writes) {
            self.now.insert(slot, value);
            self.block.effects.push(Effect::Write(slot, value));
        }
    }

    /// Follows the evaluator through a shape. The shape of a reading (`reading`) writes the reading's value, which is
    /// returned.
    fn shape(&mut self, shape: &Shape, operands: &[Location], reading: bool) -> Result<Value, Refused> {
        let mut values: Vec<Value> = Vec::with_capacity(shape.nodes.len());
        let zero = self.block.graph.constant(0);
        for node in &shape.nodes {
            let value = match node.op {
                Pure::Write | Pure::SetState => zero,
                Pure::Commit if reading => return Err(Refused),
                // No state is kept between the parts of a group, whose writes take effect part by part.
                Pure::Commit => return Err(Refused),
                Pure::Const => {
                    let number = shape.constants.get(usize::from(node.args[0])).copied().ok_or(Refused)?;
                    self.block.graph.constant(number)
                }
                Pure::Operand => {
                    let place = operands.get(usize::from(node.args[0])).ok_or(Refused)?;
                    let ty = if reading { place.type_in_reading(self.machine.hardware(), node.ty) } else { node.ty };
                    self.operand(place, node.args[1], ty)?
                }
                Pure::State => {
                    let (slot, bits) = self.state(node, &values)?;
                    self.slot(slot, bits)
                }
                Pure::Special => {
                    let number = match Special::ALL.get(usize::from(node.imm)) {
                        Some(Special::Pc) => self.place.0,
                        Some(Special::Next) => self.place.1,
                        Some(Special::Lane) | None => 0,
                        Some(Special::Active) => 1,
                    };
                    self.block.graph.constant(number)
                }
                // There is one lane.
                Pure::Ballot => values[usize::from(node.args[0])],
                Pure::Permute => {
                    let (value, lane) = (values[usize::from(node.args[0])], values[usize::from(node.args[1])]);
                    let graph = &mut self.block.graph;
                    let own = pure(graph, Pure::Compare, 0, Type::U64, &[lane, zero]);
                    pure(graph, Pure::Select, 0, Type::U64, &[own, value, zero])
                }
                op if op.is_effect() => self.effect(node, &values)?,
                _ => self.compute(node, shape, &values)?,
            };
            values.push(value);
        }
        let mut result = zero;
        for node in shape.nodes.iter().filter(|node| matches!(node.op, Pure::Write | Pure::SetState)) {
            let value = *values.get(usize::from(node.args[2])).ok_or(Refused)?;
            let condition = values.get(usize::from(node.args[3])).copied();
            if node.op == Pure::Write && reading {
                result = self.choose(condition, value, result);
            } else if node.op == Pure::Write {
                match operands.get(usize::from(node.args[0])) {
                    Some(Location::Register(first, operand)) => {
                        match self.part(*first, *operand, node.args[1], node.ty)? {
                            Some((slot, bits, at)) => self.write_part((slot, bits, at), node.ty, value, condition),
                            None => self.write(*first, node, value, condition)?,
                        }
                    }
                    _ => return Err(Refused),
                }
            } else if reading {
                return Err(Refused);
            } else {
                let (slot, bits) = self.state(node, &values)?;
                if u32::from(bits) < node.ty.size() {
                    return Err(Refused);
                }
                self.set(slot, bits, value, condition);
            }
        }
        Ok(result)
    }

    /// Returns the current value of a slot.
    fn slot(&mut self, slot: u32, bits: u8) -> Value {
        match self.now.get(&slot) {
            Some(value) => *value,
            None => self.block.graph.slot(slot, bits),
        }
    }

    /// Returns the slot of a state, and its width.
    fn state(&self, node: &Node, values: &[Value]) -> Result<(u32, u8), Refused> {
        let (state, hardware) = (node.args[0], self.machine.hardware());
        if let Some((_, register)) = hardware.aliases.iter().find(|(alias, _)| *alias == state) {
            return self.register(*register);
        }
        let element = match node.args[1] {
            NONE => 0,
            index => self.block.graph.number(*values.get(usize::from(index)).ok_or(Refused)?).ok_or(Refused)?,
        };
        let slot = self.machine.state_slot(state, element).ok_or(Refused)?;
        let ty = self.machine.semantics().states.get(usize::from(state)).ok_or(Refused)?.ty;
        Ok((u32::try_from(slot).map_err(|_| Refused)?, ty.size() as u8))
    }

    fn register(&self, register: Register) -> Result<(u32, u8), Refused> {
        let width = self.machine.hardware().banks.get(usize::from(register.bank)).ok_or(Refused)?.width;
        let slot = self.machine.slot(register).ok_or(Refused)?;
        match u8::try_from(width) {
            Ok(bits @ 1..=64) => Ok((u32::try_from(slot).map_err(|_| Refused)?, bits)),
            _ => Err(Refused),
        }
    }

    /// Returns the registers that an element of an operand occupies, each with its width.
    fn span(&self, first: Register, element: u16, ty: Type) -> Result<Vec<(u32, u8)>, Refused> {
        let (_, bits) = self.register(first)?;
        let count = ty.size().div_ceil(bits.into()).max(1);
        let from = u32::from(element).checked_mul(count).and_then(|by| first.index.checked_add(by)).ok_or(Refused)?;
        (0..count).map(|k| self.register(Register { index: from.checked_add(k).ok_or(Refused)?, ..first })).collect()
    }

    fn operand(&mut self, place: &Location, element: u16, ty: Type) -> Result<Value, Refused> {
        match place {
            Location::Register(first, operand) => {
                if let Some((slot, bits, at)) = self.part(*first, *operand, element, ty)? {
                    let whole = self.holds(slot, bits);
                    let graph = &mut self.block.graph;
                    let count = graph.constant(at.into());
                    let part = pure(graph, Pure::Shr, 0, Type::U64, &[whole, count]);
                    return Ok(cut(graph, part, ty.size()));
                }
                let span = self.span(*first, element, ty)?;
                let mut value = self.block.graph.constant(0);
                let mut at = 0u64;
                for (slot, bits) in span {
                    let part = self.holds(slot, bits);
                    let graph = &mut self.block.graph;
                    let count = graph.constant(at.min(63));
                    let part = pure(graph, Pure::Shl, 0, Type::U64, &[part, count]);
                    value = pure(graph, Pure::Or, 0, Type::U64, &[part, value]);
                    at += u64::from(bits);
                }
                Ok(cut(&mut self.block.graph, value, ty.size()))
            }
            Location::Number(number) if element == 0 => Ok(self.block.graph.constant(number & ty.mask())),
            Location::Reading { shape, fields } if element == 0 => {
                let value = self.shape(shape, fields, true)?;
                Ok(cut(&mut self.block.graph, value, ty.size()))
            }
            _ => Err(Refused),
        }
    }

    /// Returns the content of a register.
    fn holds(&mut self, slot: u32, bits: u8) -> Value {
        match self.machine.is_zero(slot as usize) {
            true => self.block.graph.constant(0),
            false => self.slot(slot, bits),
        }
    }

    /// Returns what a register will hold after the instruction, as far as its writes are known.
    fn written(&mut self, slot: u32, bits: u8) -> Value {
        let pending = self.writes.iter().rev().find(|(other, _)| *other == slot).map(|(_, value)| *value);
        pending.unwrap_or_else(|| self.holds(slot, bits))
    }

    /// Returns the register that contains an element of an operand, its width, and the position of the element in it.
    /// `None` if the element is not a part of a register.
    fn part(&self, first: Register, operand: u16, element: u16, ty: Type) -> Result<Option<(u32, u8, u32)>, Refused> {
        let (_, width) = self.register(first)?;
        let Some((register, at)) = part_of(first, operand, width.into(), element, ty.size()) else { return Ok(None) };
        let (slot, bits) = self.register(register)?;
        Ok(Some((slot, bits, at)))
    }

    fn write_part(&mut self, (slot, bits, at): (u32, u8, u32), ty: Type, value: Value, condition: Option<Value>) {
        let old = self.written(slot, bits);
        let graph = &mut self.block.graph;
        let part = cut(graph, value, ty.size());
        let count = graph.constant(at.into());
        let part = pure(graph, Pure::Shl, 0, Type::U64, &[part, count]);
        let others = graph.constant(!(ty.mask() << at));
        let others = pure(graph, Pure::And, 0, Type::U64, &[old, others]);
        let whole = pure(graph, Pure::Or, 0, Type::U64, &[others, part]);
        self.set(slot, bits, whole, condition);
    }

    fn write(&mut self, first: Register, node: &Node, value: Value, condition: Option<Value>) -> Result<(), Refused> {
        let mut at = 0u64;
        for (slot, bits) in self.span(first, node.args[1], node.ty)? {
            let graph = &mut self.block.graph;
            let count = graph.constant(at.min(63));
            let part = pure(graph, Pure::Shr, 0, Type::U64, &[value, count]);
            let part = cut(graph, part, bits.into());
            self.set(slot, bits, part, condition);
            at += u64::from(bits);
        }
        Ok(())
    }

    fn set(&mut self, slot: u32, bits: u8, value: Value, condition: Option<Value>) {
        if self.machine.is_zero(slot as usize) {
            return;
        }
        let value = match condition {
            Some(condition) => {
                let old = self.written(slot, bits);
                self.choose(Some(condition), value, old)
            }
            None => value,
        };
        self.writes.push((slot, value));
    }

    /// Returns one value where a condition holds, or else the other.
    fn choose(&mut self, condition: Option<Value>, yes: Value, no: Value) -> Value {
        match condition {
            Some(condition) => pure(&mut self.block.graph, Pure::Select, 0, Type::U64, &[condition, yes, no]),
            None => yes,
        }
    }

    /// Leaves the instruction to the evaluator unless a condition has this value.
    fn guard(&mut self, condition: Value, holds: bool) -> Result<(), Refused> {
        match self.block.graph.number(condition) {
            Some(number) if (number & 1 != 0) == holds => Ok(()),
            Some(_) => Err(Refused),
            None if self.stored => Err(Refused),
            None => {
                self.block.effects.push(Effect::Guard(condition, holds));
                Ok(())
            }
        }
    }

    fn compute(&mut self, node: &Node, shape: &Shape, values: &[Value]) -> Result<Value, Refused> {
        let mut nodes = Vec::new();
        match node.op {
            Pure::Pack => {
                let list = shape.lists.get(usize::from(node.args[0])..).unwrap_or_default();
                nodes.extend(list.iter().take(node.args[1].into()).copied());
            }
            _ => nodes.extend((0..4).filter(|k| node.op.node_arguments() >> k & 1 != 0).map(|k| node.args[k])),
        }
        let args: Option<Vec<Value>> = nodes.iter().map(|n| values.get(usize::from(*n)).copied()).collect();
        let ty = |k: usize| nodes.get(k).and_then(|n| shape.nodes.get(usize::from(*n))).map_or(node.ty, |n| n.ty);
        let types = [ty(0), ty(1), ty(2), ty(3)];
        let mut guards = Vec::new();
        let value = self.lower.pure(&mut self.block.graph, &mut guards, node, types, &args.ok_or(Refused)?)?;
        if !guards.is_empty() {
            guards.into_iter().try_for_each(|(condition, holds)| self.guard(condition, holds))?;
            self.block.effects.push(Effect::Compute(value));
        }
        Ok(value)
    }

    fn effect(&mut self, node: &Node, values: &[Value]) -> Result<Value, Refused> {
        let zero = self.block.graph.constant(0);
        let argument = |k: usize| values.get(usize::from(node.args[k])).copied().ok_or(Refused);
        let condition = node.op.condition().and_then(|k| values.get(usize::from(node.args[k])).copied());
        match node.op {
            Pure::Load => {
                // The case where the condition does not hold is rare and left to the evaluator.
                condition.map_or(Ok(()), |condition| self.guard(condition, true))?;
                let from = Part::of(node.imm).map_or(0, |part| part.from.into());
                let address = self.offset(argument(0)?, from);
                self.load(address, node.ty)
            }
            Pure::Store => {
                condition.map_or(Ok(()), |condition| self.guard(condition, true))?;
                match Part::of(node.imm) {
                    None => self.store(argument(0)?, argument(1)?, node.ty).map(|()| zero),
                    Some(_) => Err(Refused),
                }
            }
            Pure::Atomic if node.args[2] == NONE => {
                condition.map_or(Ok(()), |condition| self.guard(condition, true))?;
                let (address, operand) = (argument(0)?, argument(1)?);
                let old = self.load(address, node.ty)?;
                let op = match AtomicOp::ALL.get(usize::from(node.imm >> 8)) {
                    Some(AtomicOp::Add) => Some(Pure::Add),
                    Some(AtomicOp::Sub) => Some(Pure::Sub),
                    Some(AtomicOp::And) => Some(Pure::And),
                    Some(AtomicOp::Or) => Some(Pure::Or),
                    Some(AtomicOp::Xor) => Some(Pure::Xor),
                    Some(AtomicOp::Min) => Some(Pure::Min),
                    Some(AtomicOp::Max) => Some(Pure::Max),
                    Some(AtomicOp::Exchange) | None => None,
                };
                let new = match op {
                    Some(op) => {
                        let node = Node { op, imm: 0, args: [NONE; 4], ..*node };
                        self.lower.pure(&mut self.block.graph, &mut vec![], &node, [node.ty; 4], &[old, operand])?
                    }
                    None => operand,
                };
                self.store(address, new, node.ty).map(|()| old)
            }
            Pure::Branch => {
                self.next = self.choose(condition, argument(0)?, self.next);
                Ok(zero)
            }
            // The evaluator handles everything that ends the program, raises a fault or calls the environment.
            Pure::Fault | Pure::End | Pure::Barrier | Pure::Intrinsic => {
                self.guard(condition.ok_or(Refused)?, false).map(|()| zero)
            }
            _ => Err(Refused),
        }
    }

    fn offset(&mut self, address: Value, from: u64) -> Value {
        let from = self.block.graph.constant(from);
        pure(&mut self.block.graph, Pure::Add, 0, Type::U64, &[address, from])
    }

    fn access(&mut self, address: Value, ty: Type, writes: bool) -> Result<u32, Refused> {
        let size = ty.size().div_ceil(8);
        if self.stored || !matches!(ty.size(), 8 | 16 | 32 | 64) {
            return Err(Refused);
        }
        if self.machine.hardware().aligned && size > 1 {
            let graph = &mut self.block.graph;
            let (low, zero) = (graph.constant(u64::from(size) - 1), graph.constant(0));
            let rest = pure(graph, Pure::And, 0, Type::U64, &[address, low]);
            let aligned = pure(graph, Pure::Compare, 0, Type::U64, &[rest, zero]);
            self.guard(aligned, true)?;
        }
        let instruction = self.block.instructions.len() as u32;
        self.block.accesses.push(Access { instruction, size: size as u8, writes });
        Ok(self.block.accesses.len() as u32 - 1)
    }

    fn load(&mut self, address: Value, ty: Type) -> Result<Value, Refused> {
        let access = self.access(address, ty, false)?;
        let (op, ty) = (ir::Op::Load(access), Type::unsigned(ty.size() as u8));
        let value = self.block.graph.add(ir::Node { op, ty, args: [Some(address), None, None] });
        self.block.effects.push(Effect::Load(value));
        Ok(value)
    }

    fn store(&mut self, address: Value, value: Value, ty: Type) -> Result<(), Refused> {
        let access = self.access(address, ty, true)?;
        self.block.effects.push(Effect::Store { access, address, value });
        self.stored = true;
        Ok(())
    }

    /// Returns the negation of a condition.
    pub fn not(&mut self, condition: Value) -> Value {
        not(&mut self.block.graph, condition)
    }
}

/// Returns the low bits of a value.
pub fn cut(graph: &mut Graph, value: Value, bits: u32) -> Value {
    if graph.bits(value) <= bits {
        return value;
    }
    let ty = if bits <= 32 { Type::U32 } else { Type::U64 };
    let mask = graph.constant(Type::unsigned(bits as u8).mask());
    pure(graph, Pure::And, 0, ty, &[value, mask])
}
