//! The view that observers have of a machine: one trait for all instruction sets.
//!
//! A [`Machine`] is a program with everything that it runs on. [`Machine::run`] runs it from its start; runs can be
//! repeated and are all alike. It notifies an [`Observer`] of every instruction of a warp. The observer sees a
//! [`View`]: the place, the lanes, registers by bank and lane, and memory. Debuggers, traces and race detectors are
//! observers; they are independent of the instruction set.

use std::fmt;
use std::ops::{ControlFlow, Range};

use isaforge_core::machine::Hardware;
use isaforge_core::semantics::{Node, Op, Semantics, State};

use crate::deadline::Deadline;
use crate::engine::Execution;
use crate::observe::Terms;

mod access;
mod number;
mod variable;
mod watched;

pub use access::{Access, AccessKind, AccessObserver, Accesses, Pattern, Strided, StridedWarp};
pub(crate) use access::{forward_accesses, parts};
pub use number::{decimal_bits, float_bits, integer_bits};
pub use variable::Variable;
pub use watched::Watched;

/// The budget of programs that people start, unless they give one. Launches of Valhall have their own.
pub const DEFAULT_BUDGET: u64 = 10_000_000_000;

/// The number of operations in all lanes between checks of the time limit.
const SLICE: u64 = 1 << 22;

/// The number of instructions to execute between checks of the time limit, even if each is the longest of the set.
pub fn slice(semantics: &Semantics, lanes: usize) -> u64 {
    let longest = semantics.operations.iter().map(|operation| operation.nodes.len()).max().unwrap_or(0);
    (SLICE / (longest.max(16) * lanes) as u64).max(1)
}

/// The highest address in the common memory that the program counter or an access to memory can hold.
pub fn last_byte(hardware: &Hardware, semantics: &Semantics) -> u64 {
    let is_own = |space: u16| hardware.spaces.iter().any(|own| own.space == space);
    let is_common = |node: &&Node| matches!(node.op, Op::Load | Op::Store | Op::Atomic) && !is_own(node.imm & 0xff);
    let addresses = semantics.operations.iter().flat_map(|operation| {
        let address = |node: &Node| operation.nodes.get(usize::from(node.args[0])).map(|address| address.ty.mask());
        operation.nodes.iter().filter(is_common).filter_map(address)
    });
    addresses.fold(hardware.last_address(semantics), u64::max)
}

/// A program as it lies in memory: its address, its bytes, and whether it can be written. Program memory has the size
/// that the specification gives; the part that the program does not fill is zero.
///
/// # Errors
/// A message and help when the program does not fit in program memory.
pub fn program_region(
    hardware: &Hardware,
    address: u64,
    bytes: Vec<u8>,
    writable: bool,
) -> Result<(u64, Vec<u8>, bool), (String, String)> {
    let size = hardware.program as usize;
    if size == 0 {
        return Ok((address, bytes, writable));
    }
    let mut whole = vec![0; size];
    let from = usize::try_from(address).unwrap_or(usize::MAX);
    let place = from.checked_add(bytes.len()).and_then(|end| whole.get_mut(from..end));
    let too_long = || ("the program is too long".to_owned(), format!("program memory has {size} bytes"));
    place.ok_or_else(too_long)?.copy_from_slice(&bytes);
    Ok((0, whole, false))
}

/// A bank of registers. Values shared by all lanes, such as uniforms, form a bank too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// A word for the registers as a whole, such as `uniforms`; empty where there is none.
    pub title: String,
    /// The text before the number of a register.
    pub open: String,
    /// The text after the number of a register.
    pub close: String,
    /// Names that replace numbered ones, by register number; empty for a register without such a name.
    pub names: Vec<String>,
    /// The number of registers.
    pub count: u32,
    /// The width of a register in bits, at most 64.
    pub width: u32,
    /// Whether the registers are shared by all lanes.
    pub uniform: bool,
    /// Whether the registers have the same values in every program; they are shown only on request.
    pub constant: bool,
}

impl Bank {
    /// Creates a bank of registers with a value for each lane, named by `open` and a number. `width` is in bits.
    pub fn new(open: &str, count: u32, width: u32) -> Self {
        Bank {
            title: String::new(),
            open: open.to_owned(),
            close: String::new(),
            names: Vec::new(),
            count,
            width,
            uniform: false,
            constant: false,
        }
    }

    /// Creates a bank for a state, named like the state, or `state[3]` for an element of several.
    pub fn of_state(state: &State) -> Self {
        let names = if state.count == 1 { vec![state.name.to_owned()] } else { Vec::new() };
        let (open, close) = (format!("{}[", state.name), "]".to_owned());
        Bank { close, names, ..Bank::new(&open, state.count, state.ty.size()) }
    }

    /// Returns the bank with a word for its registers as a whole.
    pub fn titled(self, title: &str) -> Self {
        Bank { title: title.to_owned(), ..self }
    }

    /// Returns the bank with its registers shared by all lanes.
    pub fn shared(self) -> Self {
        Bank { uniform: true, ..self }
    }

    /// Returns the name of a register.
    pub fn name(&self, index: u32) -> String {
        match self.names.get(index as usize) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("{}{index}{}", self.open, self.close),
        }
    }

    /// Returns the number of the register with this name. `None` when the bank has no such register.
    pub fn index(&self, name: &str) -> Option<u32> {
        let index = match self.names.iter().position(|known| !known.is_empty() && known == name) {
            Some(index) => index as u32,
            None => {
                let digits = name.strip_prefix(self.open.as_str())?.strip_suffix(self.close.as_str())?;
                // `parse` would also accept `+1`.
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
    /// The warp, by a number that is unique within the run.
    pub warp: u64,
    /// The instruction, in units of [`Machine::unit`].
    pub pc: u64,
    /// The lanes that have not ended, bit 0 for lane 0. After an instruction that ends them, they have.
    pub live: u64,
    /// The lanes that execute the instruction.
    pub active: u64,
}

/// What an observer sees: the warp that is at an instruction, and the memory around it.
pub trait View {
    /// The warp and its instruction.
    fn at(&self) -> At;

    /// A description of the warp, such as `workgroup (0,0,0) warp 1`.
    fn origin(&self) -> String;

    /// The thread of a lane among all threads of the run: its place in the grid, its pixel, or its number.
    fn thread(&self, lane: usize) -> [u32; 3];

    /// The group of the warp. Only threads with the same group wait for each other at barriers.
    fn group(&self) -> u64 {
        self.at().warp
    }

    /// Returns the value of a register in a lane. `None` when the register or the lane does not exist.
    fn read(&self, register: Register, lane: usize) -> Option<u64>;

    /// Fills `into` with memory as a lane sees it. Returns `None` when the bytes are not mapped.
    fn memory(&self, lane: usize, address: u64, into: &mut [u8]) -> Option<()>;

    /// Fills `into` with memory of an address space, one of [`Properties::spaces`]. Returns `None` when the bytes are
    /// not mapped.
    fn space_memory(&self, space: &str, address: u64, into: &mut [u8]) -> Option<()> {
        let _ = (space, address, into);
        None
    }

    /// Where a lane goes on, after an instruction. `None` where that is not known.
    fn place_of(&self, lane: usize) -> Option<u64> {
        let _ = lane;
        None
    }

    /// The exit status of the program, in the view after its end, if it has ended with one.
    fn exit_status(&self) -> Option<u64> {
        None
    }

    /// The memory accesses of an executed instruction, in order.
    fn accesses(&self) -> &[Access] {
        &[]
    }
}

/// Observes a run of a program. `Break` ends the run.
pub trait Observer {
    /// A warp is about to execute an instruction, which may fail. When the budget is used up, or what follows is no
    /// instruction, this is called once more, where the warp is.
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let _ = view;
        ControlFlow::Continue(())
    }

    /// A warp has executed an instruction; [`At::pc`] is still that of the instruction.
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let _ = view;
        ControlFlow::Continue(())
    }

    /// The warps of a group (see [`View::group`]) have met at a barrier and continue.
    fn barrier(&mut self, group: u64) {
        let _ = group;
    }

    /// The program has written bytes to a stream: 1 is standard output, 2 standard error.
    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// The program has ended. There are no lanes and no registers; memory is as the program leaves it.
    fn end(&mut self, view: &dyn View) {
        let _ = view;
    }
}

/// Why an observed run ended at its time limit.
pub const TIME_IS_UP: &str = "the time limit was reached";

/// An observer with a time limit.
pub struct Timed<'a> {
    observer: &'a mut dyn Observer,
    until: Deadline,
    is_late: bool,
    /// Whether the time limit or the observer has ended the run.
    stopped: bool,
}

impl fmt::Debug for Timed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed").field("until", &self.until).field("is_late", &self.is_late).finish_non_exhaustive()
    }
}

impl<'a> Timed<'a> {
    fn new(observer: &'a mut dyn Observer, until: Deadline) -> Self {
        Timed { observer, until, is_late: false, stopped: false }
    }

    fn keep(&mut self, flow: ControlFlow<()>) -> ControlFlow<()> {
        self.stopped |= flow.is_break();
        flow
    }

    /// Runs a program with an observer until a deadline.
    ///
    /// # Errors
    /// As [`Machine::run`], and [`TIME_IS_UP`] when the deadline passes before the program ends.
    pub fn run(machine: &(impl Machine + ?Sized), observer: &mut dyn Observer, until: Deadline) -> Result<(), String> {
        let mut timed = Timed::new(observer, until);
        machine.run(&mut timed)?;
        if timed.is_late { Err(TIME_IS_UP.to_owned()) } else { Ok(()) }
    }
}

impl Observer for Timed<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.is_late = self.until.passed().is_some();
        let flow = if self.is_late { ControlFlow::Break(()) } else { self.observer.before(view) };
        self.keep(flow)
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let flow = self.observer.after(view);
        self.keep(flow)
    }

    fn barrier(&mut self, group: u64) {
        self.observer.barrier(group);
    }

    fn output(&mut self, stream: u64, bytes: &[u8]) {
        self.observer.output(stream, bytes);
    }

    fn end(&mut self, view: &dyn View) {
        self.observer.end(view);
    }
}

/// The view after a program has ended: only memory, which the function reads as [`View::memory`] does.
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

/// The properties that all runs of a machine share.
#[derive(Clone, Debug)]
pub struct Properties {
    /// The machine's terminology.
    pub terms: Terms,
    /// The number of lanes of a warp, at most 64.
    pub lanes: usize,
    /// The banks of registers.
    pub banks: Vec<Bank>,
    /// The address spaces with a memory of their own.
    pub spaces: Vec<&'static str>,
    /// The addresses of workgroup memory, if they are apart from those of other memory.
    pub group_memory: Option<Range<u64>>,
    /// The number of bytes of code per step of a [`pc`](At::pc): 1 if a `pc` is an address.
    pub unit: u64,
    /// The `pc` of the first byte of the program's code.
    pub base: u64,
    /// The program's code, in memory order.
    pub code: Vec<u8>,
    /// The ranges of memory from which instructions are fetched, where a [`pc`](At::pc) is an address. Empty if code is
    /// apart from memory, so that no program can write it.
    pub fetches: Vec<Range<u64>>,
}

/// A program with everything that it runs on.
pub trait Machine {
    /// The properties that all its runs share.
    fn properties(&self) -> &Properties;

    /// Runs the program from its start with an observer. All runs are alike.
    ///
    /// # Errors
    /// When the run fails before the program ends. It is not an error if the observer ends the run.
    fn run(&self, observer: &mut dyn Observer) -> Result<(), String>;

    /// Runs the program from its start while an observer sees every access to memory: by `execution`, if that can be
    /// observed so, or else by the reference. Accesses of different warps may come in another order than in
    /// [`Machine::run`].
    ///
    /// # Errors
    /// When the run fails before the program ends, or the deadline passes.
    fn run_accesses(
        &self,
        observer: &mut dyn AccessObserver,
        _execution: Execution,
        until: Deadline,
    ) -> Result<(), String> {
        forward_accesses(self, observer, until)
    }

    /// The machine's terminology.
    fn terms(&self) -> Terms {
        self.properties().terms
    }

    /// The number of lanes of a warp, at most 64.
    fn lanes(&self) -> usize {
        self.properties().lanes
    }

    /// The banks of registers.
    fn banks(&self) -> &[Bank] {
        &self.properties().banks
    }

    /// The address spaces with a memory of their own.
    fn spaces(&self) -> &[&'static str] {
        &self.properties().spaces
    }

    /// The addresses of workgroup memory, if they are apart from those of other memory.
    fn group_memory(&self) -> Option<&Range<u64>> {
        self.properties().group_memory.as_ref()
    }

    /// The number of bytes of code per step of a [`pc`](At::pc): 1 if a `pc` is an address.
    fn unit(&self) -> u64 {
        self.properties().unit
    }

    /// The `pc` of the first byte of the program's code.
    fn base(&self) -> u64 {
        self.properties().base
    }

    /// The program's code, in memory order.
    fn code(&self) -> &[u8] {
        &self.properties().code
    }

    /// The ranges of memory from which instructions are fetched; empty if code is apart from memory.
    fn fetches(&self) -> &[Range<u64>] {
        &self.properties().fetches
    }
}
