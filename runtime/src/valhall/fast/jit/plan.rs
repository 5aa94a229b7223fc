//! Dispatches whose path is known before they begin.
//!
//! Which path lanes take, and which memory they access, usually depends on the numbers of threads and on the inputs
//! of the launch, not on the content of memory. Then it is the same in every dispatch except for addresses, which
//! depend on the number of the workgroup in a [known way](super::strides). So one dispatch is executed normally, and
//! its actions are [recorded](crate::valhall::fast::trace). The words of the trace are then analysed to prove that
//! every other dispatch does the same. The plan is a list of functions and of memory locations: no lanes are scheduled,
//! barriers vanish, code that only computed addresses and branches is dropped, and the counts are known in advance.
//!
//! All locations are found before anything is executed. If one of them is missing, the dispatch runs normally, and
//! fails where it must. Only atomics may change words whose addresses depend on memory: all of their lanes are
//! checked before the first one changes anything, and if that fails the dispatch is restarted.
//!
//! An observer of accesses is told of the same accesses and barriers as in the recorded dispatch, at other addresses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::function::Function;
use super::fused::Fused;
use super::live::Words;
use super::places::{Memory, Places, Window};
use super::sequence::Sequence;
use super::step::{Done, Observed, Step, updates};
use super::strides::Strides;
use super::terms::{Sum, Terms};
use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::jit::lanes::window::WINDOWS;
use crate::level::Level;
use crate::machine::Pattern;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::compiled::Form;
use crate::valhall::fast::exit::Exit;
use crate::valhall::fast::grid::Grid;
use crate::valhall::fast::handler::{self};
use crate::valhall::fast::memory_view::{Located, MemoryView};
use crate::valhall::fast::row::bit;
use crate::valhall::fast::tally::Tally;
use crate::valhall::fast::trace::{Event, What};
use crate::valhall::fast::warps::Lanes;
use crate::valhall::warp::lanes;

/// The most words that are analysed, which takes about a millisecond.
const WORDS: usize = 1 << 12;

/// The number of dispatches by a plan before its functions are fused: fusing takes about as long as it saves in that
/// many.
const OFTEN: u32 = 1 << 10;

/// What all dispatches of a launch do.
#[derive(Debug)]
pub struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) windows: Vec<Window>,
    pub(super) terms: Terms,
    /// The number of dispatches that have followed it, and its fused functions, once these were many.
    followed: AtomicU32,
    fused: OnceLock<Option<Fused>>,
    /// For each bundle, the registers that must be initialized, as bits.
    pub begins: Vec<u64>,
    /// The counts of one dispatch.
    pub counts: Tally,
}

/// An analysed event, with its windows.
enum Followed {
    Call(Arc<Function>, Form, Vec<Window>),
    Store(u32, Vec<Window>),
    Update(handler::Op),
    Barrier(usize),
}

/// Returns the row of the word that an instruction stores, the rows of its address, and the offset from it. `None` if
/// the instruction does anything else.
fn stored(code: &Code<'_>, pc: usize) -> Option<(u32, [u32; 2], i32)> {
    let sequence = Sequence::of(code, pc..pc + 1)?;
    let ([stored], [access]) = (sequence.graph.stores(), &sequence.accesses[..]) else { return None };
    let rows = access.rows();
    let is_address = code.address(pc) == Some(rows) && sequence.graph.written().next().is_none();
    Some((sequence.graph.old_row(stored.value)?, rows, stored.offset)).filter(|_| is_address)
}

/// Joins consecutive events of handlers that only compute.
fn joined(code: &Code<'_>, known: &Words, events: &[(usize, Event)]) -> Vec<(usize, Event)> {
    let mut joined: Vec<(usize, Event)> = Vec::new();
    for (bundle, event) in events {
        if let Some((last, Event { what: What::Handlers(words), active, .. })) = joined.last_mut()
            && let What::Handlers(more) = &event.what
            && (*last, *active, words.end) == (*bundle, event.active, more.start)
            && matches!(code.exit(words.end - 1), Some(Exit::Next))
            && words.clone().chain(more.clone()).all(|word| known.computes(word))
        {
            words.end = more.end;
            continue;
        }
        joined.push((*bundle, event.clone()));
    }
    joined
}

/// Analyses the events of a bundle.
struct Follower<'a> {
    code: &'a Code<'a>,
    known: &'a Words,
    group: [u32; 3],
    strides: Strides,
    /// The number of words that may still be analysed.
    left: usize,
}

impl Follower<'_> {
    /// Analyses an event; `None` if it may differ in another workgroup.
    fn follow(&mut self, event: &Event) -> Option<Followed> {
        self.strides.active = event.active;
        let (function, form) = match &event.what {
            What::Function(function, form) => (function.clone(), *form),
            What::Barrier(group) => return Some(Followed::Barrier(*group)),
            What::Handlers(words) if !words.clone().all(|word| self.known.computes(word)) => {
                let update = self.code.update(words.start).filter(|_| words.len() == 1).map(Followed::Update);
                return update.or_else(|| self.follow_store(words.start, event));
            }
            What::Handlers(words) => {
                let form = if event.active == [u16::MAX; WARPS] { Form::Full } else { Form::Part };
                (Function::alone(self.code, words.clone(), self.known, form)?, form)
            }
        };
        let windows = self.windows(event, &function, function.machine(form)?)?;
        for _ in 0..event.times {
            self.left = self.left.checked_sub(function.words.len())?;
            function.words.clone().try_for_each(|pc| self.strides.execute(self.code, pc))?;
        }
        Some(Followed::Call(function, form, windows))
    }

    /// Analyses the handler of an instruction that only stores a word.
    fn follow_store(&mut self, pc: usize, event: &Event) -> Option<Followed> {
        let (row, rows, offset) = stored(self.code, pc)?;
        let sum = self.strides.address(rows)?;
        let windows = event.places.iter().map(|place| {
            let base = match self.base(place, &sum)? {
                Located::Mapped(address) => Located::Mapped(address.wrapping_add_signed(offset.into())),
                Located::Shared(place) => Located::Shared(place.checked_add_signed(offset as isize)?),
            };
            Some(Window { base, sum: sum.clone(), bytes: 4 })
        });
        Some(Followed::Store(row, windows.collect::<Option<_>>()?))
    }

    /// Returns the location of a place in a workgroup whose sum is 0.
    fn base(&self, place: &Located, sum: &Sum) -> Option<Located> {
        match *place {
            Located::Mapped(address) => {
                let mut terms = Vec::new();
                self.strides.terms.values(&self.group, &mut terms);
                Some(Located::Mapped(address.wrapping_sub(sum.value(&terms))))
            }
            // The memory of a workgroup ends where that of another begins.
            shared => sum.is_empty().then_some(shared),
        }
    }

    /// Returns what an observer of accesses is told of an event.
    fn observed(&self, event: &Event, followed: &Followed) -> Option<Vec<Observed>> {
        let Followed::Call(function, _, windows) = followed else { return Some(Vec::new()) };
        let mut terms = Vec::new();
        self.strides.terms.values(&self.group, &mut terms);
        let observed = event.patterns.iter().zip(function.recorded()).map(|(pattern, access)| {
            let sum = windows.get(access)?.sum.clone();
            let start = pattern.start.wrapping_sub(sum.value(&terms));
            Some(Observed { base: Pattern { start, ..*pattern }, sum })
        });
        observed.collect()
    }

    /// Returns the memory that an event accesses.
    fn windows(&mut self, event: &Event, function: &Function, machine: &BlockFn) -> Option<Vec<Window>> {
        let accesses = function.accesses.iter().zip(machine.windows()).zip(&event.places);
        let windows = accesses.map(|((access, window), place)| {
            let sum = self.strides.address(access.rows())?;
            let base = self.base(place, &sum)?;
            let more = u64::from(window.stride) * u64::from(event.times - 1);
            Some(Window { base, sum, bytes: usize::try_from(window.bytes(WARPS) + more).ok()? })
        });
        windows.collect()
    }
}

impl Plan {
    /// Whether there may be a plan of some events. There is none as long as handlers access memory, except for stores
    /// of single words by few lanes and for atomics, which must not be observed.
    pub fn may_be(code: &Code<'_>, known: &Words, events: &[(usize, Event)]) -> bool {
        let mut handlers = events.iter().filter_map(|(_, event)| match &event.what {
            What::Function(..) | What::Barrier(_) => None,
            What::Handlers(words) => Some((words.start, event)),
        });
        let is_stored = |pc: usize, event: &Event| {
            let lanes: u32 = event.active.iter().map(|lanes| lanes.count_ones()).sum();
            !code.given.logs && event.places.len() == lanes as usize && stored(code, pc).is_some()
        };
        let is_update = |pc: usize| code.update(pc).is_some();
        !events.is_empty() && handlers.all(|(pc, event)| known.computes(pc) || is_update(pc) || is_stored(pc, event))
    }

    /// Creates the plan of dispatches that do what one of them did. `None` if others may do something else.
    pub fn new(
        code: &Code<'_>,
        known: &Words,
        (grid, group): (&Grid, [u32; 3]),
        events: &[(usize, Event)],
        counts: Tally,
    ) -> Option<Self> {
        let events = joined(code, known, events);
        let bundles = events.iter().map(|(bundle, _)| bundle + 1).max()?;
        let mut followed: Vec<Option<(Followed, Vec<Observed>)>> = events.iter().map(|_| None).collect();
        let (mut terms, mut left) = (None, WORDS);
        for bundle in 0..bundles {
            let mut strides = Strides::new(grid, code.registers());
            strides.terms = terms.take().unwrap_or(strides.terms);
            let mut follower = Follower { code, known, group, strides, left };
            for (index, (_, event)) in events.iter().enumerate().filter(|(_, (of, _))| *of == bundle) {
                let of = follower.follow(event)?;
                let observed = follower.observed(event, &of)?;
                followed[index] = Some((of, observed));
            }
            (terms, left) = (Some(follower.strides.terms), follower.left);
        }
        let (followed_by, fused, begins) = (AtomicU32::new(0), OnceLock::new(), vec![0; bundles]);
        let mut plan =
            Plan { steps: vec![], windows: vec![], terms: terms?, followed: followed_by, fused, begins, counts };
        let followed: Vec<_> = followed.into_iter().collect::<Option<_>>()?;
        let mut numbers = HashMap::new();
        for (&(bundle, ref event), (followed, observed)) in events.iter().zip(followed).rev() {
            if !observed.is_empty() {
                let is_own = observed.iter().all(Observed::is_own);
                let what = Done::Log { observed, active: Lanes::new(event.active), times: event.times, is_own };
                plan.steps.push(Step { bundle, what });
            }
            let needs = plan.needs(bundle, &followed, event.times);
            // Steps that need not be executed must still fail if their memory is missing.
            let what = plan.step(event, followed, &mut numbers)?;
            if needs {
                plan.steps.push(Step { bundle, what });
            }
        }
        plan.steps.reverse();
        if !plan.can_restart() {
            return None;
        }
        let Plan { terms, windows, .. } = &mut plan;
        terms.retain(windows.iter().map(|window| &window.sum));
        Some(plan)
    }

    /// Whether a step before all planned ones must be executed, because of what it leaves in memory or in registers
    /// that they read. Updates the registers that must be initialized. Addresses are already known.
    fn needs(&mut self, bundle: usize, followed: &Followed, times: u32) -> bool {
        let live = &mut self.begins[bundle];
        match followed {
            Followed::Call(function, form, _) => {
                let needs = function.stores() || *live & function.writes != 0;
                if needs {
                    // Lanes that do not write keep their content.
                    *live &= if *form == Form::Part { u64::MAX } else { !function.writes };
                    *live |= function.reads(times > 1 && *form == Form::Full);
                }
                needs
            }
            Followed::Store(row, _) => {
                *live |= bit(*row);
                true
            }
            Followed::Update(op) => {
                *live |= updates(op).into_iter().fold(0, |all, row| all | bit(row));
                true
            }
            Followed::Barrier(_) => true,
        }
    }

    /// Whether a dispatch may be restarted when a lane of an atomic is outside the checked memory: until then it must
    /// only change its own memory.
    fn can_restart(&self) -> bool {
        let Some(last) = self.steps.iter().rposition(|step| matches!(step.what, Done::Update { .. })) else {
            return true;
        };
        let is_own = |window: &u16| matches!(self.windows[usize::from(*window)].base, Located::Shared(_));
        self.steps[..last].iter().all(|step| match &step.what {
            Done::Call { function, windows, .. } => {
                let mut accesses = function.accesses.iter().zip(windows);
                accesses.all(|(access, window)| !access.writes || is_own(window))
            }
            Done::Store { lanes, .. } => lanes.iter().all(|(.., window)| is_own(window)),
            Done::Update { .. } => false,
            Done::Log { .. } | Done::Barrier(_) => true,
        })
    }

    /// Returns what an event executes, with the numbers of its windows.
    fn step(&mut self, event: &Event, followed: Followed, numbers: &mut HashMap<Window, u16>) -> Option<Done> {
        let mut number = |window: Window| {
            let next = u16::try_from(numbers.len()).ok()?;
            let number = *numbers.entry(window.clone()).or_insert(next);
            if number == next {
                self.windows.push(window);
            }
            Some(number)
        };
        Some(match followed {
            Followed::Call(function, form, all) => {
                let mut windows = [0; WINDOWS];
                for (to, window) in windows.iter_mut().zip(all) {
                    *to = number(window)?;
                }
                Done::Call { function, form, active: Lanes::new(event.active), times: event.times, windows }
            }
            Followed::Store(row, all) => {
                let lanes =
                    (0..WARPS).flat_map(|warp| lanes(event.active[warp]).map(move |lane| (warp as u8, lane as u8)));
                let lanes = lanes.zip(all).map(|((warp, lane), window)| Some((warp, lane, number(window)?)));
                Done::Store { row, lanes: lanes.collect::<Option<_>>()? }
            }
            Followed::Update(op) => Done::Update { op, active: Lanes::new(event.active) },
            Followed::Barrier(group) => Done::Barrier(group),
        })
    }

    /// Returns its fused functions, once many dispatches have followed it; `None` if it must be executed step by
    /// step.
    #[inline]
    pub fn fused(&self, level: Level) -> Option<&Fused> {
        if let Some(fused) = self.fused.get() {
            return fused.as_ref();
        }
        let is_often = self.followed.load(Ordering::Relaxed) >= level.compiles_after(OFTEN)?;
        is_often
            .then(|| self.fused.get_or_init(|| Fused::new(&self.steps, &self.windows, &self.terms, level)).as_ref())?
    }

    /// Counts dispatches that have followed it.
    pub fn follow(&self, dispatches: u32) {
        let before = self.followed.load(Ordering::Relaxed);
        self.followed.store(before.saturating_add(dispatches), Ordering::Relaxed);
    }

    /// Returns the machine code of its fused functions as text.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.fused.get().and_then(Option::as_ref).map_or(String::new(), |fused| fused.listing(text))
    }

    /// Creates the locations of its windows, none of which is found yet.
    pub fn places(&self) -> Places {
        Places::new(&self.windows)
    }

    /// Finds the memory of a dispatch, given its first workgroup. Returns `false` if something is missing.
    #[inline]
    pub fn find(&self, places: &mut Places, view: &MemoryView<'_>, group: &[u32; 3], fused: Option<&Fused>) -> bool {
        self.terms.values(group, &mut places.terms);
        match fused {
            Some(fused) => fused.mapped.iter().all(|index| places.find(&self.windows, *index, view)),
            None => (0..self.windows.len()).all(|index| places.find(&self.windows, index, view)),
        }
    }

    /// Executes several dispatches in a row, up to `most`, if only their addresses differ; the first workgroup is
    /// given, and how many a dispatch has. Returns how many were executed.
    pub fn run_row(
        &self,
        fused: &Fused,
        places: &mut Places,
        (bundles, view): (&mut [Bundle], &mut MemoryView<'_>),
        (group, groups, most): (&[u32; 3], u32, u32),
    ) -> u32 {
        let Some(bundle) = bundles.first_mut().filter(|_| most > 1) else { return 0 };
        if !fused.is_row() || !self.find(places, view, group, Some(fused)) {
            return 0;
        }
        fused.run_row(&self.windows, places, (bundle, view), (groups, most)).unwrap_or(0)
    }

    /// Executes a dispatch whose memory was found, by its fused functions if there are any; `again` says whether the
    /// observer of accesses was told of one before. Returns whether it was executed; if not, it may be restarted.
    #[inline]
    pub fn run(
        &self,
        code: &Code<'_>,
        (fused, again): (Option<&Fused>, bool),
        places: &Places,
        bundles: &mut [Bundle],
        view: &mut MemoryView<'_>,
    ) -> bool {
        if let Some(fused) = fused
            && !bundles.first_mut().is_some_and(|bundle| fused.run(&places.found, bundle, view))
        {
            return false;
        }
        let first = fused.map_or(0, |fused| fused.after);
        let mut patterns = Vec::new();
        let is_known = again && view.log.as_ref().is_some_and(|log| log.observer.knows_repeats());
        let mut passed = None;
        for step in self.steps.get(first..).unwrap_or_default() {
            let Some(bundle) = bundles.get_mut(step.bundle) else { continue };
            match &step.what {
                Done::Call { function, form, active, times, windows } => {
                    let Some(machine) = function.machine(*form) else { continue };
                    let mut memory = Memory { view, found: &places.found, windows };
                    let ran = bundle.execute_as(machine, &mut memory, active, *times);
                    debug_assert_eq!(ran, Some(*times), "a step goes another way than it was seen to go");
                }
                Done::Store { row, lanes } => {
                    for &(warp, lane, window) in lanes {
                        let word = bundle.rows[*row as usize].0[usize::from(warp)][usize::from(lane)];
                        let bytes = places.found[usize::from(window)].bytes_mut(view);
                        if let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk_mut()) {
                            *bytes = word.to_le_bytes();
                        }
                    }
                }
                Done::Log { is_own: true, .. } if is_known => {}
                Done::Log { observed, active, times, .. } => {
                    passed = None;
                    bundle.activate(active);
                    if let Some(log) = &mut view.log {
                        patterns.clear();
                        patterns.extend(observed.iter().map(|observed| observed.pattern(&places.terms)));
                        log.strided(
                            &bundle.ahead.grid,
                            (&bundle.homes, &bundle.active),
                            bundle.busy(),
                            &patterns,
                            *times,
                        );
                    }
                }
                Done::Barrier(group) if is_known && passed == Some(*group) => {}
                Done::Barrier(group) => {
                    passed = Some(*group);
                    if let Some(log) = &mut view.log {
                        log.barrier(&bundle.ahead.grid, *group);
                    }
                }
                Done::Update { op, active } => {
                    bundle.activate(active);
                    bundle.prepare(&code.masks, view);
                    if !op.run(true, bundle, view) {
                        return false;
                    }
                }
            }
        }
        true
    }
}
