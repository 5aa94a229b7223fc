//! Instructions as a machine executes them: decoded, their modifiers folded, their operands found. Each is made once.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::memory::{Access, Memory, MemoryFault};
use super::table::{Hardware, Register};
use super::trap::Reason;
use crate::bits::{ones, sign_extend};
use crate::decode::{alternative_of, decode, list_len};
use crate::semantics::{self, Semantics, instantiate};
use crate::table::{Alternative, Field, Form, Isa, Operand, Shape, Type};

/// How many instructions are kept at most; then all are forgotten.
const MOST: usize = 1 << 16;

/// An instruction that can be executed.
#[derive(Debug)]
pub(super) struct Instruction {
    pub opcode: u16,
    pub word: u64,
    /// Its length in bytes.
    pub length: u64,
    pub form: &'static Form,
    pub shape: semantics::Shape,
    pub operands: Vec<Place>,
}

/// What an operand of a word stands for.
#[derive(Debug)]
pub(super) enum Place {
    /// Registers from this one on.
    Register(Register),
    /// A number.
    Number(u64),
    /// What a text computes from fields.
    Reading { shape: semantics::Shape, fields: Vec<Place> },
    /// Nothing that can be read or written.
    Nothing,
}

/// The instructions of a program that are known.
#[derive(Debug, Default)]
pub(super) struct Code {
    known: Vec<Instruction>,
    /// The same by their words.
    words: BTreeMap<u64, usize>,
}

impl Code {
    /// The instruction with this number.
    pub fn get(&self, number: usize) -> Option<&Instruction> {
        self.known.get(number)
    }

    /// The number of the instruction at an address.
    pub fn fetch(
        &mut self,
        (isa, semantics, hardware): (&'static Isa, &'static Semantics, &'static Hardware),
        memory: &mut Memory,
        pc: u64,
    ) -> Result<usize, Reason> {
        let length = u64::from(isa.word_bits / 8).max(1);
        if !pc.is_multiple_of(length) {
            return Err(Reason::Misaligned { access: Access::Fetch, address: pc, size: length });
        }
        if let Some(number) = memory.instruction(pc).filter(|number| *number < self.known.len()) {
            return Ok(number);
        }
        let word = memory.read(pc, length).map_err(|fault: MemoryFault| Reason::Memory {
            access: Access::Fetch,
            fault,
            address: pc,
            size: length,
        })?;
        if self.known.len() >= MOST {
            self.known.clear();
            self.words.clear();
            memory.forget_instructions();
        }
        let number = match self.words.get(&word) {
            Some(number) => *number,
            None => {
                let opcode = decode(isa, word).map_err(|error| Reason::Undecodable { word, error })?;
                let number = self.known.len();
                self.known.push(instruction(isa, semantics, hardware, opcode, word, length)?);
                self.words.insert(word, number);
                number
            }
        };
        memory.keep_instruction(pc, length, number);
        Ok(number)
    }
}

fn instruction(
    isa: &'static Isa,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
    opcode: u16,
    word: u64,
    length: u64,
) -> Result<Instruction, Reason> {
    let form = &isa.forms[usize::from(opcode)];
    let operation = semantics.operations.get(usize::from(opcode)).filter(|operation| !operation.text.is_empty());
    let operation = operation.ok_or(Reason::NoMeaning(form.name.str))?;
    let shape = instantiate(semantics, operation, |index| {
        match operation.modifiers.get(usize::from(index)).copied() {
            Some(semantics::Modifier::Form(m)) => form.modifiers.get(usize::from(m)).map(|m| m.bits.get(word, 0)),
            Some(semantics::Modifier::Suffix(k, j)) => {
                let suffix = form.operands.get(usize::from(k)).and_then(|o| o.suffixes.get(usize::from(j)));
                suffix.map(|suffix| suffix.bits.get(word, 0))
            }
            // Words have no fields of groups.
            _ => None,
        }
        .unwrap_or(0)
    });
    let operands = form.operands.iter().map(|operand| place(isa, semantics, hardware, operand, word)).collect();
    Ok(Instruction { opcode, word, length, form, shape, operands })
}

fn place(
    isa: &'static Isa,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
    operand: &'static Operand,
    word: u64,
) -> Place {
    match &operand.shape {
        Shape::Number { bits, ty, .. } => {
            let value = bits.get(word, 0);
            Place::Number(if *ty == Type::Signed { sign_extend(value, bits.width()) as u64 } else { value })
        }
        Shape::One { kind, at } => {
            let alternatives = isa.kinds[usize::from(*kind)].alternatives;
            let Some(found) = alternative_of(isa, alternatives, *at, word) else { return Place::Nothing };
            let number = alternatives.iter().position(|other| core::ptr::eq(other, found)).unwrap_or(0);
            let same = |reading: &&super::Reading| reading.kind == *kind && usize::from(reading.alternative) == number;
            match hardware.readings.iter().find(same) {
                Some(reading) => computed(isa, semantics, &reading.operation, found, *at, word),
                None => plain(isa, found, *at, word),
            }
        }
        Shape::List { kind, at, count, .. } => match isa.kinds[usize::from(*kind)].alternatives.first() {
            Some(alternative) if list_len(count, word) > 0 => plain(isa, alternative, *at, word),
            _ => Place::Nothing,
        },
    }
}

/// What an alternative with one field stands for.
fn plain(isa: &'static Isa, alternative: &'static Alternative, at: u8, word: u64) -> Place {
    match alternative.fields {
        [field] => field_place(isa, field, at, word),
        fields => {
            let mut registers = fields.iter().filter(|field| matches!(field.ty, Type::Register(_)));
            match (registers.next(), registers.next()) {
                (Some(field), None) => field_place(isa, field, at, word),
                _ => Place::Nothing,
            }
        }
    }
}

fn field_place(isa: &'static Isa, field: &'static Field, at: u8, word: u64) -> Place {
    let value = field.bits.get(word, at);
    match field.ty {
        Type::Register(bank) => Place::Register(Register { bank, index: value as u32 }),
        Type::Signed => Place::Number(sign_extend(value, field.bits.width()) as u64),
        Type::Constant(table) => {
            let constant = isa.constants[usize::from(table)].values.get(value as usize);
            constant.map_or(Place::Nothing, |constant| Place::Number(constant.value))
        }
        Type::Decimal | Type::Hex | Type::Flag => Place::Number(value),
        Type::Enum(_) => Place::Nothing,
    }
}

fn computed(
    isa: &'static Isa,
    semantics: &'static Semantics,
    operation: &'static semantics::Operation,
    alternative: &'static Alternative,
    at: u8,
    word: u64,
) -> Place {
    let shape = instantiate(semantics, operation, |index| match operation.modifiers.get(usize::from(index)) {
        Some(semantics::Modifier::Form(field)) => {
            alternative.fields.get(usize::from(*field)).map_or(0, |field| field.bits.get(word, at))
        }
        _ => 0,
    });
    let fields = alternative.fields.iter().map(|field| field_place(isa, field, at, word)).collect();
    Place::Reading { shape, fields }
}

/// How many registers of `width` bits a value of `bits` takes.
pub(super) fn registers_of(bits: u32, width: u16) -> u32 {
    bits.div_ceil(u32::from(width).max(1)).max(1)
}

/// A number as a value of so many bits.
pub(super) fn cut(value: u64, bits: u32) -> u64 {
    value & ones(bits)
}
