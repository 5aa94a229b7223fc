//! A program on its way from stop to stop.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;

use isaforge_runtime::machine::{Machine, Observer, Register, View};

use crate::condition::Condition;
use crate::listing::Listing;
use crate::value::Format;

/// Instructions between two looks at whether somebody wants a pause.
const PAUSE: u64 = 4096;

/// Why the program has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has not started yet.
    Start,
    /// It has gone as far as it was told to.
    Step,
    /// It has come to the breakpoint of this number.
    Breakpoint(usize),
    /// What the watchpoint of this number watches has changed; how, and where.
    Watchpoint(usize, String),
    /// Somebody wanted a pause.
    Pause,
    /// It has ended. There are no registers then.
    End,
    /// The next instruction cannot be executed.
    Failure(String),
    /// What was asked for cannot be done; it is where it was.
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

/// A program that has stopped before an instruction, or at its end.
pub struct Stop<'v> {
    /// Why.
    pub reason: Reason,
    /// What can be seen.
    pub view: &'v dyn View,
    /// How many instructions have been executed, a warp's as one.
    pub count: u64,
    /// Whether it has ended.
    pub ended: bool,
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("reason", &self.reason).field("count", &self.count).finish_non_exhaustive()
    }
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// So many instructions of this warp.
    Step(u64),
    /// One instruction of this warp, and all that it calls.
    Over,
    /// Back by a number of instructions of this warp.
    Back(u64),
    /// To the next breakpoint or watchpoint, or to the end.
    Continue,
    /// To the one before, or to the start.
    Reverse,
    /// To the next warp that comes to a place.
    To(u64),
    /// To the start.
    Restart,
    /// Nowhere.
    Quit,
}

/// Who is asked at each stop.
pub trait Door {
    /// The program has stopped. Returns how it goes on.
    fn stopped(&mut self, session: &mut Session<'_>, stop: &Stop<'_>) -> Resume;

    /// The program has written bytes to a stream. Bytes that are written again after going back are not seen again.
    fn output(&mut self, stream: u64, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// Whether somebody wants a running program to stop.
    fn wants_pause(&mut self) -> bool {
        false
    }
}

/// A place, a condition, or both, at which to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakpoint {
    /// Its number, from 1; watchpoints are counted with them.
    pub number: usize,
    /// The place; any without one.
    pub pc: Option<u64>,
    /// What must hold there.
    pub condition: Option<Condition>,
}

impl Breakpoint {
    /// Whether a warp that is about to execute an instruction stops here.
    fn holds(&self, view: &dyn View) -> bool {
        self.pc.is_none_or(|pc| pc == view.at().pc)
            && self.condition.as_ref().is_none_or(|condition| condition.holds(view))
    }
}

/// Something that is not to change unnoticed.
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
    /// A register in one lane or in all.
    Register(Register, Option<usize>),
    /// So many bytes of memory, at most [`Watched::MOST`].
    Memory(u64, usize),
}

impl Watched {
    /// Bytes that can be watched at once.
    pub const MOST: usize = 64;
}

/// A machine that is debugged.
pub struct Session<'m> {
    /// The machine.
    pub machine: &'m dyn Machine,
    /// Its program.
    pub listing: Listing,
    /// Where to stop.
    pub breakpoints: Vec<Breakpoint>,
    /// What to watch.
    pub watchpoints: Vec<Watchpoint>,
    /// How values are written where nothing else is asked for.
    pub format: Format,
    numbers: usize,
    /// The registers of a warp when it last stopped.
    before: Option<(u64, Values)>,
    /// The registers of the warp that has stopped.
    now: Option<(u64, Values)>,
    /// The farthest that the program has come: what it writes until there has been seen.
    farthest: u64,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("breakpoints", &self.breakpoints).finish_non_exhaustive()
    }
}

/// Values of all registers: by bank, number and lane. Those that lanes share are there once.
type Values = Vec<Vec<u64>>;

impl<'m> Session<'m> {
    /// A machine and its program, with nothing to stop at.
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

    /// Runs the program; the door is asked at its start and at every stop until it quits.
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
                // Only the door ends a run that reached its end.
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

    /// Whether there is a breakpoint where a warp is.
    pub fn stops_at(&self, view: &dyn View) -> bool {
        self.breakpoints.iter().any(|breakpoint| breakpoint.holds(view))
    }

    /// Removes a breakpoint or a watchpoint. Returns whether there was one of this number.
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

    /// Whether a register of the warp that has stopped is in a lane another than when it last stopped.
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

/// Until when the program runs.
#[derive(Clone, Debug)]
enum Goal {
    /// The number of instructions that have been executed; then it has this reason to stop, unless it is to go back further.
    Count(u64, Reason, u64),
    /// A warp has executed a number of instructions.
    Step(u64, u64),
    /// The next instruction of any warp.
    Any,
    /// A warp comes to a place, or any one if none is named.
    To(Option<u64>, u64),
    Continue,
    /// So many instructions have been executed: then back to the last of them at which there was a reason to stop.
    Scan(u64, Option<(u64, Reason)>),
}

/// What happens after a run that the observer has ended.
enum Next {
    Quit,
    Replay(Goal),
}

/// Looks on for a session.
struct Runner<'s, 'm, 'd> {
    session: &'s mut Session<'m>,
    door: &'d mut dyn Door,
    goal: Goal,
    /// Instructions that were seen before they were executed.
    count: u64,
    /// The warp and the place that were last seen and are not executed yet.
    current: Option<(u64, u64)>,
    /// The instruction that each warp last executed, by the count.
    previous: HashMap<u64, u64>,
    /// What is watched, before an instruction.
    old: Vec<Vec<u64>>,
    /// A change that has not been told yet.
    pending: Option<Reason>,
    next: Option<Next>,
}

impl Observer for Runner<'_, '_, '_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        let count = self.count;
        self.count += 1;
        // An instruction that has stalled is seen again.
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
    /// Why to stop before an instruction, if there is a reason.
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

    /// Whether this is no stop but a step on the way back. `Break` where the run is to begin again.
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

    /// Asks the door how to go on. `Break` where the run ends.
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

    /// The values of all that is watched.
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

    /// Compares what is watched with what it was before the instruction.
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
