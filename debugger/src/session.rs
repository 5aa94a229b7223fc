//! Runs a program from stop to stop.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;

use isaforge_runtime::machine::{Machine, Observer, Register, View};

use crate::condition::Condition;
use crate::listing::Listing;
use crate::value::Format;

/// How many instructions execute between checks for a pause request.
const PAUSE: u64 = 4096;

/// Why the program has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has not started yet.
    Start,
    /// It has executed the requested number of instructions.
    Step,
    /// It has reached the breakpoint with this number.
    Breakpoint(usize),
    /// The watchpoint with this number has seen a change, as described.
    Watchpoint(usize, String),
    /// A pause was requested.
    Pause,
    /// It has ended; there are no registers any more.
    End,
    /// The next instruction cannot be executed.
    Failure(String),
    /// The request cannot be carried out; the program has not moved.
    Refused(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Start => f.write_str("start"),
            Reason::Step => f.write_str("step"),
            Reason::Breakpoint(number) => write!(f, "breakpoint {number}"),
            Reason::Watchpoint(number, how) => write!(f, "watchpoint {number}: {how}"),
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
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("reason", &self.reason).field("count", &self.count).finish_non_exhaustive()
    }
}

/// How to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Execute this many instructions of this warp.
    Step(u64),
    /// Execute one instruction of this warp, including everything it calls.
    Over,
    /// Go back by this many instructions of this warp.
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
pub trait Door {
    /// Called when the program has stopped. Returns how to resume.
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume;

    /// Called when the program writes bytes to a stream. Output that is repeated after going back is not reported
    /// again.
    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// Whether a running program should pause.
    fn wants_pause(&mut self) -> bool {
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
    /// A range of memory: address, and size in bytes, at most [`Watched::MOST`].
    Memory(u64, usize),
}

impl Watched {
    /// The maximum number of bytes in a watchpoint.
    pub const MOST: usize = 64;
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
    /// The latest point that the program has reached. Output up to this point has been reported.
    farthest: u64,
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
        }
    }

    /// Runs the program. The front end is asked at the start and at every stop, until it quits.
    ///
    /// # Errors
    /// Why the program cannot start.
    pub fn run(&mut self, door: &mut dyn Door) -> Result<(), String> {
        let mut goal = Goal::Count(0, Reason::Start, 0);
        loop {
            let machine = self.machine;
            let mut runner = Runner {
                session: self,
                door,
                goal,
                count: 0,
                current: None,
                previous: HashMap::new(),
                old: Vec::new(),
                pending: None,
                next: None,
            };
            let ended = machine.run(&mut runner);
            let (next, count) = (runner.next.take(), runner.count);
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

    /// Whether a warp is at a breakpoint.
    pub fn stops_at(&self, view: &dyn View) -> bool {
        self.breakpoints.iter().any(|breakpoint| breakpoint.holds(view))
    }

    /// Removes a breakpoint or watchpoint. Returns whether one with this number existed.
    pub fn remove(&mut self, number: usize) -> bool {
        let before = self.breakpoints.len() + self.watchpoints.len();
        self.breakpoints.retain(|breakpoint| breakpoint.number != number);
        self.watchpoints.retain(|watchpoint| watchpoint.number != number);
        self.breakpoints.len() + self.watchpoints.len() < before
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

    fn remember(&mut self, view: &dyn View) {
        let lanes = self.machine.lanes();
        let bank = |(bank, known): (usize, &isaforge_runtime::machine::Bank)| {
            let lanes = if known.uniform { 1 } else { lanes };
            let register = |index| Register { bank: bank as u16, index };
            let all = (0..known.count).flat_map(|index| (0..lanes).map(move |lane| (register(index), lane)));
            all.map(|(register, lane)| view.read(register, lane).unwrap_or(0)).collect()
        };
        let values = self.machine.banks().iter().enumerate().map(bank).collect();
        self.before = self.now.replace((view.at().warp, values));
    }
}

/// When the run must stop.
#[derive(Clone, Debug)]
enum Goal {
    /// After this many instructions, for this reason, unless the warp is to go back by a number of further
    /// instructions.
    Count(u64, Reason, u64),
    /// After this warp has executed this many instructions.
    Step(u64, u64),
    /// At the next instruction of any warp.
    Any,
    /// When this warp, or any warp if `None`, reaches a place.
    To(Option<u64>, u64),
    Continue,
    /// Scan up to this many instructions, then replay to the last of them at which there was a reason to stop.
    Scan(u64, Option<(u64, Reason)>),
}

/// What to do after the observer has ended a run.
enum Next {
    Quit,
    Replay(Goal),
}

/// The observer of a session's run.
struct Runner<'s, 'm, 'd> {
    session: &'s mut Session<'m>,
    door: &'d mut dyn Door,
    goal: Goal,
    /// The number of instructions observed before execution.
    count: u64,
    /// The warp and place observed last, whose instruction has not been executed yet.
    current: Option<(u64, u64)>,
    /// The last instruction of each warp, as a count.
    previous: HashMap<u64, u64>,
    /// The watched values before the instruction.
    old: Vec<Vec<u64>>,
    /// A change that has not been reported yet.
    pending: Option<Reason>,
    next: Option<Next>,
}

impl Observer for Runner<'_, '_, '_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        let count = self.count;
        self.count += 1;
        // A stalled instruction is observed again.
        let again = self.current.replace((at.warp, at.pc)) == Some((at.warp, at.pc));
        let previous = if again { self.previous.get(&at.warp).copied() } else { self.previous.insert(at.warp, count) };
        let reason = self.reason(view, count, again);
        if let Some(reason) = reason
            && !self.goes_back(&reason, previous)?
        {
            self.session.remember(view);
            self.ask(reason, view, (count, previous))?;
        }
        self.old = self.watched(view);
        ControlFlow::Continue(())
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.current = None;
        let at = view.at();
        if let Goal::Step(warp, _) | Goal::To(Some(warp), _) = self.goal
            && warp == at.warp
            && at.live == 0
        {
            self.goal = Goal::Any;
        }
        if at.live == 0 {
            self.previous.remove(&at.warp);
        }
        if !self.session.watchpoints.is_empty() {
            let new = self.watched(view);
            self.notice(view, &new);
        }
        ControlFlow::Continue(())
    }

    fn output(&mut self, stream: u64, bytes: &[u8]) {
        if self.count > self.session.farthest {
            self.door.output(stream, bytes);
        }
        self.session.farthest = self.session.farthest.max(self.count);
    }

    fn end(&mut self, view: &dyn View) {
        let last = self.count;
        if let Goal::Scan(_, found) = &mut self.goal {
            let goal = found.take().map_or(Goal::Count(0, Reason::Start, 0), |(at, reason)| Goal::Count(at, reason, 0));
            self.next = Some(Next::Replay(goal));
            return;
        }
        let mut reason = self.pending.take().unwrap_or(Reason::End);
        self.session.now = None;
        while self.next.is_none() {
            let stop = Stop { reason, view, count: last, ended: true };
            let resume = self.door.stopped(self.session, &stop);
            reason = Reason::Refused("the program has ended; go back, restart or quit".to_owned());
            self.next = match resume {
                Resume::Quit => Some(Next::Quit),
                Resume::Restart => Some(Next::Replay(Goal::Count(0, Reason::Start, 0))),
                Resume::Reverse => Some(Next::Replay(Goal::Scan(last, None))),
                Resume::Back(by) if by > 0 && last > 0 => {
                    Some(Next::Replay(Goal::Count(last - 1, Reason::Step, by - 1)))
                }
                _ => None,
            };
        }
    }
}

impl Runner<'_, '_, '_> {
    /// The reason to stop before an instruction, if there is one.
    fn reason(&mut self, view: &dyn View, count: u64, again: bool) -> Option<Reason> {
        let at = view.at();
        let pending = self.pending.take();
        match &mut self.goal {
            Goal::Count(goal, reason, _) => return (*goal == count).then(|| reason.clone()),
            Goal::Scan(until, found) if count >= *until => {
                let goal =
                    found.take().map_or(Goal::Count(0, Reason::Start, 0), |(at, reason)| Goal::Count(at, reason, 0));
                self.next = Some(Next::Replay(goal));
                return Some(Reason::Step);
            }
            Goal::Any => return Some(pending.unwrap_or(Reason::Step)),
            Goal::Step(warp, left) if *warp == at.warp && !again => {
                *left -= 1;
                if *left == 0 {
                    return Some(pending.unwrap_or(Reason::Step));
                }
            }
            Goal::To(warp, pc) if *pc == at.pc && warp.is_none_or(|warp| warp == at.warp) && !again => {
                return Some(pending.unwrap_or(Reason::Step));
            }
            _ => {}
        }
        let found = || {
            let found = self.session.breakpoints.iter().find(|breakpoint| breakpoint.holds(view))?;
            Some(Reason::Breakpoint(found.number))
        };
        let reason = pending.or_else(|| if again { None } else { found() });
        if let Goal::Scan(_, last) = &mut self.goal {
            if let Some(reason) = reason {
                *last = Some((count, reason));
            }
            return None;
        }
        if reason.is_none() && count.is_multiple_of(PAUSE) && self.door.wants_pause() {
            return Some(Reason::Pause);
        }
        reason
    }

    /// Whether this is only a step on the way back. `Break` if the run must start again.
    fn goes_back(&mut self, reason: &Reason, previous: Option<u64>) -> ControlFlow<(), bool> {
        if self.next.is_some() {
            return ControlFlow::Break(());
        }
        if let (Goal::Count(.., more @ 1..), Some(previous)) = (&self.goal, previous) {
            self.next = Some(Next::Replay(Goal::Count(previous, reason.clone(), more - 1)));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(false)
    }

    /// Asks the front end how to resume. `Break` if the run ends.
    fn ask(&mut self, mut reason: Reason, view: &dyn View, (count, previous): (u64, Option<u64>)) -> ControlFlow<()> {
        let at = view.at();
        loop {
            let stop = Stop { reason, view, count, ended: false };
            let replay = |goal| Some(Next::Replay(goal));
            match self.door.stopped(self.session, &stop) {
                Resume::Step(0) => {
                    reason = Reason::Step;
                    continue;
                }
                Resume::Step(steps) => self.goal = Goal::Step(at.warp, steps),
                Resume::Over => {
                    let line = self.session.listing.at(at.pc).map(|index| &self.session.listing.lines[index]);
                    self.goal = match line.filter(|line| line.calls) {
                        Some(line) => Goal::To(Some(at.warp), line.next),
                        None => Goal::Step(at.warp, 1),
                    };
                }
                Resume::Continue => self.goal = Goal::Continue,
                Resume::To(pc) => self.goal = Goal::To(None, pc),
                Resume::Back(0) => {
                    reason = Reason::Step;
                    continue;
                }
                Resume::Back(by) => match previous {
                    Some(previous) => self.next = replay(Goal::Count(previous, Reason::Step, by - 1)),
                    None => {
                        reason = Reason::Refused("this is the first instruction of the warp".to_owned());
                        continue;
                    }
                },
                Resume::Reverse => self.next = replay(Goal::Scan(count, None)),
                Resume::Restart => self.next = replay(Goal::Count(0, Reason::Start, 0)),
                Resume::Quit => self.next = Some(Next::Quit),
            }
            return if self.next.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
    }

    /// The watched values.
    fn watched(&self, view: &dyn View) -> Vec<Vec<u64>> {
        let lanes = self.session.machine.lanes();
        let active = view.at().active.trailing_zeros() as usize % 64;
        let one = |watchpoint: &Watchpoint| match watchpoint.what {
            Watched::Register(register, Some(lane)) => vec![view.read(register, lane).unwrap_or(0)],
            Watched::Register(register, None) => {
                (0..lanes).map(|lane| view.read(register, lane).unwrap_or(0)).collect()
            }
            Watched::Memory(address, size) => {
                let mut bytes = [0; Watched::MOST];
                let bytes = &mut bytes[..size.min(Watched::MOST)];
                match view.memory(active, address, bytes) {
                    Some(()) => bytes.iter().map(|byte| u64::from(*byte)).collect(),
                    None => Vec::new(),
                }
            }
        };
        self.session.watchpoints.iter().map(one).collect()
    }

    /// Compares the watched values with those before the instruction.
    fn notice(&mut self, view: &dyn View, new: &[Vec<u64>]) {
        let pairs = self.session.watchpoints.iter().zip(self.old.iter().zip(new));
        let Some((watchpoint, (old, new))) = pairs.into_iter().find(|(_, (old, new))| old != new) else { return };
        let place = self.session.listing.text(view.at().pc);
        let how = match watchpoint.what {
            Watched::Register(register, lane) => {
                let bank = self.session.machine.banks().get(usize::from(register.bank));
                let width = bank.map_or(32, |bank| bank.width);
                let (at, (old, new)) =
                    old.iter().zip(new).enumerate().find(|(_, (old, new))| old != new).unwrap_or((0, (&0, &0)));
                let lane = lane.unwrap_or(at);
                let show = |value: u64| self.session.format.show(value, width);
                format!("{} in lane {lane} was {} and is {}", self.session.name(register), show(*old), show(*new))
            }
            Watched::Memory(address, _) => {
                let show = |bytes: &[u64]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                format!("memory at {address:#x} was {} and is {}", show(old), show(new))
            }
        };
        let (number, pc) = (watchpoint.number, view.at().pc);
        self.pending = Some(Reason::Watchpoint(number, format!("{how}, by `{place}` at {pc:#x}")));
    }
}
