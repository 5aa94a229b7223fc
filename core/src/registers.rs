//! Which registers an instruction reads and writes.

use crate::decode::{alternative_of, list_len};
use crate::table::{Access, Isa, Shape, Type};

/// A run of registers of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterUse {
    /// Index into [`Isa::banks`].
    pub bank: u16,
    /// The first register.
    pub first: u16,
    /// How many; a value wider than a register takes several.
    pub count: u16,
    /// The operand, an index into the form's operands.
    pub operand: u8,
}

/// The registers that a valid word reads (`write` false) or writes (`write` true), operand by operand. Banks that hold
/// uniforms count as registers too.
///
/// # Examples
///
/// ```
/// use isaforge_core::{decode::decode, registers::registers};
/// use isaforge_vpu::ISA;
///
/// // MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx
/// let word = 0x2a00004000800000;
/// let read: Vec<u16> = registers(ISA, decode(ISA, word)?, word, false).map(|register| register.first).collect();
/// assert_eq!(read, [2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn registers(isa: &'static Isa, opcode: u16, word: u64, write: bool) -> impl Iterator<Item = RegisterUse> {
    uses(isa, opcode, word, move |access| match access {
        Access::None => false,
        Access::Read => !write,
        Access::Write => write,
        Access::ReadWrite => true,
    })
}

/// The registers that a valid word reads or writes, each operand once.
pub fn named(isa: &'static Isa, opcode: u16, word: u64) -> impl Iterator<Item = RegisterUse> {
    uses(isa, opcode, word, |access| access != Access::None)
}

fn uses(
    isa: &'static Isa,
    opcode: u16,
    word: u64,
    wanted: impl Fn(Access) -> bool,
) -> impl Iterator<Item = RegisterUse> {
    let form = &isa.forms[opcode as usize];
    form.operands.iter().enumerate().filter_map(move |(index, operand)| {
        if !wanted(operand.access) {
            return None;
        }
        let (alternative, at, count) = match &operand.shape {
            Shape::One { kind, at } => {
                (alternative_of(isa, isa.kinds[*kind as usize].alternatives, *at, word)?, *at, None)
            }
            Shape::List { kind, at, count, .. } => {
                (isa.kinds[*kind as usize].alternatives.first()?, *at, Some(list_len(count, word) as u16))
            }
            Shape::Number { .. } => return None,
        };
        let (bank, first) = alternative.fields.iter().find_map(|f| match f.ty {
            Type::Register(bank) => Some((bank, f.bits.get(word, at) as u16)),
            _ => None,
        })?;
        let width = isa.banks[bank as usize].width.max(1);
        let count = count.unwrap_or(operand.size.div_ceil(width).max(1));
        (count > 0).then_some(RegisterUse { bank, first, count, operand: index as u8 })
    })
}

/// A list of consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterList {
    /// The first; 0 when the list is empty.
    pub first: u16,
    /// How many.
    pub count: u16,
}

impl RegisterList {
    /// `count` registers from `first`.
    pub const fn new(first: u16, count: u16) -> Self {
        RegisterList { first, count }
    }

    /// The numbers of the registers.
    pub fn iter(self) -> core::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}
