//! Runs a program from stop to stop.
//!
//! - `runner`: observes a run, and ends it where the program has to go back
//! - `calls`: the calls that each warp is in

mod calls;
mod runner;

use std::collections::HashMap;
use std::fmt;
use std::iter::successors;

use isaforge_runtime::machine::{Machine, Register, View};

use calls::Calls;
use runner::{Goal, Next, Runner};

use crate::code::Found;
use crate::condition::Condition;
use crate::listing::Listing;
use crate::memory::Address;
use crate::names::Names;
use crate::value::Format;

/// Why the program has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has not started yet.
    Start,
    /// It has executed the requested number of instructions.
    Step,
    /// Breakpoints or watchpoints: at least one, changes first.
    Hits(Vec<Hit>),
    /// A pause was requested.
    Pause,
    /// It has ended; there are no registers any more.
    End,
    /// The next instruction cannot be executed.
    Failure(String),
    /// The request cannot be carried out; the program has not moved.
    Refused(String),
}

/// A breakpoint or a watchpoint that a program has stopped for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// The breakpoint with this number has been reached.
    Breakpoint(usize),
    /// The watchpoint with this number has seen a change, as described.
    Watchpoint(usize, String),
}

impl Hit {
    /// The number of the breakpoint or watchpoint.
    pub fn number(&self) -> usize {
        let (Hit::Breakpoint(number) | Hit::Watchpoint(number, _)) = self;
        *number
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hit::Breakpoint(number) => write!(f, "breakpoint {number}"),
            Hit::Watchpoint(number, how) => write!(f, "watchpoint {number}: {how}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Start => f.write_str("start"),
            Reason::Step => f.write_str("step"),
            Reason::Hits(hits) => hits.iter().enumerate().try_for_each(|(index, hit)| {
                f.write_str(if index == 0 { "" } else { "\n" })?;
                hit.fmt(f)
            }),
            Reason::Pause => f.write_str("pause"),
            Reason::End => f.write_str("the program has ended"),
            Reason::Failure(text) => write!(f, "the program failed: {text}"),
            Reason::Refused(text) => f.write_str(text),
        }
    }
}

/// A program that is stopped before an instruction or at its end.
pub struct Stop<'v> {
    /// The reason.
    pub reason: Reason,
    /// The state of the machine.
    pub view: &'v dyn View,
    /// The number of instructions executed; one that a whole warp executes counts once.
    pub count: u64,
    /// Whether it has ended.
    pub ended: bool,
    /// The number of calls that the warp is in, as far as they have been seen; of its lanes, the first active one
    /// counts.
    pub depth: u64,
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("reason", &self.reason).field("count", &self.count).finish_non_exhaustive()
    }
}

/// How to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Execute this many instructions of this warp. After its last one, those of the warp that executes next count.
    Step(u64),
    /// Execute one instruction of this warp, including everything it calls.
    Over,
    /// Continue until the function that this warp is in returns; if no call of it has been seen, execute one
    /// instruction.
    Out,
    /// After a pause: go on as before it.
    Unchanged,
    /// Go back by this many instructions of this warp, or as steps have led here: from the last instruction of a warp to
    /// one of another.
    Back(u64),
    /// Continue to the next breakpoint or watchpoint, or to the end.
    Continue,
    /// Go back to the previous breakpoint or watchpoint, or to the start.
    Reverse,
    /// Continue until a warp reaches this place.
    To(u64),
    /// Go back to the start.
    Restart,
    /// End the session.
    Quit,
}

/// A front end, which is asked what to do at each stop.
pub trait FrontEnd {
    /// Called when the program has stopped. Returns how to resume.
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume;

    /// Called when the program writes bytes to a stream. Output that is repeated after going back is not reported
    /// again.
    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// Whether a running program should pause. If it `goes_back`, which runs it again from its start, a pause leaves it
    /// on the way.
    fn wants_pause(&mut self, goes_back: bool) -> bool {
        let _ = goes_back;
        false
    }
}

/// A breakpoint: a place, a condition, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakpoint {
    /// Its number, from 1, in a sequence shared with watchpoints.
    pub number: usize,
    /// The place; `None` for any.
    pub pc: Option<u64>,
    /// The condition.
    pub condition: Option<Condition>,
}

impl Breakpoint {
    /// Whether to stop a warp that is about to execute an instruction.
    fn holds(&self, view: &dyn View) -> bool {
        self.pc.is_none_or(|pc| pc == view.at().pc)
            && self.condition.as_ref().is_none_or(|condition| condition.holds(view))
    }
}

/// A watchpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watchpoint {
    /// Its number.
    pub number: usize,
    /// What is watched.
    pub what: Watched,
}

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A register, in one lane or in all.
    Register(Register, Option<usize>),
    /// A range of memory: address, and size in bytes, at most [`Watched::MAX_BYTES`].
    Memory(Address, usize),
}

impl Watched {
    /// The maximum number of bytes in a watchpoint.
    pub const MAX_BYTES: usize = 64;
}

/// A debug session of a machine.
pub struct Session<'m> {
    /// The machine.
    pub machine: &'m dyn Machine,
    /// Its program.
    pub listing: Listing,
    /// The breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// The watchpoints.
    pub watchpoints: Vec<Watchpoint>,
    /// The default format of values.
    pub format: Format,
    numbers: usize,
    /// The registers of a warp at its previous stop.
    before: Option<(u64, Values)>,
    /// The registers of the stopped warp.
    now: Option<(u64, Values)>,
    /// The most instructions that have been executed. Their output has been reported.
    farthest: u64,
    /// The counts at which steps have led from the last instruction of a warp to another warp, with the count and the
    /// warp that they came from.
    crossings: HashMap<u64, (u64, u64)>,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("breakpoints", &self.breakpoints).finish_non_exhaustive()
    }
}

/// Values of all registers, by bank, then by number and lane. Registers that lanes share have one value.
type Values = Vec<Vec<u64>>;

impl<'m> Session<'m> {
    /// A session without breakpoints.
    pub fn new(machine: &'m dyn Machine, listing: Listing) -> Self {
        Session {
            machine,
            listing,
            breakpoints: Vec::new(),
            watchpoints: Vec::new(),
            format: Format::Hex,
            numbers: 0,
            before: None,
            now: None,
            farthest: 0,
            crossings: HashMap::new(),
        }
    }

    /// Runs the program. The front end is asked at the start and at every stop, until it quits.
    ///
    /// # Errors
    /// Why the program cannot start.
    pub fn run(&mut self, front_end: &mut dyn FrontEnd) -> Result<(), String> {
        let mut goal = Goal::Count(0, Reason::Start, 0);
        loop {
            let machine = self.machine;
            let mut runner = Runner {
                session: self,
                front_end,
                goal,
                count: 0,
                current: None,
                previous: HashMap::new(),
                ended: None,
                calls: Calls::default(),
                old: Vec::new(),
                text: String::new(),
                pending: Vec::new(),
                next: None,
            };
            let ended = machine.run(&mut runner);
            let (next, count) = (runner.next.take(), runner.count);
            if ended.is_err() {
                // The instruction that failed may have written something.
                self.farthest = self.farthest.max(count);
            }
            goal = match (next, ended) {
                (Some(Next::Quit), _) => return Ok(()),
                (Some(Next::Replay(goal)), _) => goal,
                // A run that has reached its end is ended only by the front end.
                (None, Ok(())) => return Ok(()),
                (None, Err(reason)) => match count.checked_sub(1) {
                    Some(last) => Goal::Count(last, Reason::Failure(reason), 0),
                    None => return Err(reason),
                },
            };
        }
    }

    /// Adds a breakpoint. Returns its number.
    pub fn stop_at(&mut self, pc: Option<u64>, condition: Option<Condition>) -> usize {
        self.numbers += 1;
        self.breakpoints.push(Breakpoint { number: self.numbers, pc, condition });
        self.numbers
    }

    /// Adds a watchpoint. Returns its number.
    pub fn watch(&mut self, what: Watched) -> usize {
        self.numbers += 1;
        self.watchpoints.push(Watchpoint { number: self.numbers, what });
        self.numbers
    }

    /// The breakpoints that a warp is at.
    pub fn stops_at(&self, view: &dyn View) -> Vec<Hit> {
        let held = self.breakpoints.iter().filter(|breakpoint| breakpoint.holds(view));
        held.map(|breakpoint| Hit::Breakpoint(breakpoint.number)).collect()
    }

    /// Removes a breakpoint or watchpoint. Returns whether one with this number existed.
    pub fn remove(&mut self, number: usize) -> bool {
        let before = self.breakpoints.len() + self.watchpoints.len();
        self.breakpoints.retain(|breakpoint| breakpoint.number != number);
        self.watchpoints.retain(|watchpoint| watchpoint.number != number);
        self.breakpoints.len() + self.watchpoints.len() < before
    }

    /// What conditions and commands may name.
    pub fn names(&self) -> Names<'_> {
        let (banks, spaces) = (self.machine.banks(), self.machine.spaces());
        Names { banks, states: &self.listing.states, lanes: self.machine.lanes(), spaces }
    }

    /// The instructions around a place, at most `most` on each side. Those before one that is not listed are not known.
    pub fn around(&self, view: &dyn View, pc: u64, most: usize) -> Vec<Found<'_>> {
        let listing = &self.listing;
        if listing.at(pc).is_none()
            && let Some(first) = listing.find(view, pc)
        {
            return successors(Some(first), |line| listing.find(view, line.next)).take(most + 1).collect();
        }
        let lines = &listing.lines;
        let middle = lines.partition_point(|line| line.pc < pc).min(lines.len().saturating_sub(1));
        let near = &lines[middle.saturating_sub(most)..middle.saturating_add(most + 1).min(lines.len())];
        near.iter().map(|line| listing.find(view, line.pc).unwrap_or(Found::Listed(line))).collect()
    }

    /// The text of the instruction that a warp executes at a place; empty if there is none.
    pub fn text(&self, view: &dyn View, pc: u64) -> String {
        self.listing.find(view, pc).map_or(String::new(), |line| line.text.clone())
    }

    /// The name of a register.
    pub fn name(&self, register: Register) -> String {
        let bank = self.machine.banks().get(usize::from(register.bank));
        bank.map_or_else(|| "?".to_owned(), |bank| bank.name(register.index))
    }

    /// Whether the value of a register in a lane differs from that at the warp's previous stop.
    pub fn has_changed(&self, register: Register, lane: usize) -> bool {
        let (Some((warp, now)), Some((other, before))) = (&self.now, &self.before) else { return false };
        let Some(bank) = self.machine.banks().get(usize::from(register.bank)) else { return false };
        let at =
            if bank.uniform { register.index as usize } else { register.index as usize * self.machine.lanes() + lane };
        let value = |values: &Values| values.get(usize::from(register.bank)).and_then(|bank| bank.get(at).copied());
        warp == other && value(now) != value(before)
    }

    /// Notes the registers at a stop. Returns those that were known of the stop before the previous one.
    fn remember(&mut self, view: &dyn View) -> Option<(u64, Values)> {
        let lanes = self.machine.lanes();
        let bank = |(bank, known): (usize, &isaforge_runtime::machine::Bank)| {
            let lanes = if known.uniform { 1 } else { lanes };
            let register = |index| Register { bank: bank as u16, index };
            let all = (0..known.count).flat_map(|index| (0..lanes).map(move |lane| (register(index), lane)));
            all.map(|(register, lane)| view.read(register, lane).unwrap_or(0)).collect()
        };
        let values = self.machine.banks().iter().enumerate().map(bank).collect();
        let previous = self.now.replace((view.at().warp, values));
        std::mem::replace(&mut self.before, previous)
    }

    /// Undoes [`Session::remember`], which has returned this.
    fn forget(&mut self, before: Option<(u64, Values)>) {
        self.now = std::mem::replace(&mut self.before, before);
    }
}
