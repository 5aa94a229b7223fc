//! The state of a machine: registers, states, memories and the program counter.
//!
//! - `run`: the execution loop

mod run;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::code::{Code, Instruction};
use super::encoding::{Encoding, Found};
use super::environment::{Flow, Running};
use super::host::Touched;
use super::location::cut;
use super::memory::{MapError, Memory};
use super::registers::{Registers, set_lanes};
use super::table::{Hardware, Register};
use super::trap::Reason;
use crate::bits::ones;
use crate::semantics::Semantics;
use crate::semantics::evaluate::{Column, Scratch, evaluate};
use crate::semantics::instantiate;

/// A machine of `L` lanes; scalar if `L` is 1.
///
/// # Examples
///
/// ```
/// use isaforge_core::machine::Machine;
/// use isaforge_vpu::ISA;
/// use isaforge_vpu::semantics::{HARDWARE, SEMANTICS};
///
/// // MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx
/// let program = 0x2a00004000800000_u64.to_le_bytes();
/// let mut machine = Machine::<4>::new(ISA, SEMANTICS, HARDWARE);
/// machine.boot(&program)?;
/// let (a, b) = (machine.register("r2").unwrap(), machine.register("r4").unwrap());
/// for lane in 0..4 {
///     machine.write(a, lane, 0x8000 * lane as u64);
///     machine.write(b, lane, 6);
/// }
/// machine.step(&mut ())?;
/// assert_eq!((machine.executed(), machine.pc()), (1, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Machine<const L: usize = 1> {
    /// The main memory: the program memory, if there is one, and all address spaces without a memory of their own.
    pub memory: Memory,
    /// The address spaces with a memory of their own, in the order of [`Hardware::spaces`].
    pub spaces: Vec<Memory>,
    /// Addresses before which execution stops.
    pub breakpoints: BTreeSet<u64>,
    encoding: Encoding,
    semantics: &'static Semantics,
    hardware: &'static Hardware,
    registers: Registers<L>,
    pc: Column<L>,
    /// The lanes that have not ended.
    live: u64,
    /// The lanes that wait at a barrier.
    waiting: u64,
    /// The lanes that are inactive until an instruction unmasks them.
    masked: u64,
    executed: u64,
    code: Code,
    scratch: Scratch<L>,
    inner: Scratch<L>,
    touched: Vec<Touched<L>>,
}

/// The contents of a machine.
#[derive(Debug)]
pub struct Parts<'a, const L: usize> {
    /// Registers and elements of states, each zero-extended from its width: as many as [`Machine::columns`]. An engine
    /// may append columns of its own.
    pub values: &'a mut Vec<Column<L>>,
    /// The memory.
    pub memory: &'a mut Memory,
}

impl<const L: usize> Machine<L> {
    /// A machine with empty memory, whose registers and program counter are zero. All `L` lanes are live, or as many as
    /// the hardware has if it has fewer.
    ///
    /// All tables must come from the same specification.
    pub fn new(encoding: impl Into<Encoding>, semantics: &'static Semantics, hardware: &'static Hardware) -> Self {
        const { assert!(L >= 1 && L <= 64, "a machine has 1 to 64 lanes") };
        Machine {
            memory: Memory::default(),
            spaces: vec![Memory::default(); hardware.spaces.len()],
            breakpoints: BTreeSet::new(),
            encoding: encoding.into(),
            semantics,
            hardware,
            registers: Registers::new(hardware, semantics),
            pc: [0; L],
            live: ones((L as u32).min(hardware.lanes.into())),
            waiting: 0,
            masked: 0,
            executed: 0,
            code: Code::default(),
            scratch: Scratch::default(),
            inner: Scratch::default(),
            touched: Vec::new(),
        }
    }

    /// Loads a program, read-only, at address 0, or into the program memory, whose remainder is zeroed. Then
    /// [prepares](Machine::prepare) the machine.
    ///
    /// # Errors
    /// When something is already mapped there, or the program does not fit in program memory.
    pub fn boot(&mut self, program: &[u8]) -> Result<(), MapError> {
        let mut bytes = program.to_vec();
        let own = self.hardware.program;
        if own > 0 {
            if bytes.len() as u64 > own.into() {
                return Err(MapError::TooHigh);
            }
            bytes.resize(own as usize, 0);
        }
        self.memory.map(0, bytes, false)?;
        self.prepare();
        Ok(())
    }

    /// Maps zeroed memory for the address spaces that have a memory of their own but no mapping yet, then runs the
    /// specification's start operation.
    pub fn prepare(&mut self) {
        for (memory, known) in self.spaces.iter_mut().zip(self.hardware.spaces) {
            // The host has already mapped memories that it wants to be different. In an empty memory, mapping at 0
            // cannot fail.
            if memory.is_empty() {
                let _ = memory.map(0, vec![0; known.size as usize], true);
            }
        }
        let Some(operation) = &self.hardware.start else { return };
        let shape = instantiate(self.semantics, operation, |_| 0);
        let found = Found::Word(0, 0);
        let (length, ends, unmasks, operands, undoes, execution) = (0, false, false, Vec::new(), false, None);
        let instruction = Instruction { opcode: 0, found, length, ends, unmasks, shape, operands, undoes, execution };
        let mut running = Running {
            tables: (self.encoding, self.semantics, self.hardware),
            instruction: &instruction,
            registers: &mut self.registers,
            memory: &mut self.memory,
            spaces: &mut self.spaces,
            host: &mut (),
            inner: &mut self.inner,
            active: self.live,
            executing: self.live,
            live: self.live,
            pc: 0,
            inside: false,
            flow: Flow { next: 0, targets: None, branched: 0, ended: 0, waits: 0, exit: None },
            touched: None,
        };
        // Start operations only write states, so this cannot fail.
        let _ = evaluate(self.semantics, &instruction.shape, &mut self.scratch, &mut running);
    }

    /// The memory of an address space, by name. `None` when it has no memory of its own.
    pub fn space(&mut self, name: &str) -> Option<&mut Memory> {
        let space = self.semantics.spaces.iter().position(|known| *known == name)?;
        let at = self.hardware.spaces.iter().position(|known| usize::from(known.space) == space)?;
        self.spaces.get_mut(at)
    }

    /// The specification's description of the machine.
    pub fn hardware(&self) -> &'static Hardware {
        self.hardware
    }

    /// The semantics of instructions.
    pub fn semantics(&self) -> &'static Semantics {
        self.semantics
    }

    /// The encoding of instructions.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The number of instructions executed. An instruction that several lanes execute together counts once.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// The lanes that have not ended; bit 0 is lane 0.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// The lanes that are inactive until an instruction unmasks them.
    pub fn masked(&self) -> u64 {
        self.masked
    }

    /// The lanes that wait at a barrier.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Sets which lanes have not ended, and which of these are masked.
    pub fn set_lanes(&mut self, live: u64, masked: u64) {
        self.live = live & ones((L as u32).min(self.hardware.lanes.into()));
        self.masked = masked & self.live;
    }

    /// The address of the next instruction of a lane. `None` when there is no such lane.
    pub fn pc_of(&self, lane: usize) -> Option<u64> {
        self.pc.get(lane).copied()
    }

    /// The address of the next instruction.
    pub fn pc(&self) -> u64 {
        self.turn().map_or(self.pc[0], |(pc, _)| pc)
    }

    /// Makes all lanes continue at an address.
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = [pc; L];
    }

    /// Finds a register by name, such as `x10`.
    pub fn register(&self, name: &str) -> Option<Register> {
        self.hardware.register(name)
    }

    /// The value of a register in a lane. `None` when there is no such register or lane.
    pub fn read(&self, register: Register, lane: usize) -> Option<u64> {
        self.registers.get(register)?.get(lane).copied()
    }

    /// The value of a state in a lane. `None` when there is no such state, element or lane.
    pub fn read_state(&self, name: &str, element: u64, lane: usize) -> Option<u64> {
        if let Some(of) = self.flags_of(name) {
            let flags = self.registers.values.get(self.registers.state_slot(of, 0)?)?;
            let bits = (0..L).fold(0, |bits, lane| bits | (flags[lane] & 1) << lane);
            return (lane < L).then_some(bits & self.live);
        }
        self.registers.values.get(self.state_of(name, element)?)?.get(lane).copied()
    }

    /// The per-lane state whose bits make up a state, if the state is such a mask.
    fn flags_of(&self, name: &str) -> Option<u16> {
        let known = |state: u16| self.semantics.states.get(usize::from(state)).is_some_and(|state| state.name == name);
        self.hardware.bits.iter().find(|(bits, _)| known(*bits)).map(|(_, of)| *of)
    }

    /// Writes a state of a lane, or of all lanes if they share it; a mask of flags of all lanes, whichever lane writes
    /// it. `None`, without writing, if there is no such state, element or lane.
    pub fn write_state(&mut self, name: &str, element: u64, lane: usize, value: u64) -> Option<()> {
        let (number, state) = self.semantics.states.iter().enumerate().find(|(_, state)| state.name == name)?;
        if let Some(of) = self.flags_of(name).filter(|_| lane < L) {
            let slot = self.registers.state_slot(of, 0)?;
            let flags = self.registers.values.get_mut(slot)?;
            *flags = core::array::from_fn(|lane| value >> lane & 1);
            return Some(());
        }
        (lane < L).then_some(())?;
        let value = [cut(value, state.ty.size()); L];
        if let Some((_, register)) = self.hardware.aliases.iter().find(|(alias, _)| usize::from(*alias) == number) {
            return self.registers.set(*register, &value, 1 << lane);
        }
        let mask = if self.hardware.uniform.contains(&(number as u16)) { u64::MAX } else { 1 << lane };
        let slot = self.registers.state_slot(number as u16, element)?;
        set_lanes(self.registers.values.get_mut(slot)?, &value, mask);
        Some(())
    }

    fn state_of(&self, name: &str, element: u64) -> Option<usize> {
        let state = self.semantics.states.iter().position(|state| state.name == name)?;
        if let Some((_, register)) = self.hardware.aliases.iter().find(|(alias, _)| usize::from(*alias) == state) {
            return self.registers.slot(*register);
        }
        self.registers.state_slot(state as u16, element)
    }

    /// Writes a register of a lane, or of all lanes if they share it. `None`, without writing, if there is no such
    /// register or lane.
    pub fn write(&mut self, register: Register, lane: usize, value: u64) -> Option<()> {
        let width = u32::from(self.hardware.banks.get(usize::from(register.bank))?.width);
        (lane < L).then_some(())?;
        self.registers.set(register, &[cut(value, width); L], 1 << lane)
    }

    /// The text of the instruction at an address, if there is one.
    pub fn text(&self, pc: u64) -> Option<String> {
        let (found, _) = self.encoding.decode(self.memory.bytes_at(pc, self.encoding.longest())?).ok()?;
        Some(self.encoding.text(&found).as_str().into())
    }

    /// The instruction at an address, in executable form. From now on, stores to its bytes count as
    /// changes of its [version](Memory::code_version).
    ///
    /// # Errors
    /// The reason of the trap that executing it would cause.
    pub fn instruction(&mut self, pc: u64) -> Result<&Instruction, Reason> {
        let number = self.fetch(pc)?;
        // `fetch` returns only numbers of existing instructions.
        self.code.get(number).ok_or(Reason::NoMeaning(""))
    }

    /// Whether the instruction at an address was fetched since its bytes last changed, to be executed or by
    /// [`instruction`](Machine::instruction).
    pub fn has_fetched(&self, pc: u64) -> bool {
        self.code.has_fetched(&self.memory, pc)
    }

    fn fetch(&mut self, pc: u64) -> Result<usize, Reason> {
        self.code.fetch((self.encoding, self.semantics, self.hardware), &mut self.memory, pc)
    }

    /// The number of columns that hold registers and states.
    pub fn columns(&self) -> usize {
        self.registers.count()
    }

    /// The contents of the machine, for an engine that executes in its place.
    pub fn parts(&mut self) -> Parts<'_, L> {
        Parts { values: &mut self.registers.values, memory: &mut self.memory }
    }

    /// The index of a register in [`Parts::values`]. `None` when there is no such register.
    pub fn slot(&self, register: Register) -> Option<usize> {
        self.registers.slot(register)
    }

    /// The index of an element of a state in [`Parts::values`]. `None` when there is no such element.
    pub fn state_slot(&self, state: u16, element: u64) -> Option<usize> {
        self.registers.state_slot(state, element)
    }

    /// Whether the register in a slot is always zero. An engine must not write it.
    pub fn is_zero(&self, slot: usize) -> bool {
        self.registers.is_zero(slot)
    }

    /// Adds the number of instructions that an engine has executed, and continues all lanes at an address.
    pub fn advance(&mut self, executed: u64, pc: u64) {
        self.advance_lanes(executed, pc, u64::MAX);
    }

    /// Adds the number of instructions that an engine has executed in some lanes, and continues these at an address.
    pub fn advance_lanes(&mut self, executed: u64, pc: u64, lanes: u64) {
        self.executed += executed;
        set_lanes(&mut self.pc, &[pc; L], lanes);
    }
}
