//! A machine as those see it who look on: one trait for all instruction sets.
//!
//! A [`Machine`] is a program with all that it runs on. [`Machine::run`] runs it from its start, as often as somebody
//! wants and each time alike, and tells an [`Observer`] of every instruction of a warp. The observer sees a [`View`]:
//! the place, the lanes, registers by bank and lane, memory. A debugger, a trace and a detector of races are observers,
//! and know no instruction set.

use std::ops::ControlFlow;

use crate::observe::Terms;

/// A bank of registers. What all lanes share, such as uniforms, is a bank, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// What is written before the number of a register …
    pub open: String,
    /// … and behind it.
    pub close: String,
    /// Names in the place of numbers, by number; empty where there is none.
    pub names: Vec<String>,
    /// How many registers there are.
    pub count: u32,
    /// Bits in a register, at most 64.
    pub width: u32,
    /// Whether all lanes share the registers.
    pub uniform: bool,
    /// Whether the registers are the same in every program, so that they are shown to who asks for them alone.
    pub constant: bool,
}

impl Bank {
    /// Registers with a value for each lane, called by a letter and a number: how many, and their width in bits.
    pub fn new(open: &str, count: u32, width: u32) -> Self {
        Bank {
            open: open.to_owned(),
            close: String::new(),
            names: Vec::new(),
            count,
            width,
            uniform: false,
            constant: false,
        }
    }

    /// The same; all lanes share the registers.
    pub fn shared(self) -> Self {
        Bank { uniform: true, ..self }
    }

    /// The name of a register.
    pub fn name(&self, index: u32) -> String {
        match self.names.get(index as usize) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("{}{index}{}", self.open, self.close),
        }
    }

    /// The number of the register with this name. Returns `None` if it is in another bank.
    pub fn index(&self, name: &str) -> Option<u32> {
        let index = match self.names.iter().position(|known| !known.is_empty() && known == name) {
            Some(index) => index as u32,
            None => {
                let digits = name.strip_prefix(self.open.as_str())?.strip_suffix(self.close.as_str())?;
                // `r+1` would be read as a number, too.
                if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                digits.parse().ok()?
            }
        };
        (index < self.count).then_some(index)
    }
}

/// A register: its bank, as an index into [`Machine::banks`], and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// The bank.
    pub bank: u16,
    /// The number.
    pub index: u32,
}

/// A warp at an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Which warp: a number that no other one has in the same run.
    pub warp: u64,
    /// The instruction, in the unit in which [`Machine::unit`] counts.
    pub pc: u64,
    /// The lanes that have not ended, bit 0 for lane 0.
    pub live: u64,
    /// The lanes that execute the instruction.
    pub active: u64,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The lane.
    pub lane: u8,
    /// Bytes; of what one instruction does in several parts, each part. An atomic of no bytes takes or gives back a lock.
    pub size: u8,
    /// The first byte.
    pub address: u64,
    /// Loads, stores, or both at once.
    pub kind: AccessKind,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Does both so that nobody comes between.
    Atomic,
}

/// What an observer sees of the warp that is at an instruction, and of the memory around it.
pub trait View {
    /// Where it is.
    fn at(&self) -> At;

    /// The warp in words, such as `workgroup (0,0,0) warp 1`.
    fn origin(&self) -> String;

    /// Where the thread of a lane is among all of the run: its place in the grid, its pixel, its number.
    fn thread(&self, lane: usize) -> [u32; 3];

    /// Threads that can wait for each other at barriers have the same number.
    fn group(&self) -> u64 {
        self.at().warp
    }

    /// What a register holds in a lane. Returns `None` if there is no such register or lane.
    fn read(&self, register: Register, lane: usize) -> Option<u64>;

    /// Fills `into` with memory as a lane sees it. Returns `None` where nothing is mapped.
    fn memory(&self, lane: usize, address: u64, into: &mut [u8]) -> Option<()>;

    /// The accesses to memory of an instruction that has been executed, in order.
    fn accesses(&self) -> &[Access] {
        &[]
    }
}

/// Looks on while a program runs. `Break` ends the run.
pub trait Observer {
    /// A warp is about to execute an instruction.
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let _ = view;
        ControlFlow::Continue(())
    }

    /// A warp has executed an instruction; [`At::pc`] is still that of the instruction.
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let _ = view;
        ControlFlow::Continue(())
    }

    /// The warps of a group (see [`View::group`]) have met at a barrier and go on.
    fn barrier(&mut self, group: u64) {
        let _ = group;
    }

    /// The program has written bytes to a stream: 1 is standard output, 2 standard error.
    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// All has ended. There are no lanes and no registers; memory is as the program leaves it.
    fn end(&mut self, view: &dyn View) {
        let _ = view;
    }
}

/// What is left when a program has ended: memory, which the function reads as [`View::memory`] does.
pub(crate) struct Ended<F>(pub F);

impl<F: Fn(u64, &mut [u8]) -> Option<()>> View for Ended<F> {
    fn at(&self) -> At {
        At::default()
    }

    fn origin(&self) -> String {
        String::new()
    }

    fn thread(&self, _: usize) -> [u32; 3] {
        [0; 3]
    }

    fn read(&self, _: Register, _: usize) -> Option<u64> {
        None
    }

    fn memory(&self, _: usize, address: u64, into: &mut [u8]) -> Option<()> {
        self.0(address, into)
    }
}

/// What is the same in all runs of a machine.
#[derive(Clone, Debug)]
pub struct Properties {
    /// The machine's words.
    pub terms: Terms,
    /// Lanes of a warp, at most 64.
    pub lanes: usize,
    /// The banks of registers.
    pub banks: Vec<Bank>,
    /// How many bytes of the program's code one step of a [`pc`](At::pc) is: 1 where places are addresses.
    pub unit: u64,
    /// The place of the first byte of the program's code.
    pub base: u64,
    /// The program's code, in the order of memory.
    pub code: Vec<u8>,
}

/// A program with all that it runs on.
pub trait Machine {
    /// What is the same in all its runs.
    fn properties(&self) -> &Properties;

    /// Runs the program from its start while somebody looks on. Each run is like the first.
    ///
    /// # Errors
    /// Why it ended before its end, unless the observer ended it.
    fn run(&self, observer: &mut dyn Observer) -> Result<(), String>;

    /// The machine's words.
    fn terms(&self) -> Terms {
        self.properties().terms
    }

    /// Lanes of a warp, at most 64.
    fn lanes(&self) -> usize {
        self.properties().lanes
    }

    /// The banks of registers.
    fn banks(&self) -> &[Bank] {
        &self.properties().banks
    }

    /// How many bytes of the program's code one step of a [`pc`](At::pc) is: 1 where places are addresses.
    fn unit(&self) -> u64 {
        self.properties().unit
    }

    /// The place of the first byte of the program's code.
    fn base(&self) -> u64 {
        self.properties().base
    }

    /// The program's code, in the order of memory.
    fn code(&self) -> &[u8] {
        &self.properties().code
    }
}
