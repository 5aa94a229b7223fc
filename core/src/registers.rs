//! The registers that instructions read and write.

use core::fmt;

use crate::bits::Bits;
use crate::table::{Access, Form, Isa, Shape, Type};

/// The spelling of a register: a prefix, the number unless the register has a name of its own, and a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterName {
    /// Text before the number, or the whole name.
    pub open: &'static str,
    /// The number, unless the register has a name of its own.
    pub number: Option<u64>,
    /// Text after the number.
    pub close: &'static str,
}

impl RegisterName {
    /// The spelling of register `number` in a bank: its entry in `names`, or else the number between `open` and
    /// `close`.
    pub(crate) fn of(number: u64, names: &[&'static str], open: &'static str, close: &'static str) -> RegisterName {
        match usize::try_from(number).ok().and_then(|number| names.get(number)) {
            Some(name) if !name.is_empty() => RegisterName { open: name, number: None, close: "" },
            _ => RegisterName { open, number: Some(number), close },
        }
    }
}

impl fmt::Display for RegisterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.open)?;
        if let Some(number) = self.number {
            write!(f, "{number}")?;
        }
        f.write_str(self.close)
    }
}

/// A run of registers of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterUse {
    /// Index into [`Isa::banks`].
    pub bank: u16,
    /// The first register.
    pub first: u16,
    /// The number of registers; a value wider than one register takes several.
    pub count: u16,
    /// The operand: index into the form's operands.
    pub operand: u8,
}

/// The field of a word that names a register, and the condition under which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterField {
    /// Bits that tell whether the operand is a register of this bank …
    pub mask: u64,
    /// … and their value if it is.
    pub value: u64,
    /// The field with the number of the first register …
    pub first: &'static Bits,
    /// … in the operand that starts at this bit.
    pub base: u8,
    /// The field with the number of registers beyond `plus`; `None` when there are always `plus`.
    pub count: Option<&'static Bits>,
    /// The minimum number of registers.
    pub plus: u16,
    /// Index into [`Isa::banks`].
    pub bank: u16,
    /// The operand: index into the form's operands.
    pub operand: u8,
}

impl RegisterField {
    /// The registers that a valid word names here. `None` when it names no register of this bank.
    #[inline]
    pub fn of(&self, word: u64) -> Option<RegisterUse> {
        if word & self.mask != self.value {
            return None;
        }
        let count = self.plus.saturating_add(self.count.map_or(0, |bits| bits.get(word, 0) as u16));
        let first = self.first.get(word, self.base) as u16;
        (count > 0).then_some(RegisterUse { bank: self.bank, first, count, operand: self.operand })
    }

    /// Merges two fields that differ in the value of a single condition bit. `None` when they differ in anything else.
    fn joined(self, other: &RegisterField) -> Option<RegisterField> {
        let apart = self.value ^ other.value;
        let is_one = apart.is_power_of_two() && self == RegisterField { value: self.value, ..*other };
        is_one.then_some(RegisterField { mask: self.mask & !apart, value: self.value & !apart, ..self })
    }
}

/// The registers that a valid word reads (`write` false) or writes (`write` true), by operand. Banks of uniforms count
/// as registers too.
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
    let possible = move |mask, value| word & mask == value;
    let fields = fields_of(isa, &isa.forms[usize::from(opcode)], move |access| is_accessed(access, write), possible);
    fields.filter_map(move |field| field.of(word))
}

/// The registers that a valid word reads or writes. Each operand is listed once.
pub fn named(isa: &'static Isa, opcode: u16, word: u64) -> impl Iterator<Item = RegisterUse> {
    let possible = move |mask, value| word & mask == value;
    let fields = fields_of(isa, &isa.forms[usize::from(opcode)], |access| access != Access::None, possible);
    fields.filter_map(move |field| field.of(word))
}

/// The registers that these fields of a valid word name.
#[inline]
pub fn at(fields: &'static [RegisterField], word: u64) -> impl Iterator<Item = RegisterUse> {
    fields.iter().filter_map(move |field| field.of(word))
}

/// The fields in which words of a form name the registers that they read (`write` false) or write (`write` true), by
/// operand. Generated crates store them as tables, as can any caller that needs the registers of many words.
pub fn fields(isa: &'static Isa, form: &'static Form, write: bool) -> impl Iterator<Item = RegisterField> {
    let mut fields = fields_of(isa, form, move |access| is_accessed(access, write), |_, _| true).peekable();
    core::iter::from_fn(move || {
        let mut field = fields.next()?;
        // A register is the same whether or not this is its last read, so alternatives that differ only in this are
        // merged.
        while let Some(joined) = fields.peek().and_then(|next| field.joined(next)) {
            field = joined;
            fields.next();
        }
        Some(field)
    })
}

fn is_accessed(access: Access, write: bool) -> bool {
    match access {
        Access::None => false,
        Access::Read => !write,
        Access::Write => write,
        Access::ReadWrite => true,
    }
}

/// The fields of the operands whose access is wanted, restricted to alternatives whose mask and value are `possible`.
fn fields_of(
    isa: &'static Isa,
    form: &'static Form,
    wanted: impl Fn(Access) -> bool,
    possible: impl Fn(u64, u64) -> bool + Copy,
) -> impl Iterator<Item = RegisterField> {
    let operands = form.operands.iter().enumerate().filter(move |(_, operand)| wanted(operand.access));
    operands.flat_map(move |(index, operand)| {
        let (alternatives, base, list) = match &operand.shape {
            Shape::One { kind, at } => (isa.kinds[usize::from(*kind)].alternatives, *at, None),
            Shape::List { kind, at, count, .. } => (isa.kinds[usize::from(*kind)].alternatives, *at, Some(count)),
            Shape::Number { .. } => (&[][..], 0, None),
        };
        alternatives.iter().filter_map(move |alternative| {
            let (mut mask, mut value) = (alternative.mask << base, alternative.value << base);
            if !possible(mask, value) {
                return None;
            }
            let (bank, first) = alternative.fields.iter().find_map(|field| match field.ty {
                Type::Register(bank) => Some((bank, &field.bits)),
                _ => None,
            })?;
            for (shared, wanted) in alternative.when {
                let bits = isa.shared[usize::from(*shared)].bits;
                mask |= bits.mask(0);
                value = bits.set(value, 0, *wanted);
            }
            let width = isa.banks[usize::from(bank)].width.max(1);
            let (count, plus) = match list {
                Some(count) => (count.bits.as_ref(), count.plus.into()),
                None => (None, operand.size.div_ceil(width).max(1)),
            };
            Some(RegisterField { mask, value, first, base, count, plus, bank, operand: index as u8 })
        })
    })
}

/// A list of consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterList {
    /// The first register; 0 if the list is empty.
    pub first: u16,
    /// The number of registers.
    pub count: u16,
}

impl RegisterList {
    /// `count` registers from `first`.
    pub const fn new(first: u16, count: u16) -> Self {
        RegisterList { first, count }
    }

    /// The register numbers.
    pub fn iter(self) -> core::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}
