//! The observer of a session's run: when to stop, and how the front end resumes.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use isaforge_runtime::machine::{Observer, View};

use super::{FrontEnd, Reason, Resume, Session, Stop, Watched, Watchpoint};
use crate::listing::format_pc;

/// How many instructions execute between checks for a pause request.
const PAUSE: u64 = 4096;

/// When the run must stop.
#[derive(Clone, Debug)]
pub(super) enum Goal {
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
    /// Follow a warp for `until` instructions, then replay to the instruction that is `by` of its own before.
    Trail {
        until: u64,
        warp: u64,
        by: u64,
        trail: VecDeque<u64>,
    },
}

/// The most instructions of a warp that are remembered on the way to where it goes back.
const TRAIL: usize = 1 << 16;

impl Goal {
    /// Goes back by a number of a warp's instructions, from where `until` instructions have executed.
    fn back(until: u64, warp: u64, by: u64) -> Self {
        Goal::Trail { until, warp, by, trail: VecDeque::new() }
    }
}

/// What to do after the observer has ended a run.
pub(super) enum Next {
    Quit,
    Replay(Goal),
}

impl Next {
    /// Replays to what a scan has found, or to the start.
    fn found(found: Option<(u64, Reason)>) -> Self {
        let (at, reason) = found.unwrap_or((0, Reason::Start));
        Next::Replay(Goal::Count(at, reason, 0))
    }
}

/// The observer of a session's run.
pub(super) struct Runner<'s, 'm, 'd> {
    pub(super) session: &'s mut Session<'m>,
    pub(super) front_end: &'d mut dyn FrontEnd,
    pub(super) goal: Goal,
    /// The number of instructions observed before execution.
    pub(super) count: u64,
    /// The warp and place observed last, whose instruction has not been executed yet.
    pub(super) current: Option<(u64, u64)>,
    /// The last instruction of each warp, as a count.
    pub(super) previous: HashMap<u64, u64>,
    /// The watched values before the instruction.
    pub(super) old: Vec<Vec<u64>>,
    /// A change that has not been reported yet.
    pub(super) pending: Option<Reason>,
    pub(super) next: Option<Next>,
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
        if let Some(reason) = reason {
            self.go_back(at.warp, (count, previous))?;
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
            if let Goal::Trail { warp, trail, .. } = &mut self.goal
                && *warp == at.warp
            {
                trail.clear();
            }
        }
        if !self.session.watchpoints.is_empty() {
            let new = self.watched(view);
            self.notice(view, &new);
        }
        ControlFlow::Continue(())
    }

    fn output(&mut self, stream: u64, bytes: &[u8]) {
        if self.count > self.session.farthest {
            self.front_end.output(stream, bytes);
        }
        self.session.farthest = self.session.farthest.max(self.count);
    }

    fn end(&mut self, view: &dyn View) {
        let last = self.count;
        if let Goal::Scan(_, found) = &mut self.goal {
            self.next = Some(Next::found(found.take()));
            return;
        }
        let mut reason = self.pending.take().unwrap_or(Reason::End);
        self.session.now = None;
        while self.next.is_none() {
            let stop = Stop { reason, view, count: last, ended: true };
            let resume = self.front_end.stopped(self.session, &stop);
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
                self.next = Some(Next::found(found.take()));
                return Some(Reason::Step);
            }
            Goal::Trail { until, by, trail, .. } if count >= *until => {
                let more = by.saturating_sub(trail.len() as u64);
                self.next = Some(Next::Replay(match trail.front() {
                    // The rest is a trail of its own.
                    Some(first) if trail.len() == TRAIL => Goal::Count(*first, Reason::Step, more),
                    Some(first) => Goal::Count(*first, Reason::Step, 0),
                    None => Goal::Count(*until, Reason::Step, 0),
                }));
                return Some(Reason::Step);
            }
            Goal::Trail { warp, by, trail, .. } => {
                if *warp == at.warp && !again {
                    if trail.len() as u64 == (*by).min(TRAIL as u64) {
                        trail.pop_front();
                    }
                    trail.push_back(count);
                }
                return None;
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
        if reason.is_none() && count.is_multiple_of(PAUSE) && self.front_end.wants_pause() {
            return Some(Reason::Pause);
        }
        reason
    }

    /// Returns `Break` if the run must start again to stop at an earlier instruction.
    fn go_back(&mut self, warp: u64, (count, previous): (u64, Option<u64>)) -> ControlFlow<()> {
        if self.next.is_some() {
            return ControlFlow::Break(());
        }
        if let (Goal::Count(.., more @ 1..), Some(_)) = (&self.goal, previous) {
            self.next = Some(Next::Replay(Goal::back(count, warp, *more)));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Asks the front end how to resume. `Break` if the run ends.
    fn ask(&mut self, mut reason: Reason, view: &dyn View, (count, previous): (u64, Option<u64>)) -> ControlFlow<()> {
        let at = view.at();
        loop {
            let stop = Stop { reason, view, count, ended: false };
            let replay = |goal| Some(Next::Replay(goal));
            match self.front_end.stopped(self.session, &stop) {
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
                    Some(previous) if by == 1 => self.next = replay(Goal::Count(previous, Reason::Step, 0)),
                    Some(_) => self.next = replay(Goal::back(count, at.warp, by)),
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
                let mut bytes = [0; Watched::MAX_BYTES];
                let bytes = &mut bytes[..size.min(Watched::MAX_BYTES)];
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
        let pc = format_pc(self.session.machine, pc);
        self.pending = Some(Reason::Watchpoint(number, format!("{how}, by `{place}` at {pc}")));
    }
}
