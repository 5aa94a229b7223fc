//! A core: groups, the queue, the spawner, and the choice of the group that issues next.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::level::Level;
use crate::machine::Observer;
use crate::vpu::error::{Misuse, Place, RunError, SetupError, Wait, Warning};
use crate::vpu::exec::{Outcome, execute};
use crate::vpu::group::{ACTIVE, Group, Registers, Start};
use crate::vpu::op::Interacts;
use crate::vpu::program::{Program, refusal};
use crate::vpu::seen::Seen;
use crate::vpu::tiles::TileSize;
use crate::vpu::together::Bundle;
use crate::vpu::world::{BANKS, Outside, QUEUE, World};

/// The number of consecutive instructions of a group when cycles are not counted.
const TURN: u64 = 64;
/// The most consecutive instructions of a group that cannot interact with others.
const LONG_TURN: u64 = 1024;
/// The most rectangles that wait for the spawner.
const JOBS: usize = 1024;

/// A rectangle of the screen to cover with groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The left edge.
    pub x: u16,
    /// The upper edge.
    pub y: u16,
    /// The number of positions in a row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
}

#[derive(Clone, Debug)]
struct Job {
    left: u32,
    right: u32,
    bottom: u32,
    x: u32,
    y: u32,
    entry: u16,
    bank: u8,
}

/// The final state of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The group, counted in the order in which the core's groups became active.
    pub group: u64,
    /// The registers and flags.
    pub registers: Registers,
    /// The number of instructions issued, including the last Exit.
    pub steps: u64,
}

pub(crate) struct Core {
    number: usize,
    pub world: World,
    active: Vec<Box<Group>>,
    /// Groups that have ended, for reuse by others.
    spare: Vec<Box<Group>>,
    jobs: VecDeque<Job>,
    /// The banks that the host has named, which stay reserved until the core is idle.
    host_banks: Vec<u8>,
    started: u64,
    turn: usize,
    bubble: bool,
    /// The number of stalls since an instruction last issued or a group last started.
    stalls: usize,
    pub ended: Vec<Ended>,
    pub issued: u64,
}

impl Core {
    pub(crate) fn new(number: usize, tile_size: TileSize, seed: u64, level: Option<Level>) -> Self {
        let jitter =
            if seed == 0 { 0 } else { seed.wrapping_add(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1) };
        Core {
            number,
            world: World::new(tile_size, jitter, level),
            active: Vec::new(),
            spare: Vec::new(),
            jobs: VecDeque::new(),
            host_banks: Vec::new(),
            started: 0,
            turn: 0,
            bubble: false,
            stalls: 0,
            ended: Vec::new(),
            issued: 0,
        }
    }

    pub(crate) fn add_job(&mut self, r: Rectangle, entry: u16, bank: usize) -> Result<(), SetupError> {
        let bank = check_bank(bank)?;
        let (right, bottom) = (u64::from(r.x) + u64::from(r.width), u64::from(r.y) + u64::from(r.height));
        let furthest = right.max(bottom);
        if furthest > 1 << 16 {
            return Err(SetupError::Rectangle(furthest));
        }
        if self.jobs.len() >= JOBS {
            return Err(SetupError::Queue(JOBS));
        }
        if r.width == 0 || r.height == 0 {
            return Ok(());
        }
        let (left, y) = (u32::from(r.x), u32::from(r.y));
        self.hold_for_host(bank);
        self.jobs.push_back(Job { left, right: right as u32, bottom: bottom as u32, x: left & !3, y, entry, bank });
        Ok(())
    }

    pub(crate) fn add_group(&mut self, mut start: Start, bank: usize) -> Result<(), SetupError> {
        start.bank = check_bank(bank)?;
        if self.world.queue.len() >= QUEUE {
            return Err(SetupError::Queue(QUEUE));
        }
        if start.living != 0 {
            self.hold_for_host(start.bank);
            self.world.holders[bank] += 1;
            self.world.queue.push_back(start);
        }
        Ok(())
    }

    /// Reserves a bank that the host names until everything that runs now, including children, has ended.
    fn hold_for_host(&mut self, bank: u8) {
        if !self.is_alive() {
            for old in std::mem::take(&mut self.host_banks) {
                self.world.release(old);
            }
        }
        if !self.host_banks.contains(&bank) {
            self.host_banks.push(bank);
            self.world.holders[usize::from(bank)] += 1;
        }
    }

    /// Returns the next group that the spawner starts.
    fn spawn(&mut self) -> Option<Start> {
        let job = self.jobs.front_mut()?;
        let living = (0..4).filter(|t| (job.left..job.right).contains(&(job.x + t))).fold(0, |set, t| set | 1 << t);
        let start =
            Start { entry: job.entry, x: job.x as u16, y: job.y as u16, living, bank: job.bank, registers: None };
        self.world.holders[usize::from(job.bank)] += 1;
        job.x += 4;
        if job.x >= job.right {
            (job.x, job.y) = (job.left & !3, job.y + 1);
        }
        if job.y >= job.bottom {
            self.jobs.pop_front();
        }
        Some(start)
    }

    /// Starts waiting groups while there is room, those of the queue before those of the spawner.
    pub(crate) fn fill(&mut self, program: &Program) {
        while self.active.len() < ACTIVE {
            let Some(start) = self.world.queue.pop_front().or_else(|| self.spawn()) else { return };
            let constants = &program.constants;
            self.active.push(match self.spare.pop() {
                Some(group) => group.restarted(start, self.started),
                None => Group::new(start, self.started, constants),
            });
            self.started += 1;
            self.stalls = 0;
        }
    }

    /// Sets the constants of another program.
    pub(crate) fn set_constants(&mut self, constants: &[u64]) {
        let groups = self.active.iter_mut().chain(&mut self.spare);
        groups.for_each(|group| group.set_constants(constants));
        self.world.lanes = None;
    }

    pub(crate) fn is_alive(&self) -> bool {
        !(self.active.is_empty() && self.world.queue.is_empty() && self.jobs.is_empty())
    }

    /// Returns the number of groups that have started.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    fn recycle(&mut self, group: &Group) {
        self.world.release(group.bank);
        if let Some(bank) = group.reserved {
            self.world.release(bank);
            self.world.warn(Misuse::BankNeverLaunched, group);
        }
        if group.watched {
            self.ended.push(Ended { group: group.serial, registers: group.registers(), steps: group.steps });
        }
    }

    /// Lets every active group issue some instructions, as many as `budget` allows. Returns how many were issued.
    pub(crate) fn pass(&mut self, program: &Program, out: Outside<'_>, budget: &mut u64) -> Result<u64, RunError> {
        let before = *budget;
        let (apart, count) = (self.are_apart(program), self.active.len() as u64);
        // The length of turns is not observable then.
        let turn = if apart { budget.checked_div(count).unwrap_or(0).clamp(TURN, LONG_TURN) } else { TURN };
        let together = if apart { self.together(program, out, budget, turn) } else { None };
        let any_ended = match together {
            Some(any_ended) => any_ended,
            None => self.one_by_one(program, out, budget, turn)?,
        };
        if any_ended {
            let mut ended = std::mem::take(&mut self.spare);
            let before = ended.len();
            ended.extend(self.active.extract_if(.., |group| group.living == 0));
            ended.iter().skip(before).for_each(|group| self.recycle(group));
            self.spare = ended;
        }
        let issued = before - *budget;
        self.issued += issued;
        Ok(issued)
    }

    /// Whether the active groups cannot interact, whatever they execute.
    fn are_apart(&self, program: &Program) -> bool {
        let place = |group: &Group| self.world.tile_size.element(group.x, group.y);
        match program.interacts {
            Interacts::Nobody => true,
            Interacts::SamePlace => {
                let mut places = [0; ACTIVE];
                places.iter_mut().zip(&self.active).for_each(|(to, group)| *to = place(group));
                let places = &mut places[..self.active.len().min(ACTIVE)];
                places.sort_unstable();
                places.is_sorted_by(|one, next| one != next)
            }
            Interacts::Anyone => false,
        }
    }

    /// Lets groups that cannot interact advance side by side by as much as they would one by one. `None` if that
    /// gains nothing or is not allowed.
    fn together(&mut self, program: &Program, out: Outside<'_>, budget: &mut u64, turn: u64) -> Option<bool> {
        let count = self.active.len();
        let level = self.world.level?;
        if count < 2 || self.world.jitter != 0 || *budget < turn * count as u64 || out.clock.is_some() {
            return None;
        }
        *budget -= Bundle::new(level, program, &mut self.world, out, &mut self.active, turn).advance();
        Some(self.active.iter().any(|group| group.living == 0))
    }

    /// Lets groups issue one by one. Returns whether one ended.
    fn one_by_one(
        &mut self,
        program: &Program,
        out: Outside<'_>,
        budget: &mut u64,
        turn: u64,
    ) -> Result<bool, RunError> {
        let mut any_ended = false;
        self.active.iter_mut().for_each(|group| group.settle());
        for i in 0..self.active.len() {
            let burst = if self.world.jitter == 0 { turn } else { 1 + self.world.vary() % TURN };
            let group = &mut self.active[i];
            let most = burst.min(*budget);
            let mut left = most;
            while left > 0 {
                match execute(program.op(group.pc), group, &mut self.world, out, None) {
                    Outcome::Next => group.pc = (group.pc + 1) & 1023,
                    Outcome::Jumped => {}
                    Outcome::Stalled(_) => break,
                    Outcome::Ended => {
                        left -= 1;
                        any_ended = true;
                        break;
                    }
                    Outcome::Invalid => return Err(self.invalid(i, program)),
                }
                left -= 1;
            }
            group.steps += most - left;
            *budget -= most - left;
        }
        Ok(any_ended)
    }

    #[cold]
    fn invalid(&self, index: usize, program: &Program) -> RunError {
        let group = &self.active[index];
        let word = program.word(group.pc);
        let reason = refusal(word).unwrap_or_default();
        RunError::Decode { place: Box::new(self.place(group, program, None)), word, reason }
    }

    fn place(&self, group: &Group, program: &Program, wait: Option<Wait>) -> Place {
        let text = program.text(group.pc);
        Place { core: self.number, group: group.serial, position: (group.x, group.y), pc: group.pc, text, wait }
    }

    /// Returns the places of all active groups.
    pub(crate) fn places(&self, program: &Program) -> Vec<Place> {
        let wait = |g: &Group| {
            let wait = program.op(g.pc)?.waits?;
            let in_vain = match wait {
                Wait::Lock => true,
                Wait::Bank => g.reserved.is_none(),
                Wait::Queue => g.reserved.is_some(),
                Wait::Memory => false,
            };
            in_vain.then_some(wait)
        };
        self.active.iter().map(|g| self.place(g, program, wait(g))).collect()
    }

    fn waits_for_memory(&self, group: &Group, program: &Program, now: u64) -> bool {
        let pending = group.pending & group.active != 0 && now < group.ready;
        pending && program.op(group.pc).is_some_and(|op| op.waits == Some(Wait::Memory))
    }

    /// Whether every active group has stalled since one last issued.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stalls >= self.active.len()
    }

    /// The active groups in the order in which they may issue.
    fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let (turn, count) = (self.turn, self.active.len());
        (0..count).map(move |k| (turn + k) % count)
    }

    /// Shows an observer the group that would issue next. `None` if there is none.
    pub(crate) fn observe(
        &mut self,
        program: &Program,
        out: Outside<'_>,
        observer: &mut dyn Observer,
    ) -> Option<ControlFlow<()>> {
        self.fill(program);
        self.active.iter_mut().for_each(|group| group.settle());
        let now = out.clock.unwrap_or(u64::MAX);
        let ready = self.order().find(|index| !self.waits_for_memory(&self.active[*index], program, now));
        let group = &self.active[ready.or_else(|| self.order().next())?];
        let (world, memory, core) = (&self.world, out.memory, self.number);
        Some(observer.before(&Seen { group, world, memory, core, pc: group.pc, accesses: &[] }))
    }

    /// Executes one cycle. Returns whether an instruction was issued.
    pub(crate) fn cycle(
        &mut self,
        program: &Program,
        out: Outside<'_>,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<bool, RunError> {
        self.fill(program);
        self.active.iter_mut().for_each(|group| group.settle());
        // The fetch after a taken branch is wasted.
        if self.active.is_empty() || std::mem::take(&mut self.bubble) {
            return Ok(false);
        }
        let now = out.clock.unwrap_or(u64::MAX);
        let Some(index) = self.order().find(|i| !self.waits_for_memory(&self.active[*i], program, now)) else {
            return Ok(false);
        };
        self.turn = index + 1;
        let (core, pc) = (self.number, self.active[index].pc);
        if let Some(observer) = &mut observer {
            let (group, world, memory) = (&self.active[index], &self.world, out.memory);
            let seen = Seen { group, world, memory, core, pc, accesses: &[] };
            if observer.before(&seen).is_break() {
                return Err(RunError::Stopped);
            }
        }
        let group = &mut self.active[index];
        let mut accesses = Vec::new();
        let recorded = observer.is_some().then_some(&mut accesses);
        match execute(program.op(pc), group, &mut self.world, out, recorded) {
            Outcome::Next => group.pc = (pc + 1) & 1023,
            Outcome::Jumped => self.bubble = true,
            Outcome::Ended => {}
            Outcome::Stalled(_) => {
                // While data is in flight no group is stuck; once it has arrived, its group must get a turn.
                let coming = self.active.iter().any(|g| self.waits_for_memory(g, program, now));
                self.stalls = if coming { 0 } else { self.stalls + 1 };
                return Ok(false);
            }
            Outcome::Invalid => return Err(self.invalid(index, program)),
        }
        self.stalls = 0;
        self.issued += 1;
        group.steps += 1;
        if let Some(observer) = observer {
            let seen = Seen { group, world: &self.world, memory: out.memory, core, pc, accesses: &accesses };
            if observer.after(&seen).is_break() {
                return Err(RunError::Stopped);
            }
        }
        if group.living == 0 {
            let group = self.active.remove(index);
            self.turn = index;
            self.recycle(&group);
            self.spare.push(group);
        }
        Ok(true)
    }

    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let core = self.number;
        let warning = move |(&(misuse, pc), &(group, count))| Warning { misuse, core, pc, group, count };
        self.world.warnings.iter().map(warning)
    }
}

fn check_bank(bank: usize) -> Result<u8, SetupError> {
    if bank < BANKS { Ok(bank as u8) } else { Err(SetupError::Bank(bank)) }
}
