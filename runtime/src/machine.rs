//! The view that observers have of a machine: one trait for all instruction sets.
//!
//! A [`Machine`] is a program with everything that it runs on. [`Machine::run`] runs it from its start; runs can be
//! repeated and are all alike. It notifies an [`Observer`] of every instruction of a warp. The observer sees a
//! [`View`]: the place, the lanes, registers by bank and lane, and memory. Debuggers, traces and race detectors are
//! observers; they are independent of the instruction set.

use std::fmt;
use std::ops::ControlFlow;

use isaforge_core::semantics::State;

use crate::deadline::Deadline;
use crate::engine::Execution;
use crate::observe::Terms;

/// A bank of registers. Values shared by all lanes, such as uniforms, form a bank too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
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
    /// The size in bytes. If an instruction makes several accesses, the size of this one. An atomic of 0 bytes acquires
    /// or releases a lock.
    pub size: u8,
    /// The address of the first byte.
    pub address: u64,
    /// Whether it loads, stores, or does both at once.
    pub kind: AccessKind,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A load and a store with no other access between them.
    Atomic,
}

/// The accesses of one kind and size that the lanes of a warp make with an instruction.
#[derive(Clone, Copy)]
pub struct Accesses<'a> {
    /// The warp, as in [`At::warp`].
    pub warp: u64,
    /// Its group, as in [`View::group`].
    pub group: u64,
    /// The instruction, as in [`At::pc`].
    pub pc: u64,
    /// Whether they load, store, or do both at once.
    pub kind: AccessKind,
    /// The size of each in bytes, as in [`Access::size`].
    pub size: u8,
    /// The lanes that make an access, bit 0 for lane 0.
    pub lanes: u64,
    /// The address of the first byte that each lane accesses. Those of other lanes are unspecified.
    pub addresses: &'a [u64],
    /// Returns the thread of a lane, as [`View::thread`] does.
    pub thread: &'a dyn Fn(usize) -> [u32; 3],
}

impl fmt::Debug for Accesses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Accesses { warp, group, pc, kind, size, lanes, addresses, .. } = self;
        f.debug_struct("Accesses")
            .field("warp", warp)
            .field("group", group)
            .field("pc", pc)
            .field("kind", kind)
            .field("size", size)
            .field("lanes", lanes)
            .field("addresses", addresses)
            .finish_non_exhaustive()
    }
}

/// Accesses of several warps at regular distances, repeated a number of times.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// The accesses of each repetition, in order.
    pub patterns: &'a [Pattern],
    /// The warps.
    pub warps: &'a [StridedWarp],
    /// The number of repetitions.
    pub times: u32,
    /// Returns the thread of a lane, given the index of its warp in `warps`.
    pub thread: &'a dyn Fn(usize, usize) -> [u32; 3],
}

/// The accesses that an instruction makes at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The instruction, as in [`At::pc`].
    pub pc: u64,
    /// Whether they load, store, or do both at once.
    pub kind: AccessKind,
    /// The size of each in bytes.
    pub size: u8,
    /// The address of lane 0 of column 0 in the first repetition.
    pub start: u64,
    /// The bytes from one lane of a warp to the next.
    pub lane: u32,
    /// The bytes from one column to the next.
    pub column: u32,
    /// The bytes from one repetition to the next.
    pub stride: u32,
}

/// A warp that makes accesses at regular distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StridedWarp {
    /// Its column.
    pub column: u8,
    /// The lanes that make accesses, bit 0 for lane 0.
    pub lanes: u16,
    /// The warp, as in [`At::warp`].
    pub warp: u64,
    /// Its group, as in [`View::group`].
    pub group: u64,
}

impl fmt::Debug for Strided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Strided { patterns, warps, times, .. } = self;
        let mut debug = f.debug_struct("Strided");
        debug.field("patterns", patterns).field("warps", warps).field("times", times).finish_non_exhaustive()
    }
}

impl StridedWarp {
    /// The number of lanes.
    pub const LANES: usize = u16::BITS as usize;
}

impl Pattern {
    /// Returns the address of lane 0 of a column in a repetition.
    pub fn address(&self, column: u8, repetition: u32) -> u64 {
        let distance = u64::from(self.column) * u64::from(column) + u64::from(self.stride) * u64::from(repetition);
        self.start.wrapping_add(distance)
    }
}

impl Strided<'_> {
    /// Passes the accesses to a function warp by warp.
    pub fn each(&self, mut then: impl FnMut(&Accesses<'_>)) {
        for repetition in 0..self.times {
            for pattern in self.patterns {
                for (index, &StridedWarp { column, lanes, warp, group }) in self.warps.iter().enumerate() {
                    let start = pattern.address(column, repetition);
                    let lane = u64::from(pattern.lane);
                    let addresses: [u64; StridedWarp::LANES] =
                        std::array::from_fn(|at| start.wrapping_add(lane * at as u64));
                    let &Pattern { pc, kind, size, .. } = pattern;
                    let (lanes, addresses, thread) = (lanes.into(), &addresses, &|lane| (self.thread)(index, lane));
                    then(&Accesses { warp, group, pc, kind, size, lanes, addresses, thread });
                }
            }
        }
    }
}

/// Observes the memory accesses of a run, and the barriers between them.
pub trait AccessObserver {
    /// Lanes of a warp access memory.
    fn accesses(&mut self, accesses: &Accesses<'_>);

    /// Warps access memory at regular distances.
    fn strided(&mut self, strided: &Strided<'_>) {
        strided.each(|accesses| self.accesses(accesses));
    }

    /// The warps of a group (see [`View::group`]) have met at a barrier and continue.
    fn barrier(&mut self, group: u64);
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

    /// The memory accesses of an executed instruction, in order.
    fn accesses(&self) -> &[Access] {
        &[]
    }
}

/// Observes a run of a program. `Break` ends the run.
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
}

impl fmt::Debug for Timed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed").field("until", &self.until).field("is_late", &self.is_late).finish_non_exhaustive()
    }
}

impl Timed<'_> {
    /// Runs a program with an observer until a deadline.
    ///
    /// # Errors
    /// As [`Machine::run`], and [`TIME_IS_UP`] when the deadline passes before the program ends.
    pub fn run(machine: &(impl Machine + ?Sized), observer: &mut dyn Observer, until: Deadline) -> Result<(), String> {
        let mut timed = Timed { observer, until, is_late: false };
        machine.run(&mut timed)?;
        if timed.is_late { Err(TIME_IS_UP.to_owned()) } else { Ok(()) }
    }
}

impl Observer for Timed<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.is_late = self.until.passed().is_some();
        if self.is_late { ControlFlow::Break(()) } else { self.observer.before(view) }
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.observer.after(view)
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

/// Splits the accesses of an instruction into parts of one kind and size, with at most one access of each lane: its
/// lanes as bits, and the address for each of them.
pub(crate) fn parts(accesses: &[Access]) -> impl Iterator<Item = (AccessKind, u8, u64, [u64; 64])> {
    let together = |one: &Access, next: &Access| (one.kind, one.size) == (next.kind, next.size) && one.lane < next.lane;
    accesses.chunk_by(together).map(|part| {
        let (mut lanes, mut addresses) = (0, [0; 64]);
        for access in part {
            let lane = usize::from(access.lane) % 64;
            (lanes, addresses[lane]) = (lanes | 1 << lane, access.address);
        }
        (part[0].kind, part[0].size, lanes, addresses)
    })
}

/// Forwards the accesses and barriers of an observed run.
struct Forward<'a> {
    observer: &'a mut dyn AccessObserver,
    /// The number of lanes of a warp.
    lanes: usize,
}

/// Runs a program as [`Machine::run`] does, and forwards its accesses to memory.
pub(crate) fn forward_accesses(
    machine: &(impl Machine + ?Sized),
    observer: &mut dyn AccessObserver,
    until: Deadline,
) -> Result<(), String> {
    let mut forward = Forward { observer, lanes: machine.lanes().min(64) };
    Timed::run(machine, &mut forward, until)
}

impl Observer for Forward<'_> {
    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        let (At { warp, pc, .. }, group) = (view.at(), view.group());
        for (kind, size, lanes, addresses) in parts(view.accesses()) {
            let (addresses, thread) = (&addresses[..self.lanes], &|lane| view.thread(lane));
            self.observer.accesses(&Accesses { warp, group, pc, kind, size, lanes, addresses, thread });
        }
        ControlFlow::Continue(())
    }

    fn barrier(&mut self, group: u64) {
        self.observer.barrier(group);
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
    /// The number of bytes of code per step of a [`pc`](At::pc): 1 if a `pc` is an address.
    pub unit: u64,
    /// The `pc` of the first byte of the program's code.
    pub base: u64,
    /// The program's code, in memory order.
    pub code: Vec<u8>,
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
}
