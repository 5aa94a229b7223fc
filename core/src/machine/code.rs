//! Instructions in executable form: decoded, with modifiers folded and operands resolved. Each is prepared once.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::encoding::{Encoding, Found};
use super::location::{Location, registers_of};
use super::memory::{Access, Memory, MemoryFault, unique};
use super::table::{Bank, Hardware};
use super::trap::Reason;
use crate::group::program::is_last;
use crate::group::table::GroupIsa;
use crate::group::value::Values;
use crate::semantics::compose::Missing;
use crate::semantics::group::{DataPath, Fields};
use crate::semantics::inline::{Computed, inline};
use crate::semantics::{Modifier, NONE, Node, Op, Semantics, Shape, Type, compose, instantiate};
use crate::stream::Wide;

/// The maximum number of cached instructions. When it is reached, the cache is emptied.
const MAX_CACHED: usize = 1 << 16;

/// An instruction in executable form.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its opcode.
    pub opcode: u16,
    pub(super) found: Found,
    /// Its length in bytes.
    pub length: u64,
    /// Whether a flow modifier ends the thread after it.
    pub ends: bool,
    /// Whether masked lanes also execute it and then continue with the others.
    pub unmasks: bool,
    /// Its semantics.
    pub shape: Shape,
    /// Its operands, in the numbering of the shape.
    pub operands: Vec<Location>,
    /// Whether a trap may come after a write, which is undone then.
    pub undoes: bool,
    /// How its lanes are chosen. `None` for words and instructions of streams, which the active lanes execute.
    pub execution: Option<Execution>,
}

/// Which lanes execute a group, and how.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The operation before the group, in all lanes.
    pub before: Option<Shape>,
    /// The state that then determines which lanes execute it; `None` when all do.
    pub mask: Option<u16>,
    /// Whether it is evaluated in all lanes regardless.
    pub everyone: bool,
    /// Whether the lanes execute it one at a time.
    pub in_turn: bool,
}

/// The cached instructions of a program.
#[derive(Debug)]
pub(super) struct Code {
    /// Identifies the cache and what it holds: memory knows the numbers of instructions.
    id: usize,
    known: Vec<Instruction>,
    /// Indices into `known`, by the instruction's bits and length.
    words: BTreeMap<(Wide, u64), usize>,
}

impl Default for Code {
    fn default() -> Self {
        Code { id: unique(), known: Vec::new(), words: BTreeMap::new() }
    }
}

impl Code {
    /// The instruction with this number.
    pub fn get(&self, number: usize) -> Option<&Instruction> {
        self.known.get(number)
    }

    /// Whether the instruction at an address is cached.
    pub fn has_fetched(&self, memory: &Memory, pc: u64) -> bool {
        memory.instruction(self.id, pc).is_some()
    }

    /// The number of the instruction at an address, which is decoded if it is not cached.
    pub fn fetch(
        &mut self,
        (encoding, semantics, hardware): (Encoding, &'static Semantics, &'static Hardware),
        memory: &mut Memory,
        pc: u64,
    ) -> Result<usize, Reason> {
        let unit = encoding.unit();
        if !pc.is_multiple_of(unit) {
            return Err(Reason::Misaligned { access: Access::Fetch, address: pc, size: unit });
        }
        if let Some(number) = memory.instruction(self.id, pc) {
            return Ok(number);
        }
        let unmapped = Reason::Memory { access: Access::Fetch, fault: MemoryFault::Unmapped, address: pc, size: unit };
        let bytes = memory.bytes_at(pc, encoding.longest()).ok_or(unmapped)?;
        let word = Wide::from_bytes(bytes);
        let undecodable = |error| Reason::Undecodable { word: word.get(0, 64), error };
        let (found, length) = encoding.decode(bytes).map_err(undecodable)?;
        if self.known.len() >= MAX_CACHED {
            *self = Code::default();
        }
        let key = (word & Wide::ones(8 * length as u32), length);
        let number = match self.words.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.known.len();
                self.known.push(instruction(encoding, semantics, hardware, found, length)?);
                self.words.insert(key, number);
                number
            }
        };
        memory.keep_instruction(self.id, pc, unit, (length, number));
        Ok(number)
    }
}

fn instruction(
    encoding: Encoding,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
    found: Found,
    length: u64,
) -> Result<Instruction, Reason> {
    let operands = encoding.locations((semantics, hardware), &found);
    let opcode = found.opcode();
    if let (Encoding::Groups(isa), Found::Group(group)) = (encoding, &found) {
        let values = group.values(isa);
        let shape = compose(semantics, isa, &values).map_err(|missing| {
            let slot = if let Missing::Slot(slot) = missing { isa.slots.get(usize::from(slot)) } else { None };
            Reason::NoMeaning(slot.map_or("the group", |slot| slot.name))
        })?;
        let execution = semantics.path.as_ref().map(|path| path.execution(semantics, isa, &values));
        let ends = is_last(isa, group);
        let (unmasks, undoes) = (false, undoes(hardware, &shape, &operands));
        return Ok(Instruction { opcode, found, length, ends, unmasks, shape, operands, undoes, execution });
    }
    let operation = semantics.operations.get(usize::from(opcode)).filter(|operation| !operation.text.is_empty());
    let operation = operation.ok_or(Reason::NoMeaning(encoding.name(opcode)))?;
    let shape = instantiate(semantics, operation, |index| {
        let modifier = operation.modifiers.get(usize::from(index));
        modifier.map_or(0, |modifier| encoding.modifier(&found, *modifier))
    });
    let (shape, operands) = inlined((semantics, hardware), shape, operands);
    let mut flow = semantics.flow.iter();
    let ends = flow.any(|flow| flow.ends && encoding.named_modifier(&found, flow.modifier) == Some(flow.value));
    let unmasks = hardware.unmasks.is_some_and(|intrinsic| operation.intrinsics.contains(&intrinsic));
    let undoes = undoes(hardware, &shape, &operands);
    Ok(Instruction { opcode, found, length, ends, unmasks, shape, operands, undoes, execution: None })
}

/// Whether an instruction may have written something when it fails: one of several writes may fail, and what the machine
/// performs for an intrinsic writes before the rest of the instruction has succeeded.
fn undoes(hardware: &Hardware, shape: &Shape, operands: &[Location]) -> bool {
    let performs = |node: &Node| {
        let intrinsic = node.args[0];
        node.op == Op::Intrinsic
            && (hardware.calls.iter().any(|call| call.intrinsic == intrinsic)
                || hardware.bursts.iter().any(|burst| burst.intrinsic == intrinsic)
                || hardware.intrinsics.iter().any(|performed| performed.intrinsic == intrinsic))
    };
    let may_fail = |node: &Node| match (node.op, operands.get(usize::from(node.args[0]))) {
        // Lanes may select elements that do not exist.
        (Op::SetState, _) => node.args[1] != NONE,
        (Op::Write, Some(Location::Discarded(_))) => false,
        (Op::Write, Some(Location::Register(first, _))) => {
            let bank = hardware.banks.get(usize::from(first.bank)).filter(|bank| !bank.fixed);
            let count = |bank: &Bank| registers_of(node.ty.size(), bank.width) * (u32::from(node.args[1]) + 1);
            bank.is_none_or(|bank| first.index.saturating_add(count(bank)) > bank.count)
        }
        (Op::Write, _) => true,
        _ => false,
    };
    let writes = shape.nodes.iter().filter(|node| matches!(node.op, Op::Write | Op::SetState)).count();
    shape.nodes.iter().any(performs) || (writes > 1 || hardware.lanes > 1) && shape.nodes.iter().any(may_fail)
}

/// Puts the computations of operands from numbers and registers into a shape; the fields that they read become operands.
fn inlined(
    (semantics, hardware): (&'static Semantics, &'static Hardware),
    shape: Shape,
    mut operands: Vec<Location>,
) -> (Shape, Vec<Location>) {
    let mut firsts = Vec::new();
    let mut further = Vec::new();
    for operand in &operands {
        let Location::Reading { shape, fields } = operand else {
            firsts.push(None);
            continue;
        };
        let first = (operands.len() + further.len()) as u16;
        let computed = Computed { shape, fields: fields.len() as u16, first };
        // Then reading the fields cannot fail.
        let is_readable = |(number, field): (usize, &Location)| {
            let reads = |node: &&Node| node.op == Op::Operand && usize::from(node.args[0]) == number;
            let is_within = |width: u16| {
                let fits =
                    |node: &Node| node.args[1] == 0 && field.type_in_reading(hardware, node.ty).size() <= width.into();
                shape.nodes.iter().filter(reads).all(fits)
            };
            match field {
                Location::Number(_) => is_within(64),
                Location::Register(register, _) => {
                    let bank = hardware.banks.get(usize::from(register.bank));
                    bank.is_some_and(|bank| register.index < bank.count && is_within(bank.width))
                }
                _ => false,
            }
        };
        let fits = computed.is_value() && fields.iter().enumerate().all(is_readable);
        firsts.push(fits.then_some(first));
        if fits {
            further.extend(fields.iter().cloned());
        }
    }
    if firsts.iter().all(Option::is_none) {
        return (shape, operands);
    }
    let computed = |node: &Node| {
        let operand = usize::from(node.args[0]);
        if node.op != Op::Operand || node.args[1] != 0 {
            return None;
        }
        match operands.get(operand)? {
            Location::Reading { shape, fields } => {
                Some(Computed { shape, fields: fields.len() as u16, first: (*firsts.get(operand)?)? })
            }
            _ => None,
        }
    };
    let narrowed = |operand: u16, ty: Type| {
        let field = usize::from(operand).checked_sub(operands.len()).and_then(|at| further.get(at));
        field.map_or(ty, |field| field.type_in_reading(hardware, ty))
    };
    let shape = inline(semantics, &shape, computed, narrowed);
    operands.extend(further);
    (shape, operands)
}

impl DataPath {
    /// Which lanes execute a group with these values.
    pub fn execution(&self, semantics: &Semantics, isa: &GroupIsa, values: &Values) -> Execution {
        let holds = |fields: Fields| {
            !fields.is_empty() && fields.iter().all(|(field, set)| set.contains(&values.get(isa, 0, (*field).into())))
        };
        let before = self.before.as_ref().map(|before| {
            instantiate(semantics, before, |index| match before.modifiers.get(usize::from(index)) {
                Some(Modifier::Field(slot, field)) => values.get(isa, (*slot).into(), (*field).into()) as u64,
                Some(Modifier::Present(slot)) => values.has((*slot).into()).into(),
                _ => 0,
            })
        });
        Execution { before, mask: self.mask, everyone: holds(self.everyone), in_turn: holds(self.in_turn) }
    }
}
