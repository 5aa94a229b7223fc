//! Workgroups: their warps take turns until all have ended.

use isaforge_core::semantics::evaluate::Scratch;
use isaforge_valhall::Instruction;

use crate::deadline::Deadline;
use crate::memory::Memory;
use crate::valhall::launch::{Launch, Origin, Outcome, RunError, Stage};

use super::host::Host;
use super::observe::{Lanes, Moment, Observer};
use super::operation;
use super::preload::{COMPUTE, Value};
use super::program::{After, Profile, Program, Slot};
use super::space::{Space, THREAD_BYTES};
use super::step::{Context, Control, Step};
use super::warp::{LANES, Warp};

/// The number of instructions that a warp executes in a turn. Turns let a warp that polls memory for another warp make
/// progress.
pub(super) const TURN: u32 = 1 << 14;

/// A program during a launch.
#[derive(Debug)]
pub(super) struct Machine<'a, O> {
    program: &'a Program<'a>,
    uniforms: &'a [u32],
    budget: u64,
    /// The time at which the run must end.
    pub deadline: Deadline,
    thread_instructions: u64,
    warp_instructions: u64,
    profile: Profile,
    /// The thread memory of the current workgroup.
    private: Vec<u8>,
    observer: O,
}

/// The reason why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// All its threads have ended.
    Ended,
    /// It waits at a barrier.
    Barrier,
    /// Its turn is over.
    Turn,
}

/// The maximum number of warps of a workgroup.
const WARPS: u64 = Launch::MAX_THREADS / LANES as u64;

/// The number of a warp among all warps of a run: the one with this number in a workgroup.
pub(super) fn warp_number(group: u64, warp: u64) -> u64 {
    group.wrapping_mul(WARPS).wrapping_add(warp)
}

/// The number of a workgroup in a grid, with x fastest.
pub(super) fn group_number([x, y, z]: [u32; 3], [width, height, _]: [u32; 3]) -> u64 {
    let [x, y, z, width, height] = [x, y, z, width, height].map(u64::from);
    z.wrapping_mul(height).wrapping_add(y).wrapping_mul(width).wrapping_add(x)
}

/// The position and size of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub id: [u32; 3],
    pub size: [u32; 3],
}

impl Group {
    /// Returns the position of a thread in its workgroup.
    pub fn thread(&self, index: usize) -> [u32; 3] {
        let [x, y, _] = self.size.map(|n| n.max(1) as usize);
        // All are less than the number of threads of a workgroup, which is small.
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// Returns the position of a thread in the grid.
    pub fn global(&self, index: usize) -> [u32; 3] {
        let local = self.thread(index);
        std::array::from_fn(|axis| self.id[axis].wrapping_mul(self.size[axis]).wrapping_add(local[axis]))
    }
}

impl<'a, O: Observer> Machine<'a, O> {
    pub fn new(program: &'a Program<'a>, uniforms: &'a [u32], budget: u64, observer: O) -> Self {
        Machine {
            program,
            uniforms,
            budget,
            deadline: Deadline::NONE,
            thread_instructions: 0,
            warp_instructions: 0,
            profile: Profile::new(),
            private: Vec::new(),
            observer,
        }
    }

    pub fn outcome(&self) -> Outcome {
        Outcome {
            thread_instructions: self.thread_instructions,
            warp_instructions: self.warp_instructions,
            mnemonics: self.profile.sorted(),
        }
    }

    /// Runs a workgroup until it ends.
    pub fn group(
        &mut self,
        id: [u32; 3],
        size: [u32; 3],
        memory: &mut Memory,
        shared: &mut [u8],
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        let group = Group { id, size };
        // This is at most `Launch::MAX_THREADS`, as `run` has checked.
        let threads = size.iter().map(|&n| n as usize).product::<usize>();
        let mut warps: Vec<Warp> = (0..threads).step_by(LANES).map(|first| preload(&group, first, threads)).collect();
        self.private.clear();
        if self.program.uses_thread_memory {
            self.private.resize(threads.next_multiple_of(LANES) * THREAD_BYTES, 0);
        }
        let count = warps.len() as u32;
        loop {
            let mut running = false;
            for (number, warp) in warps.iter_mut().enumerate() {
                if warp.at_barrier || warp.live == 0 {
                    continue;
                }
                let mut private = std::mem::take(&mut self.private);
                let space = Space { memory, shared, private: &mut private, first_thread: number * LANES, host };
                let stop = self.turn(warp, &group, (number as u32, count), space);
                self.private = private;
                running |= stop? == Stop::Turn;
            }
            if warps.iter().all(|warp| warp.live == 0) {
                return Ok(());
            }
            if !running {
                self.release(&mut warps, &group)?;
            }
        }
    }

    /// Lets the warps of a group continue after the barrier at which all of them wait.
    fn release(&mut self, warps: &mut [Warp], group: &Group) -> Result<(), RunError> {
        let waiting = |warp: &Warp| warp.live.count_ones() as usize;
        let (waiting, threads) =
            warps.iter().fold((0, 0), |(w, t), warp| (w + waiting(warp), t + warp.threads.count_ones() as usize));
        let Some(first) = warps.iter().find(|warp| warp.live != 0).map(|warp| warp.pc) else { return Ok(()) };
        if waiting < threads {
            let place = self.program.place(first as usize, group, None);
            return Err(RunError::Deadlock { place, waiting, ended: threads - waiting });
        }
        if let Some(other) = warps.iter().find(|warp| warp.pc != first) {
            let place = self.program.place(first as usize, group, Some(0));
            return Err(RunError::DivergentBarrier { place, elsewhere: other.pc as usize });
        }
        self.observer.barrier(group.id);
        for warp in warps {
            self.pass_barrier(warp);
        }
        Ok(())
    }

    /// Lets a warp continue after the barrier at which it waits.
    fn pass_barrier(&self, warp: &mut Warp) {
        warp.at_barrier = false;
        warp.active = warp.live;
        self.finish(warp);
    }

    /// Runs a warp that is a workgroup of its own until it ends. It passes barriers without waiting.
    pub fn alone(
        &mut self,
        warp: &mut Warp,
        origin: &impl Origin,
        memory: &mut Memory,
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        let size = if self.program.uses_thread_memory { LANES * THREAD_BYTES } else { 0 };
        let mut private = vec![0; size];
        loop {
            let space = Space { memory, shared: &mut [], private: &mut private, first_thread: 0, host };
            match self.turn(warp, origin, (0, 1), space)? {
                Stop::Ended => return Ok(()),
                Stop::Barrier => self.pass_barrier(warp),
                Stop::Turn => {}
            }
        }
    }

    /// Moves to the next word or ends, depending on the flow of the completed instruction.
    fn finish(&self, warp: &mut Warp) {
        match self.program.slots().get(warp.pc as usize) {
            Some(Slot::Ready(_, After::End)) => warp.end(),
            _ => warp.go(warp.pc + 1),
        }
    }

    /// Shows the observer where a warp is that cannot go on, as before an instruction that fails. Returns why the run
    /// ends.
    #[cold]
    fn fails_before(
        &mut self,
        step: &mut Step<'_>,
        group: &impl Origin,
        instruction: Option<Instruction>,
        error: RunError,
    ) -> RunError {
        if O::WATCHES {
            step.warp.accesses.get_or_insert_default().clear();
            if self.observer.before(&moment(step, group, instruction)).is_break() {
                return RunError::Stopped { place: self.program.place(step.warp.pc as usize, group, None) };
            }
        }
        error
    }

    /// Runs a warp until it has to stop.
    pub fn turn(
        &mut self,
        warp: &mut Warp,
        group: &impl Origin,
        number: (u32, u32),
        mut space: Space<'_>,
    ) -> Result<Stop, RunError> {
        let slots = self.program.slots();
        let context = Context { uniforms: self.uniforms, words: slots.len(), warp: number.0, warps: number.1 };
        let first_thread = space.first_thread;
        let scratch = Scratch::default();
        let mut step = Step { warp, context: &context, space: space.reborrow(), scratch };
        step.warp.schedule();
        if let Some(limit) = self.deadline.passed() {
            return Err(RunError::Time { place: self.program.place(step.warp.pc as usize, group, None), limit });
        }
        for _ in 0..TURN {
            if step.warp.live == 0 {
                return Ok(Stop::Ended);
            }
            let pc = step.warp.pc as usize;
            let lane = |lane: usize| Some(first_thread + lane);
            let first_active = lane(step.warp.active.trailing_zeros() as usize);
            let (instruction, after) = match slots.get(pc) {
                Some(Slot::Ready(instruction, after)) => (*instruction, *after),
                Some(Slot::Undecodable(error)) => {
                    let error = RunError::Undecodable { place: self.program.place(pc, group, None), error: **error };
                    return Err(self.fails_before(&mut step, group, None, error));
                }
                Some(Slot::Register(register)) => {
                    let place = self.program.place(pc, group, None);
                    let error = RunError::Register { place, register: *register };
                    return Err(self.fails_before(&mut step, group, None, error));
                }
                None => {
                    // Jumps are checked, so only running past the last word leads here.
                    let place = self.program.place(context.words.saturating_sub(1), group, first_active);
                    return Err(RunError::OutOfProgram { place, target: pc as i64, words: context.words });
                }
            };
            let threads = u64::from(step.warp.active.count_ones());
            if threads > self.budget - self.thread_instructions {
                let place = self.program.place(pc, group, first_active);
                let error = RunError::Budget { place, budget: self.budget };
                return Err(self.fails_before(&mut step, group, Some(instruction), error));
            }
            self.thread_instructions += threads;
            self.warp_instructions += 1;
            self.profile.count(instruction, threads);
            if O::WATCHES {
                step.warp.accesses.get_or_insert_default().clear();
            }
            if O::WATCHES && self.observer.before(&moment(&step, group, Some(instruction))).is_break() {
                return Err(RunError::Stopped { place: self.program.place(pc, group, first_active) });
            }
            let done = operation::execute(instruction, self.program.operation(pc, instruction), &mut step);
            if O::WATCHES && done.is_ok() {
                let mut seen = moment(&step, group, Some(instruction));
                if after == After::End && !matches!(done, Ok(Control::Barrier)) {
                    seen.lanes.live &= !seen.lanes.active;
                }
                if self.observer.after(&seen).is_break() {
                    return Err(RunError::Stopped { place: self.program.place(pc, group, first_active) });
                }
            }
            match done {
                Ok(Control::Next) if after == After::Next => {
                    let next = step.warp.pc + 1;
                    if next < step.warp.others {
                        step.warp.pc = next;
                        continue;
                    }
                    step.warp.go(next);
                }
                // `pcs` is not updated while the active lanes run on; `go` updates it when other lanes may be
                // scheduled.
                Ok(Control::Next | Control::Jumped) if after == After::End => step.warp.end(),
                Ok(Control::Next | Control::Jumped) => {}
                Ok(Control::Barrier) => {
                    if let Some(elsewhere) = straggler(step.warp) {
                        let place = self.program.place(pc, group, first_active);
                        return Err(RunError::DivergentBarrier { place, elsewhere });
                    }
                    step.warp.at_barrier = true;
                    step.warp.go(step.warp.pc);
                    return Ok(Stop::Barrier);
                }
                Err(fault) => return Err(self.program.error(fault, pc, group, first_thread)),
            }
            step.warp.schedule();
        }
        step.warp.go(step.warp.pc);
        Ok(Stop::Turn)
    }
}

/// What an observer sees of a warp.
fn moment<'s>(step: &'s Step<'_>, group: &impl Origin, instruction: Option<Instruction>) -> Moment<'s> {
    Moment {
        stage: group.stage(),
        group: group.group(),
        warp: step.context.warp,
        pc: step.warp.pc as usize,
        instruction,
        lanes: Lanes { live: step.warp.live, active: step.warp.active, helpers: step.warp.helpers },
        registers: &step.warp.registers,
        uniforms: step.context.uniforms,
        space: step.space.view(),
        pixels: &step.warp.pixels,
        accesses: step.warp.accesses.as_deref().unwrap_or_default(),
    }
}

/// Returns the word of a live lane that is not at the barrier.
fn straggler(warp: &Warp) -> Option<usize> {
    let lane = (warp.live & !warp.active).trailing_zeros() as usize;
    warp.pcs.get(lane).map(|&pc| pc as usize)
}

impl Origin for Group {
    fn stage(&self) -> Stage {
        Stage::Compute
    }

    fn group(&self) -> [u32; 3] {
        self.id
    }

    fn thread(&self, index: usize) -> [u32; 3] {
        Group::thread(self, index)
    }
}

/// Creates a warp with its preloaded registers.
fn preload(group: &Group, first: usize, threads: usize) -> Warp {
    let count = (threads - first).min(LANES);
    let mut warp = Warp::new(((1u32 << count) - 1) as u16);
    for lane in 0..count {
        let [x, y, z] = group.thread(first + lane);
        let global = |i: usize, local: u32| group.id[i].wrapping_mul(group.size[i]).wrapping_add(local);
        for &(register, value) in COMPUTE.iter() {
            warp.registers[register][lane] = match value {
                Value::LocalXy => x | y << 16,
                Value::LocalZ => z,
                Value::Group(axis) => group.id[axis],
                Value::Global(axis) => global(axis, [x, y, z][axis]),
                _ => 0,
            };
        }
    }
    warp
}
