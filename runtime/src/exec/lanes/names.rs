//! What an instruction names: registers, numbers, and its place. Handlers and machine code bind it to different rows.

use isaforge_core::machine::{Bank, Hardware, Location, Machine, Register, part_of};
use isaforge_core::semantics::Special;

/// The operands of an instruction at an address.
#[derive(Clone, Copy)]
pub(super) struct Names<'a, const L: usize> {
    pub machine: &'a Machine<L>,
    pub operands: &'a [Location],
    /// The address, and the one of the next instruction.
    pub place: [u64; 2],
}

/// Where an element of an operand is.
pub(super) struct Element {
    register: Register,
    /// The column of the register, and its width in bits, at most 64.
    pub column: usize,
    pub width: u32,
    /// The first bit, if it is a part of the register.
    pub part: Option<u32>,
}

impl<const L: usize> Names<'_, L> {
    pub fn hardware(&self) -> &'static Hardware {
        self.machine.hardware()
    }

    fn bank(&self, register: Register) -> Option<&'static Bank> {
        self.hardware().banks.get(usize::from(register.bank))
    }

    /// Returns the number that an operand is.
    pub fn number(&self, operand: u16, element: u16) -> Option<u64> {
        match self.operands.get(usize::from(operand))? {
            Location::Number(number) if element == 0 => Some(*number),
            _ => None,
        }
    }

    /// Whether writes to an operand are discarded.
    pub fn is_discarded(&self, operand: u16) -> bool {
        matches!(self.operands.get(usize::from(operand)), Some(Location::Discarded(_)))
    }

    /// Returns where an element of an operand is, of as many bits as `size`, or as its register. `None` unless it is in a
    /// single register.
    pub fn element(&self, operand: u16, element: u16, size: Option<u32>) -> Option<Element> {
        let Location::Register(first, width) = self.operands.get(usize::from(operand))? else { return None };
        let bank = self.bank(*first)?;
        let size = size.unwrap_or(bank.width.into());
        if let Some((register, bit)) = part_of(*first, *width, bank.width, element, size) {
            return Some(Element { part: Some(bit), ..self.register(register)? });
        }
        let element = if bank.stays { 0 } else { u32::from(element) };
        let register = self.register(Register { index: first.index.checked_add(element)?, ..*first })?;
        (size <= register.width).then_some(register)
    }

    /// Returns where a register is.
    pub fn register(&self, register: Register) -> Option<Element> {
        let (column, width) = (self.machine.slot(register)?, self.bank(register)?.width.into());
        (1..=64).contains(&width).then_some(Element { register, column, width, part: None })
    }

    /// Whether programs may write an element, each lane its own.
    pub fn is_writable(&self, element: &Element) -> bool {
        self.bank(element.register).is_some_and(|bank| !bank.fixed && !bank.uniform)
    }

    /// Returns the register that a state stands for.
    pub fn aliased(&self, state: u16) -> Option<Register> {
        self.hardware().aliases.iter().find(|(alias, _)| *alias == state).map(|(_, register)| *register)
    }

    /// Returns the program counter, or that of the next instruction. `None` for other properties.
    pub fn program_counter(&self, special: Special) -> Option<u64> {
        let [pc, next] = self.place.map(|address| address / u64::from(self.hardware().unit.max(1)));
        match special {
            Special::Pc => Some(pc),
            Special::Next => Some(next),
            Special::Lane | Special::Active => None,
        }
    }
}
