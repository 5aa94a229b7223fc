//! Instructions in executable form: decoded, with modifiers folded and operands resolved. Each is prepared once.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::encoding::{Encoding, Found};
use super::memory::{Access, Memory, MemoryFault, unique};
use super::table::{Hardware, Register};
use super::trap::Reason;
use crate::bits::ones;
use crate::group::program::is_last;
use crate::group::table::GroupIsa;
use crate::group::value::Values;
use crate::semantics::compose::Missing;
use crate::semantics::group::{DataPath, Fields};
use crate::semantics::{self, Modifier, Semantics, Type, compose, instantiate};
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
    pub shape: semantics::Shape,
    /// Its operands, in the numbering of the shape.
    pub operands: Vec<Place>,
    /// How its lanes are chosen. `None` for words and instructions of streams, which the active lanes execute.
    pub execution: Option<Execution>,
}

/// Which lanes execute a group, and how.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The operation before the group, in all lanes.
    pub before: Option<semantics::Shape>,
    /// The state that then determines which lanes execute it; `None` when all do.
    pub mask: Option<u16>,
    /// Whether it is evaluated in all lanes regardless.
    pub everyone: bool,
    /// Whether the lanes execute it one at a time.
    pub in_turn: bool,
}

/// What an operand refers to.
#[derive(Clone, Debug)]
pub enum Place {
    /// Registers from this one, and the width of the operand in bits: a narrower value is a part of it. With a width of
    /// 0, element 0 replaces the whole register however narrow it is.
    Register(Register, u16),
    /// A list of this many registers. Elements beyond its end read zero, and writes to them are ignored.
    List(Register, u32),
    /// Registers from this one, offset by the value of the second register if there is one, and by the state that the
    /// bank adds.
    Indexed(Register, Option<Register>),
    /// A number.
    Number(u64),
    /// A value that a text computes from fields.
    Reading {
        /// The computation: the fields are its operands, and it writes the result to the operand after them.
        shape: semantics::Shape,
        /// What the fields refer to.
        fields: Vec<Place>,
    },
    /// Accepts writes and discards them. Reads are those of the other place.
    Discarded(Box<Place>),
    /// Cannot be read or written.
    Nothing,
}

impl Place {
    /// The type with which a reading reads this field: a register has no more bits than its bank, however wide `ty` is.
    pub fn type_in_reading(&self, hardware: &Hardware, ty: Type) -> Type {
        let Place::Register(register, 0) = self else { return ty };
        let width = hardware.banks.get(usize::from(register.bank)).map(|bank| bank.width.clamp(1, 64));
        width.filter(|width| u32::from(*width) < ty.size()).map_or(ty, |width| Type::unsigned(width as u8))
    }
}

/// Finds the part of a register that an element of an operand occupies, if the element is narrower than a register: the
/// register and the bit where the part starts. `width` is the width of a register in bits.
pub fn part_of(first: Register, operand: u16, width: u16, element: u16, size: u32) -> Option<(Register, u32)> {
    let width = u32::from(width);
    if size == 0 || size >= width || element == 0 && size >= operand.into() {
        return None;
    }
    let bit = u32::from(element) * size;
    match width % size {
        0 => Some((Register { index: first.index.checked_add(bit / width)?, ..first }, bit % width)),
        _ => (bit + size <= width).then_some((first, bit)),
    }
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
    let operands = encoding.places((semantics, hardware), &found);
    let opcode = found.opcode();
    if let (Encoding::Groups(isa), Found::Group(group)) = (encoding, &found) {
        let values = group.values(isa);
        let shape = compose(semantics, isa, &values).map_err(|missing| {
            let slot = if let Missing::Slot(slot) = missing { isa.slots.get(usize::from(slot)) } else { None };
            Reason::NoMeaning(slot.map_or("the group", |slot| slot.name))
        })?;
        let execution = semantics.path.as_ref().map(|path| path.execution(semantics, isa, &values));
        let ends = is_last(isa, group);
        return Ok(Instruction { opcode, found, length, ends, unmasks: false, shape, operands, execution });
    }
    let operation = semantics.operations.get(usize::from(opcode)).filter(|operation| !operation.text.is_empty());
    let operation = operation.ok_or(Reason::NoMeaning(encoding.name(opcode)))?;
    let shape = instantiate(semantics, operation, |index| {
        let modifier = operation.modifiers.get(usize::from(index));
        modifier.map_or(0, |modifier| encoding.modifier(&found, *modifier))
    });
    let mut flow = semantics.flow.iter();
    let ends = flow.any(|flow| flow.ends && encoding.named_modifier(&found, flow.modifier) == Some(flow.value));
    let unmasks = hardware.unmasks.is_some_and(|intrinsic| operation.intrinsics.contains(&intrinsic));
    Ok(Instruction { opcode, found, length, ends, unmasks, shape, operands, execution: None })
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

/// The number of registers of `width` bits that a value of `bits` bits takes.
pub(super) fn registers_of(bits: u32, width: u16) -> u32 {
    bits.div_ceil(u32::from(width).max(1)).max(1)
}

/// Truncates a number to a width in bits.
pub(super) fn cut(value: u64, bits: u32) -> u64 {
    value & ones(bits)
}
