//! The observer of a session's run: when to stop, and how the front end resumes.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use isaforge_runtime::machine::{At, Observer, View};

use super::calls::Calls;
use super::{FrontEnd, Hit, Reason, Resume, Session, Stop, Watched, Watchpoint};
use crate::listing::format_pc;
use crate::value::Format;

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
    /// After the next instruction of any warp, and more of the same warp until there are this many.
    Any(u64),
    /// When a warp reaches a place.
    To(u64),
    /// When one of these lanes of a warp is in at most `depth` calls. `place` is where they return to, if it is known.
    Return {
        warp: u64,
        lanes: u64,
        depth: u64,
        place: Option<u64>,
    },
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
    /// The calls that the lanes of each warp are in.
    pub(super) calls: Calls,
    /// The watched values before the instruction.
    pub(super) old: Vec<Vec<u64>>,
    /// The text of the instruction, if anything is watched.
    pub(super) text: String,
    /// The warp whose last instruction was executed last, and the count of that.
    pub(super) ended: Option<(u64, u64)>,
    /// Changes that have not been reported yet.
    pub(super) pending: Vec<Hit>,
    pub(super) next: Option<Next>,
}

impl Observer for Runner<'_, '_, '_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let at = view.at();
        let count = self.count;
        self.session.farthest = self.session.farthest.max(count);
        self.count += 1;
        self.calls.before(at, self.session.listing.find(view, at.pc).as_deref());
        // A stalled instruction is observed again.
        let again = self.current.replace((at.warp, at.pc)) == Some((at.warp, at.pc));
        let previous = if again { self.previous.get(&at.warp).copied() } else { self.previous.insert(at.warp, count) };
        let ended = self.ended.take();
        let reason = self.reason(view, (count, again), ended);
        if let Some(reason) = reason {
            if matches!(self.goal, Goal::Continue | Goal::To(_) | Goal::Return { .. }) {
                // No step has led here.
                self.session.crossings.remove(&count);
            }
            self.go_back(&reason, at.warp, (count, previous))?;
            let before = self.session.remember(view);
            if !self.ask(reason, view, (count, previous))? {
                self.session.forget(before);
            }
        }
        if !self.session.watchpoints.is_empty() {
            self.old = self.watched(view);
            self.text = self.session.text(view, at.pc);
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, view: &dyn View) -> ControlFlow<()> {
        self.current = None;
        let at = view.at();
        self.calls.after(at);
        let any = match self.goal {
            Goal::Step(warp, left) if warp == at.warp && at.live == 0 => Some(left),
            Goal::Return { warp, lanes, .. } if warp == at.warp && at.live & lanes == 0 => Some(1),
            _ => None,
        };
        if let Some(left) = any {
            self.goal = Goal::Any(left);
        }
        if at.live == 0 {
            self.ended = Some((at.warp, self.count - 1));
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
    }

    fn end(&mut self, view: &dyn View) {
        let last = self.count;
        self.session.farthest = self.session.farthest.max(last);
        if let Goal::Scan(_, found) = &mut self.goal {
            self.next = Some(Next::found(found.take()));
            return;
        }
        let changes = std::mem::take(&mut self.pending);
        let mut reason = hits(changes).unwrap_or(Reason::End);
        self.session.now = None;
        while self.next.is_none() {
            let stop = Stop { reason, view, count: last, ended: true, depth: 0 };
            let resume = self.front_end.stopped(self.session, &stop);
            reason = Reason::Refused("the program has ended; go back, restart or quit".to_owned());
            self.next = match resume {
                Resume::Quit => Some(Next::Quit),
                Resume::Restart => Some(self.restart()),
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
    fn reason(&mut self, view: &dyn View, (count, again): (u64, bool), ended: Option<(u64, u64)>) -> Option<Reason> {
        let reached = self.reached(view, (count, again), ended);
        let asks = reached.is_none() && count > 0 && count.is_multiple_of(PAUSE);
        let goes_back = matches!(self.goal, Goal::Count(..) | Goal::Scan(..) | Goal::Trail { .. });
        if asks && self.front_end.wants_pause(goes_back) { Some(Reason::Pause) } else { reached }
    }

    /// The reason to stop that the goal or a breakpoint is.
    fn reached(&mut self, view: &dyn View, (count, again): (u64, bool), ended: Option<(u64, u64)>) -> Option<Reason> {
        let at = view.at();
        let mut changes = std::mem::take(&mut self.pending);
        let crossings = &mut self.session.crossings;
        match &mut self.goal {
            Goal::Count(goal, reason, _) => return (*goal == count).then(|| reason.clone()),
            Goal::Scan(until, found) if count >= *until => {
                self.next = Some(Next::found(found.take()));
                return Some(Reason::Step);
            }
            Goal::Trail { until, by, trail, .. } if count >= *until => {
                let more = by.saturating_sub(trail.len() as u64);
                let crossed = trail.iter().rev().position(|count| crossings.contains_key(count));
                self.next = Some(Next::Replay(match (trail.front(), crossed) {
                    // From there, the way leads through another warp.
                    (_, Some(newer)) => {
                        let at = trail[trail.len() - 1 - newer];
                        Goal::Count(at, Reason::Step, *by - 1 - newer as u64)
                    }
                    // The rest is a trail of its own.
                    (Some(first), _) if trail.len() == TRAIL => Goal::Count(*first, Reason::Step, more),
                    (Some(first), _) => Goal::Count(*first, Reason::Step, 0),
                    (None, _) => Goal::Count(*until, Reason::Step, 0),
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
            Goal::Any(left) => {
                if let Some((warp, last)) = ended {
                    crossings.insert(count, (last, warp));
                }
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return hits(changes).or(Some(Reason::Step));
                }
                self.goal = Goal::Step(at.warp, *left);
            }
            Goal::Step(warp, left) if *warp == at.warp && !again => {
                crossings.remove(&count);
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return hits(changes).or(Some(Reason::Step));
                }
            }
            Goal::To(pc) if *pc == at.pc && !again => return hits(changes).or(Some(Reason::Step)),
            Goal::Return { warp, lanes, depth, place }
                if *warp == at.warp && !again && self.calls.is_within(at, *lanes, *depth, *place) =>
            {
                return hits(changes).or(Some(Reason::Step));
            }
            _ => {}
        }
        if !again {
            changes.extend(self.session.stops_at(view));
        }
        let reason = hits(changes);
        if let Goal::Scan(_, last) = &mut self.goal {
            if let Some(reason) = reason {
                *last = Some((count, reason));
            }
            return None;
        }
        reason
    }

    /// Returns `Break` if the run must start again to stop at an earlier instruction.
    fn go_back(&mut self, reason: &Reason, warp: u64, (count, previous): (u64, Option<u64>)) -> ControlFlow<()> {
        if self.next.is_some() {
            return ControlFlow::Break(());
        }
        if let Goal::Count(.., more @ 1..) = self.goal
            && *reason != Reason::Pause
            && let Some(goal) = self.back((count, warp), previous, more)
        {
            self.next = Some(Next::Replay(goal));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// The goal to go back by at least one instruction from where a warp is, as steps have led there. `None` if it is
    /// the first one.
    fn back(&self, (mut count, mut warp): (u64, u64), previous: Option<u64>, mut by: u64) -> Option<Goal> {
        let crossings = &self.session.crossings;
        if !crossings.contains_key(&count) {
            let previous = previous?;
            return Some(if by == 1 { Goal::Count(previous, Reason::Step, 0) } else { Goal::back(count, warp, by) });
        }
        while by > 0
            && let Some(from) = crossings.get(&count)
        {
            (count, warp) = *from;
            by -= 1;
        }
        Some(if by == 0 { Goal::Count(count, Reason::Step, 0) } else { Goal::back(count, warp, by) })
    }

    /// Starts the program again, with its output.
    fn restart(&mut self) -> Next {
        self.session.farthest = 0;
        Next::Replay(Goal::Count(0, Reason::Start, 0))
    }

    /// The goal when a warp is in at most `depth` calls.
    fn returned(at: At, depth: u64, place: Option<u64>) -> Goal {
        Goal::Return { warp: at.warp, lanes: at.active, depth, place }
    }

    /// Asks the front end how to resume: whether with another goal. `Break` if the run ends.
    fn ask(
        &mut self,
        mut reason: Reason,
        view: &dyn View,
        (count, previous): (u64, Option<u64>),
    ) -> ControlFlow<(), bool> {
        let at = view.at();
        let depth = self.calls.depth(at.active);
        let paused = reason == Reason::Pause;
        loop {
            let stop = Stop { reason, view, count, ended: false, depth };
            let replay = |goal| Some(Next::Replay(goal));
            match self.front_end.stopped(self.session, &stop) {
                Resume::Step(0) => {
                    reason = Reason::Step;
                    continue;
                }
                Resume::Step(steps) => self.goal = Goal::Step(at.warp, steps),
                Resume::Over => {
                    let line = self.session.listing.find(view, at.pc);
                    self.goal = match line.filter(|line| line.calls) {
                        Some(line) => Self::returned(at, depth, Some(line.next)),
                        None => Goal::Step(at.warp, 1),
                    };
                }
                Resume::Out if depth == 0 => self.goal = Goal::Step(at.warp, 1),
                Resume::Out => self.goal = Self::returned(at, depth - 1, self.calls.innermost(at.active)),
                Resume::Unchanged if paused => return ControlFlow::Continue(false),
                Resume::Continue | Resume::Unchanged => self.goal = Goal::Continue,
                Resume::To(pc) => self.goal = Goal::To(pc),
                Resume::Back(0) => {
                    reason = Reason::Step;
                    continue;
                }
                Resume::Back(by) => match self.back((count, at.warp), previous, by) {
                    Some(goal) => self.next = replay(goal),
                    None => {
                        reason = Reason::Refused("this is the first instruction of the warp".to_owned());
                        continue;
                    }
                },
                Resume::Reverse => self.next = replay(Goal::Scan(count, None)),
                Resume::Restart => self.next = Some(self.restart()),
                Resume::Quit => self.next = Some(Next::Quit),
            }
            return if self.next.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(true) };
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
                let mapped = address.read_mapped(view, active, bytes);
                bytes[..mapped].iter().map(|byte| u64::from(*byte)).collect()
            }
        };
        self.session.watchpoints.iter().map(one).collect()
    }

    /// Compares the watched values with those before the instruction.
    fn notice(&mut self, view: &dyn View, new: &[Vec<u64>]) {
        let session = &*self.session;
        let pc = format_pc(session.machine, view.at().pc);
        let changed = session.watchpoints.iter().zip(self.old.iter().zip(new)).filter(|(_, (old, new))| old != new);
        let hit = |(watchpoint, (old, new)): (&Watchpoint, (&Vec<u64>, &Vec<u64>))| {
            let how = describe(session, watchpoint.what, (old, new));
            Hit::Watchpoint(watchpoint.number, format!("{how}, by `{}` at {pc}", self.text))
        };
        let hits: Vec<Hit> = changed.map(hit).collect();
        self.pending.extend(hits);
    }
}

/// The reason to stop for hits, if there are any.
fn hits(hits: Vec<Hit>) -> Option<Reason> {
    (!hits.is_empty()).then_some(Reason::Hits(hits))
}

/// Describes a change of what is watched.
fn describe(session: &Session<'_>, what: Watched, (old, new): (&[u64], &[u64])) -> String {
    match what {
        Watched::Register(register, lane) => {
            let bank = session.machine.banks().get(usize::from(register.bank));
            let width = bank.map_or(32, |bank| bank.width);
            let (at, (old, new)) =
                old.iter().zip(new).enumerate().find(|(_, (old, new))| old != new).unwrap_or((0, (&0, &0)));
            let lane = lane.unwrap_or(at);
            let show = |value: u64| session.format.show(value, width);
            format!("{} in lane {lane} was {} and is {}", session.name(register), show(*old), show(*new))
        }
        Watched::Memory(address, _) => {
            let show = |bytes: &[u64]| shown(session.format, bytes);
            format!("memory at {address} was {} and is {}", show(old), show(new))
        }
    }
}

/// Bytes of memory: as words, as the command `memory` shows them, if they are whole words.
fn shown(format: Format, bytes: &[u64]) -> String {
    if bytes.is_empty() || !bytes.len().is_multiple_of(4) {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    }
    let word = |bytes: &[u64]| bytes.iter().rev().fold(0, |word, byte| word << 8 | byte);
    bytes.chunks(4).map(|bytes| format.show(word(bytes), 32)).collect::<Vec<_>>().join(" ")
}
