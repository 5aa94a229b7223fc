//! What the operands of an instruction refer to: registers and parts of them, numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::table::{Hardware, Register};
use crate::bits::ones;
use crate::semantics::{Shape, Type};

/// What an operand refers to.
#[derive(Clone, Debug)]
pub enum Location {
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
        shape: Shape,
        /// What the fields refer to.
        fields: Vec<Location>,
    },
    /// Accepts writes and discards them. Reads are those of the other location.
    Discarded(Box<Location>),
    /// Cannot be read or written.
    Nothing,
}

impl Location {
    /// The type with which a reading reads this field: a register has no more bits than its bank, however wide `ty` is.
    pub fn type_in_reading(&self, hardware: &Hardware, ty: Type) -> Type {
        let Location::Register(register, 0) = self else { return ty };
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

/// The number of registers of `width` bits that a value of `bits` bits takes.
pub(super) fn registers_of(bits: u32, width: u16) -> u32 {
    bits.div_ceil(u32::from(width).max(1)).max(1)
}

/// Truncates a number to a width in bits.
pub(super) fn cut(value: u64, bits: u32) -> u64 {
    value & ones(bits)
}
