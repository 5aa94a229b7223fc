//! Workgroups that run together: their start, turns, barriers and end.

use crate::bits::members;
use crate::guarded::Guarded;
use crate::valhall::launch::{Launch, RunError};

use super::planning::Planning;
use super::runner::{BUNDLE_TURN, Runner};
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::column::add;
use crate::valhall::fast::fields::Fields;
use crate::valhall::fast::grid::{Grid, Home};
use crate::valhall::fast::handler::{Body, Op, handler};
use crate::valhall::fast::log::Log;
use crate::valhall::fast::memory_view::{MARGIN, MemoryView, Outside, Recent, clear};
use crate::valhall::fast::row;
use crate::valhall::group::{Group, TURN};
use crate::valhall::preload::{COMPUTE, Value};
use crate::valhall::space::{THREAD_BYTES, thread_address};
use crate::valhall::warp::LANES;

/// Initializes a register: the content of a row, plus a value for each warp.
pub struct Begin;

impl Body for Begin {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, op: &Fields) -> bool {
        let (to, from) = (op.dest as usize, op.sources[0] as usize);
        if to.max(from) < bundle.rows.len() {
            for (warp, first) in bundle.firsts.into_iter().enumerate() {
                bundle.rows[to].0[warp] = add(&bundle.rows[from].0[warp], first);
            }
        }
        true
    }
}

/// The value that is added to a register's initial content, the same in all threads of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) enum Added {
    Nothing,
    /// The number of the workgroup along an axis.
    Number(usize),
    /// The position of its first thread along an axis.
    Place(usize),
}

impl Added {
    fn of(self, group: &Group) -> u32 {
        match self {
            Added::Nothing => 0,
            Added::Number(axis) => group.id[axis],
            Added::Place(axis) => group.id[axis].wrapping_mul(group.size[axis]),
        }
    }
}

/// Returns how a register is initialized: some tell which thread it is.
fn beginning(code: &Code<'_>, register: usize) -> (Op, Added) {
    let value = COMPUTE.iter().find(|(known, _)| *known == register).map(|(_, value)| *value);
    let (place, added) = match value {
        Some(Value::LocalXy) => (row::PACKED, Added::Nothing),
        Some(Value::LocalZ) => (row::PLACES + 2, Added::Nothing),
        Some(Value::Group(axis)) => (row::ZERO, Added::Number(axis)),
        Some(Value::Global(axis)) => (row::PLACES + axis as u32, Added::Place(axis)),
        _ => (row::ZERO, Added::Nothing),
    };
    (
        handler::<Begin>(code.level).with(Fields { dest: register as u32, sources: [place; 2], ..Fields::default() }),
        added,
    )
}

/// Initializes the registers that are given as bits.
pub(super) fn begin(all: &[(Op, Added)], groups: &[Group], which: u64, bundle: &mut Bundle, view: &mut MemoryView<'_>) {
    for (begin, word) in all.iter().filter(|(begin, _)| which >> begin.fields().dest & 1 != 0) {
        bundle.firsts = match groups {
            [group] => [word.of(group); WARPS],
            groups => bundle.homes.map(|home| groups.get(home.group).map_or(0, |group| word.of(group))),
        };
        begin.run(true, bundle, view);
    }
}

/// Sets the position of a warp, and its threads.
fn place(bundle: &mut Bundle, warp: usize, home: Home, group: &Group) {
    bundle.place_in(warp, home);
    bundle.rows[row::WARP as usize].0[warp] = [home.number as u32; LANES];
    for lane in 0..LANES {
        let thread = LANES * home.number + lane;
        let ([x, y, z], address) = (group.thread(thread), thread_address(thread));
        for (row, word) in [
            (row::THREAD, address as u32),
            (row::THREAD + 1, (address >> 32) as u32),
            (row::PLACES, x),
            (row::PLACES + 1, y),
            (row::PLACES + 2, z),
            (row::PACKED, x | y << 16),
        ] {
            bundle.rows[row as usize].0[warp][lane] = word;
        }
    }
}

/// The state of a dispatch besides the memory of the launch.
#[derive(Debug)]
pub(super) struct Own {
    /// The memories of workgroups, with a margin on both sides.
    shared: Guarded<u8>,
    margin: usize,
    shared_bytes: usize,
    private: Vec<u8>,
    /// The number of warps of a workgroup.
    warps: usize,
    recent: Recent,
}

impl Own {
    /// Clears the memories for new workgroups.
    pub(super) fn clear(&mut self) {
        // The margin is never written.
        let end = self.shared.len() - self.margin;
        clear(&mut self.shared[self.margin..end]);
        clear(&mut self.private);
    }

    /// Returns the memory that handlers access.
    pub(super) fn view<'a>(&'a mut self, outside: &'a mut Outside<'_>, groups: &'a [Group]) -> MemoryView<'a> {
        MemoryView {
            memory: outside.memory,
            shared: &mut self.shared,
            margin: self.margin,
            shared_bytes: self.shared_bytes,
            private: &mut self.private,
            warps: self.warps,
            recent: &mut self.recent,
            host: outside.host,
            touched: outside.touched.as_deref_mut(),
            log: outside.accesses.as_mut().map(|observer| Log { observer: &mut **observer, groups }),
        }
    }
}

/// The most bytes of workgroup memory that are kept for the next launch.
const IDLE_BYTES: usize = 1 << 16;

/// The most dispatches that are executed at once before the deadline is checked.
const AT_ONCE: u32 = 1 << 12;

/// Workgroups that run together.
#[derive(Debug)]
pub struct Dispatch {
    pub(super) groups: Vec<Group>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) own: Own,
    /// What initializes registers, and the values added for each workgroup.
    pub(super) registers: Vec<(Op, Added)>,
    /// The number of threads of a workgroup along each axis, and the number of workgroups that fit.
    pub(super) size: ([u32; 3], usize),
    /// What is known of all dispatches of the launch.
    pub(super) planning: Planning,
}

impl Dispatch {
    /// Returns the dispatch that an earlier launch of the same code has left, if it has the same layout, or a new
    /// one. A launch needs no more initialization than the dispatches within it.
    pub(super) fn take(
        runner: &Runner<'_>,
        left: Option<Box<Self>>,
        launch: &Launch,
        warps: usize,
        together: usize,
    ) -> Box<Self> {
        let code = runner.code;
        let is_alike = |left: &Dispatch| {
            left.size == (launch.local_size, together) && left.own.shared_bytes == launch.shared_bytes as usize
        };
        let mut dispatch = match left.filter(|left| is_alike(left)) {
            Some(mut left) => {
                // They refer to another launch's memory.
                left.own.recent = Recent::default();
                left
            }
            None => Dispatch::new(code, launch, warps, together).into(),
        };
        let grid = Grid { groups: launch.groups, size: launch.local_size, together: together as u32 };
        dispatch.bundles.iter_mut().for_each(|bundle| bundle.ahead.grid = grid);
        let known = std::mem::take(&mut dispatch.planning);
        dispatch.planning = known.again(code, runner.functions.shared, (grid, launch.shared_bytes as usize));
        dispatch
    }

    /// Whether it is small enough to be kept for later launches.
    pub(super) fn is_small(&self) -> bool {
        self.bundles.len() == 1 && self.own.private.is_empty() && self.own.shared.len() <= IDLE_BYTES
    }

    fn new(code: &Code<'_>, launch: &Launch, warps: usize, together: usize) -> Self {
        let threads = launch.local_size.iter().map(|&n| n as usize).product::<usize>();
        let shared_bytes = launch.shared_bytes as usize;
        let margin = if shared_bytes > 0 { MARGIN } else { 0 };
        let private = if code.program.uses_thread_memory { together * warps * LANES * THREAD_BYTES } else { 0 };
        let mut dispatch = Dispatch {
            groups: Vec::with_capacity(together),
            bundles: (0..(together * warps).div_ceil(WARPS)).map(|_| code.bundle()).collect(),
            own: Own {
                shared: Guarded::filled(0, together * shared_bytes + 2 * margin),
                margin,
                shared_bytes,
                private: vec![0; private],
                warps,
                recent: Recent::default(),
            },
            registers: members(code.registers()).map(|register| beginning(code, register)).collect(),
            size: (launch.local_size, together),
            planning: Planning::default(),
        };
        let group = Group { id: [0; 3], size: launch.local_size };
        for (index, bundle) in dispatch.bundles.iter_mut().enumerate() {
            let mut entry = [0; WARPS];
            for (warp, entry) in entry.iter_mut().enumerate().take(together * warps - index * WARPS) {
                let home = Home { group: (index * WARPS + warp) / warps, number: (index * WARPS + warp) % warps };
                let count = (threads - LANES * home.number).min(LANES);
                *entry = ((1u32 << count) - 1) as u16;
                place(bundle, warp, home, &group);
            }
            bundle.set_entry(entry);
        }
        if let [only] = &mut dispatch.bundles[..] {
            only.is_closed = true;
        }
        dispatch
    }

    /// Runs the workgroups to their end, and perhaps some of the `following` dispatches that follow in the same row.
    /// Returns how many of those were run.
    pub(super) fn run(
        &mut self,
        runner: &mut Runner<'_>,
        outside: &mut Outside<'_>,
        following: u32,
    ) -> Result<u32, RunError> {
        if self.groups.is_empty() {
            return Ok(0);
        }
        if let Some(done) = self.run_planned(runner, outside, following) {
            self.groups.clear();
            return Ok(done - 1);
        }
        let before = self.watch(runner, following);
        self.start(outside);
        if let [only] = &mut self.bundles[..] {
            let goes_alone = runner.probe.is_some() || runner.code.ordered || outside.accesses.is_some();
            (only.ahead.most, only.ahead.done) = (if goes_alone { 0 } else { following.min(AT_ONCE) + 1 }, 1);
        }
        loop {
            if let Some(late) = self.bundles.iter().find(|bundle| bundle.live != [0; WARPS])
                && let Err(error) = runner.check_time(late, &self.groups)
            {
                self.groups.clear();
                return Err(error);
            }
            if outside.is_done() {
                self.groups.clear();
                return Ok(0);
            }
            let running = self.pass(runner, outside);
            if let Some((group, error)) = runner.failed.take() {
                // Earlier workgroups would have completed, or failed themselves.
                self.drop_from(group * self.own.warps);
                if !self.is_live() {
                    self.groups.clear();
                    return Err(error);
                }
                runner.failed = Some((group, error));
            }
            if !self.is_live() {
                break;
            }
            if self.meet(runner, outside) {
                continue;
            }
            for group in 0..self.groups.len() {
                if running >> group & 1 == 0
                    && let Err(error) = self.release(runner, outside, group)
                {
                    runner.failed = Some((group, error));
                    self.drop_from(group * self.own.warps);
                }
            }
        }
        if let Some(before) = before {
            self.plan(runner, &before);
        }
        self.groups.clear();
        match (runner.failed.take(), &self.bundles[..]) {
            (Some((_, error)), _) => Err(error),
            (None, [only]) => Ok(only.ahead.done - 1),
            (None, _) => Ok(0),
        }
    }

    /// Starts all threads at the first word.
    fn start(&mut self, outside: &mut Outside<'_>) {
        self.own.clear();
        let present = self.groups.len() * self.own.warps;
        let mut view = self.own.view(outside, &self.groups);
        for (index, bundle) in self.bundles.iter_mut().enumerate() {
            bundle.enter();
            if present < (index + 1) * WARPS {
                bundle.drop_from(present.saturating_sub(index * WARPS));
            }
            begin(&self.registers, &self.groups, u64::MAX, bundle, &mut view);
        }
    }

    /// Gives each warp its turn. Returns the workgroups with warps that can continue, as bits.
    fn pass(&mut self, runner: &mut Runner<'_>, outside: &mut Outside<'_>) -> u8 {
        let mut running = 0;
        for index in 0..self.bundles.len() {
            let mut view = self.own.view(outside, &self.groups);
            let bundle = &mut self.bundles[index];
            let ready = bundle.ready();
            if ready == 0 {
                continue;
            }
            if index > 0 && runner.deadline.passed().is_some() {
                // As if all could continue: the caller looks at the deadline first, and fails.
                return u8::MAX;
            }
            // Near the end of the budget it matters which warp spends it.
            runner.exact = runner.budget - runner.tally.spent < BUNDLE_TURN;
            if runner.exact || runner.code.ordered {
                bundle.trace = None;
                for warp in 0..WARPS {
                    runner.turn(bundle, &mut view, &self.groups, ready & 1 << warp);
                }
            } else {
                runner.turn(bundle, &mut view, &self.groups, ready);
            }
            self.planning.note(index, bundle);
            let going = (0..WARPS).filter(|&warp| ready >> warp & 1 != 0 && bundle.turns[warp] >= TURN);
            running |= going.fold(0, |bits, warp| bits | 1 << bundle.homes[warp].group);
            if runner.failed.is_some() {
                for later in &mut self.bundles[index + 1..] {
                    later.drop_from(0);
                }
            }
        }
        running
    }

    fn is_live(&self) -> bool {
        self.bundles.iter().any(|bundle| bundle.live != [0; WARPS])
    }

    /// Ends a warp of the dispatch and all later ones.
    fn drop_from(&mut self, first: usize) {
        for (index, bundle) in self.bundles.iter_mut().enumerate() {
            bundle.drop_from(first.saturating_sub(index * WARPS).min(WARPS));
        }
    }

    /// Lets all threads continue after a barrier, if all of them wait there.
    fn meet(&mut self, runner: &Runner<'_>, outside: &mut Outside<'_>) -> bool {
        let Some(pc) = self.bundles.first().and_then(Bundle::waits_at) else { return false };
        let meet = self.bundles.iter().all(|bundle| bundle.waits_at() == Some(pc)) && !runner.code.ends_at_barrier(pc);
        if meet {
            self.bundles.iter_mut().for_each(|bundle| bundle.go_on(pc + 1));
            (0..self.groups.len()).for_each(|group| self.log_barrier(outside, group));
        }
        meet
    }

    /// Lets the warps of a workgroup continue after the barrier at which all of them wait.
    fn release(&mut self, runner: &mut Runner<'_>, outside: &mut Outside<'_>, group: usize) -> Result<(), RunError> {
        let all = group * self.own.warps..(group + 1) * self.own.warps;
        let at = |warp: usize| (warp / WARPS, warp % WARPS);
        let (mut waiting, mut threads, mut first) = (0, 0, None);
        for warp in all.clone() {
            let (bundle, warp) = at(warp);
            let bundle = &self.bundles[bundle];
            waiting += bundle.live[warp].count_ones() as usize;
            threads += bundle.threads[warp].count_ones() as usize;
            if bundle.live[warp] != 0 {
                first = first.or(Some(bundle.place(warp)));
            }
        }
        let Some(first) = first else { return Ok(()) };
        let place = |thread| runner.code.program.place(first as usize, &self.groups[group], thread);
        if waiting < threads {
            return Err(RunError::Deadlock { place: place(None), waiting, ended: threads - waiting });
        }
        for warp in all.clone() {
            let (bundle, warp) = at(warp);
            let elsewhere = self.bundles[bundle].place(warp);
            if elsewhere != first {
                let place = place(Some(0));
                return Err(RunError::DivergentBarrier { place, elsewhere: elsewhere as usize });
            }
        }
        let ends = runner.code.ends_at_barrier(first);
        for warp in all {
            let (bundle, warp) = at(warp);
            self.bundles[bundle].pass_barrier(warp, first, ends);
        }
        self.log_barrier(outside, group);
        Ok(())
    }

    /// Tells the observer of accesses, if there is one, that the warps of a workgroup have met at a barrier.
    fn log_barrier(&mut self, outside: &mut Outside<'_>, group: usize) {
        if let (Some(log), Some(bundle)) = (&mut self.own.view(outside, &self.groups).log, self.bundles.first()) {
            log.barrier(&bundle.ahead.grid, group);
            self.planning.note_barrier(group, &self.bundles);
        }
    }
}
