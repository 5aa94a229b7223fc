//! Allocates host registers: slots that a region uses often have a register throughout, values of a block have one
//! while they are live.

use iced_x86::Register;
use rustc_hash::FxHashMap;

use super::context::{SPILL, SPILLS};
use super::masm::{Masm, Source, at};
use crate::exec::ir::{Graph, Op, Value};

/// Points to the context.
pub const CONTEXT: Register = Register::RDI;
/// Points to the register file, if some slots have no home.
pub const SLOTS: Register = Register::RSI;
/// The remaining budget of instructions.
pub const LEFT: Register = Register::R15;
/// Registers for values.
pub const TEMPS: [Register; 4] = [Register::RAX, Register::RCX, Register::RDX, Register::R8];
/// Registers for slots and for the starts of windows.
pub const HOMES: [Register; 9] = [
    Register::RBX,
    Register::RBP,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    SLOTS,
];

/// What can have a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guest {
    /// A slot of the register file.
    Slot(u32),
    /// The start of a window.
    Window(u32),
}

/// The homes of a region.
#[derive(Debug, Default)]
pub struct Homes {
    of: FxHashMap<Guest, Register>,
    /// Whether [`SLOTS`] points to the register file.
    pub file: bool,
}

impl Homes {
    /// Gives homes to the most used slots and windows. `uses` says how often each is used.
    pub fn new(uses: &FxHashMap<Guest, u64>) -> Homes {
        let mut wanted: Vec<(u64, Guest)> = uses.iter().map(|(guest, uses)| (*uses, *guest)).collect();
        wanted.sort_by_key(|(uses, guest)| (std::cmp::Reverse(*uses), *guest));
        let fits = wanted.len() <= HOMES.len();
        let registers = if fits { &HOMES[..] } else { &HOMES[..HOMES.len() - 1] };
        let of = wanted.iter().map(|(_, guest)| *guest).zip(registers.iter().copied()).collect();
        Homes { of, file: !fits }
    }

    /// The home of a slot or a window.
    pub fn get(&self, guest: Guest) -> Option<Register> {
        self.of.get(&guest).copied()
    }

    /// Iterates over all homes.
    pub fn iter(&self) -> impl Iterator<Item = (Guest, Register)> {
        let mut all: Vec<(Guest, Register)> = self.of.iter().map(|(guest, home)| (*guest, *home)).collect();
        all.sort();
        all.into_iter()
    }
}

/// The offset of a slot in the register file.
pub fn place(slot: u32) -> i32 {
    (slot * 8) as i32
}

/// The locations of a block's values.
#[derive(Debug)]
pub struct Values<'a> {
    graph: &'a Graph,
    homes: &'a Homes,
    /// The value in each host register, by its number.
    contents: [Option<Value>; 16],
    /// The number of remaining uses.
    uses: Vec<u32>,
    spilled: [Option<Value>; SPILLS],
    /// Values whose last use is in the current step: they may be read until it ends.
    dying: Vec<Value>,
    /// Slots whose content at the start of the block was overwritten in the register file.
    written: Vec<u32>,
    /// Whether values ran out of locations.
    pub failed: bool,
}

impl<'a> Values<'a> {
    /// The locations at the start of a block: slots with homes are in them.
    pub fn new(graph: &'a Graph, homes: &'a Homes, uses: Vec<u32>) -> Self {
        let (contents, spilled) = ([None; 16], [None; SPILLS]);
        let mut values =
            Values { graph, homes, contents, uses, spilled, dying: vec![], written: vec![], failed: false };
        for at in 0..graph.len() as u32 {
            if let Op::Slot(slot) = graph.node(Value(at)).op
                && let Some(home) = homes.get(Guest::Slot(slot))
            {
                values.contents[home.number()] = Some(Value(at));
            }
        }
        values
    }

    /// The values of the block.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// The homes of the region.
    pub fn homes(&self) -> &'a Homes {
        self.homes
    }

    /// Whether a value is used again.
    pub fn live(&self, value: Value) -> bool {
        self.uses[value.0 as usize] > 0
    }

    /// Counts a use of a value.
    pub fn used(&mut self, value: Value) {
        let uses = &mut self.uses[value.0 as usize];
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            self.dying.push(value);
        }
    }

    /// Begins a step: values that the previous step used for the last time are no longer read.
    pub fn begin_step(&mut self) {
        self.dying.clear();
    }

    /// Returns the register that holds a value.
    pub fn register(&self, value: Value) -> Option<Register> {
        let number = self.contents.iter().position(|content| *content == Some(value))?;
        Some(Register::RAX + number as u32)
    }

    /// Whether copying a value takes 64 bits.
    pub fn wide(&self, value: Value) -> bool {
        self.graph.bits(value) > 32
    }

    /// Returns the location of a value in memory.
    fn memory(&self, value: Value) -> Option<(Register, i32)> {
        if let Some(at) = self.spilled.iter().position(|spilled| *spilled == Some(value)) {
            return Some((CONTEXT, SPILL + 8 * at as i32));
        }
        match self.graph.node(value).op {
            Op::Slot(slot) if self.homes.get(Guest::Slot(slot)).is_none() && !self.written.contains(&slot) => {
                Some((SLOTS, place(slot)))
            }
            _ => None,
        }
    }

    /// Returns a value as an operand: a register, a sign-extended 32-bit immediate of an operation of this width, or
    /// memory.
    pub fn source(&self, value: Value, wide: bool) -> Option<Source> {
        if let Some(number) = self.graph.number(value) {
            let number = if wide { i32::try_from(number as i64).ok()? } else { number as u32 as i32 };
            return Some(Source::Number(number));
        }
        if let Some(register) = self.register(value) {
            return Some(Source::Register(register));
        }
        self.memory(value).map(|(base, displacement)| Source::Memory(base, displacement))
    }

    /// Whether the content of a register may be dropped: it is not used again, or it is also elsewhere.
    fn idle(&self, register: Register) -> bool {
        let Some(value) = self.contents[register.number()] else { return true };
        let copies = self.contents.iter().filter(|content| **content == Some(value)).count();
        !self.live(value) || copies > 1 || self.memory(value).is_some()
    }

    /// Whether a value may be computed directly into the home of a slot.
    pub fn is_free(&self, home: Register) -> bool {
        self.idle(home)
    }

    /// Returns a register for a value, other than those in `but`.
    pub fn temp(&mut self, masm: &mut Masm, but: &[Register]) -> Register {
        let free = TEMPS.into_iter().filter(|temp| !but.contains(temp)).find(|temp| self.idle(*temp));
        if let Some(free) = free {
            self.contents[free.number()] = None;
            return free;
        }
        match TEMPS.into_iter().rev().find(|temp| !but.contains(temp)) {
            Some(temp) => {
                self.spill(masm, temp);
                temp
            }
            None => {
                self.failed = true;
                TEMPS[0]
            }
        }
    }

    fn spill(&mut self, masm: &mut Masm, register: Register) {
        let Some(value) = self.contents[register.number()].take() else { return };
        let free = (0..SPILLS)
            .find(|at| self.spilled[*at].is_none_or(|value| !self.live(value) && !self.dying.contains(&value)));
        match free {
            Some(free) => {
                self.spilled[free] = Some(value);
                masm.store(8, at(CONTEXT, SPILL + 8 * free as i32), register);
            }
            None => self.failed = true,
        }
    }

    /// Frees a register, and moves a live value in it elsewhere.
    pub fn vacate(&mut self, masm: &mut Masm, register: Register, but: &[Register]) {
        if self.idle(register) {
            self.contents[register.number()] = None;
            return;
        }
        let value = self.contents[register.number()];
        let mut not: Vec<Register> = but.to_vec();
        not.push(register);
        let free = TEMPS.into_iter().filter(|temp| !not.contains(temp)).find(|temp| self.idle(*temp));
        match free {
            Some(free) => {
                masm.mov(true, free, register);
                self.contents[free.number()] = value;
                self.contents[register.number()] = None;
            }
            None => self.spill(masm, register),
        }
    }

    /// Records that a register holds no value.
    pub fn take(&mut self, register: Register) {
        self.contents[register.number()] = None;
    }

    /// Records that a register holds a value.
    pub fn put(&mut self, register: Register, value: Value) {
        self.contents[register.number()] = Some(value);
    }

    /// Copies a value into a register without recording it there. The flags do not change.
    pub fn copy(&mut self, masm: &mut Masm, value: Value, to: Register) {
        if let Some(number) = self.graph.number(value) {
            masm.number(to, number);
        } else if let Some(from) = self.register(value) {
            if from != to {
                masm.mov(self.wide(value), to, from);
            }
        } else if let Some((base, displacement)) = self.memory(value) {
            masm.load(8, to, at(base, displacement));
        } else {
            self.failed = true;
        }
    }

    /// Returns the register of a value. If there is none, loads the value into one that is not in `but`.
    pub fn in_register(&mut self, masm: &mut Masm, value: Value, but: &[Register]) -> Register {
        if let Some(register) = self.register(value) {
            return register;
        }
        let to = self.temp(masm, but);
        self.copy(masm, value, to);
        self.put(to, value);
        to
    }

    /// Writes a value to a slot.
    pub fn write(&mut self, masm: &mut Masm, slot: u32, value: Value) {
        if let Some(home) = self.homes.get(Guest::Slot(slot)) {
            if self.contents[home.number()] != Some(value) {
                let but: Vec<Register> = self.register(value).into_iter().collect();
                self.vacate(masm, home, &but);
                self.copy(masm, value, home);
                self.put(home, value);
            }
        } else if self.memory(value) != Some((SLOTS, place(slot))) {
            // Saves the old content of the slot in a register if it is used again.
            let old = (0..self.graph.len() as u32).map(Value).find(|old| self.graph.node(*old).op == Op::Slot(slot));
            let old = old.filter(|old| self.live(*old) && self.memory(*old) == Some((SLOTS, place(slot))));
            if let Some(old) = old {
                let but: Vec<Register> = self.register(value).into_iter().collect();
                self.in_register(masm, old, &but);
            }
            match self.source(value, true) {
                Some(Source::Number(number)) => masm.store_number(8, at(SLOTS, place(slot)), number),
                _ => {
                    let from = self.in_register(masm, value, &[]);
                    masm.store(8, at(SLOTS, place(slot)), from);
                }
            }
            self.written.push(slot);
        }
        self.used(value);
    }
}

#[cfg(test)]
mod tests;
