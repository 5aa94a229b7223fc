//! The registers and states of a machine.

use alloc::vec;
use alloc::vec::Vec;

use super::table::{Hardware, Register};
use crate::semantics::Semantics;
use crate::semantics::evaluate::Column;

/// The registers of all banks, followed by the elements of all states.
#[derive(Debug)]
pub(super) struct Registers<const L: usize> {
    pub values: Vec<Column<L>>,
    /// The index of the first register of each bank, and the end of the last.
    starts: Vec<usize>,
    /// The same for states.
    states: Vec<usize>,
    zeros: Vec<usize>,
    /// For each bank, whether all lanes share its registers.
    uniform: Vec<bool>,
}

impl<const L: usize> Registers<L> {
    pub fn new(hardware: &Hardware, semantics: &Semantics) -> Self {
        let mut all = 0;
        let mut from = |counts: &mut dyn Iterator<Item = u32>| {
            let mut starts = vec![all];
            for count in counts {
                all += count as usize;
                starts.push(all);
            }
            starts
        };
        let starts = from(&mut hardware.banks.iter().map(|bank| bank.count));
        let states = from(&mut semantics.states.iter().map(|state| state.count));
        let uniform = hardware.banks.iter().map(|bank| bank.uniform).collect();
        let mut registers = Registers { values: vec![[0; L]; all], starts, states, zeros: Vec::new(), uniform };
        registers.zeros = hardware
            .banks
            .iter()
            .enumerate()
            .filter_map(|(bank, known)| registers.slot(Register { bank: bank as u16, index: known.zero? }))
            .collect();
        for (bank, known) in hardware.banks.iter().enumerate() {
            for (index, value) in known.holds {
                registers.set(Register { bank: bank as u16, index: *index }, &[*value; L], u64::MAX);
            }
        }
        registers
    }

    /// The number of registers and elements of states. There may be more values, those of an engine.
    pub fn count(&self) -> usize {
        self.states.last().copied().unwrap_or(0)
    }

    /// The index of a register among the values.
    pub fn slot(&self, register: Register) -> Option<usize> {
        slot(&self.starts, register.bank.into(), register.index.into())
    }

    /// The index of an element of a state among the values.
    pub fn state_slot(&self, state: u16, element: u64) -> Option<usize> {
        slot(&self.states, state.into(), element)
    }

    /// Whether writes to it are discarded.
    pub fn is_zero(&self, slot: usize) -> bool {
        self.zeros.contains(&slot)
    }

    /// The value of a register. `None` when there is no such register.
    pub fn get(&self, register: Register) -> Option<&Column<L>> {
        self.values.get(self.slot(register)?)
    }

    /// Writes the lanes of a mask. `None` when there is no such register.
    pub fn set(&mut self, register: Register, value: &Column<L>, mask: u64) -> Option<()> {
        self.set_bits(register, u64::MAX, value, mask)
    }

    /// Writes some bits in the lanes of a mask. `None` when there is no such register.
    pub fn set_bits(&mut self, register: Register, bits: u64, value: &Column<L>, mask: u64) -> Option<()> {
        let slot = self.slot(register)?;
        if self.is_zero(slot) {
            return Some(());
        }
        let uniform = self.uniform.get(usize::from(register.bank)).copied().unwrap_or(false);
        let column = self.values.get_mut(slot)?;
        // If lanes share the register, the highest one writes last.
        let last = (0..L).rev().find(|lane| mask >> lane & 1 != 0).filter(|_| uniform);
        for (lane, old) in column.iter_mut().enumerate() {
            match last {
                Some(last) => *old = *old & !bits | value[last] & bits,
                None if mask >> lane & 1 != 0 => *old = *old & !bits | value[lane] & bits,
                None => {}
            }
        }
        Some(())
    }
}

fn slot(starts: &[usize], which: usize, element: u64) -> Option<usize> {
    let (first, end) = (*starts.get(which)?, *starts.get(which + 1)?);
    let slot = first.checked_add(usize::try_from(element).ok()?)?;
    (slot < end).then_some(slot)
}

/// Wraps an address at the end of program memory.
pub(super) fn wrapped(pc: u64, hardware: &Hardware) -> u64 {
    if hardware.program == 0 { pc } else { pc % u64::from(hardware.program) }
}

/// Copies the lanes of a mask.
pub(super) fn set_lanes<const L: usize>(into: &mut Column<L>, value: &Column<L>, mask: u64) {
    for (lane, (into, value)) in into.iter_mut().zip(value).enumerate() {
        if mask >> lane & 1 != 0 {
            *into = *value;
        }
    }
}
