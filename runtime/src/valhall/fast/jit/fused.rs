//! Fuses all functions of a plan into one.
//!
//! The function leaves registers unchanged, because they are not read after the dispatch; only the work of handlers
//! follows it. The memory of the workgroup is dropped then, too, so what threads pass to each other there stays in
//! registers, if there are enough.

use isaforge_valhall::semantics::SEMANTICS;

use super::places::{Found, Places, Window, shared_end};
use super::step::{Done, Step, updates};
use super::terms::Terms;
use crate::exec::jit::lanes::emit::{Begin, Call, Fusion};
use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS};
use crate::level::Level;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::memory_view::{Located, MemoryView};
use crate::valhall::fast::row::{self, bit};

/// The fused functions of a plan.
#[derive(Debug)]
pub struct Fused {
    code: BlockFn,
    /// The plan's number of each window; `None` is the memory of the workgroup.
    windows: Vec<Option<u16>>,
    /// The registers that must be initialized, as bits.
    pub begins: u64,
    /// Whether it reads the memory of the workgroup, which must be cleared then.
    pub is_shared: bool,
    /// The plan's windows in mapped memory.
    pub mapped: Vec<usize>,
    /// By how many bytes each of these advances from one workgroup to the next, if that is all that changes between
    /// dispatches.
    strides: Option<Vec<u32>>,
    /// The first step of the plan that is not included.
    pub after: usize,
}

/// The memory that it accesses.
struct Memory<'m, 'w> {
    view: &'m mut MemoryView<'w>,
    found: &'m [Found],
    windows: &'m [Option<u16>],
}

impl window::Memory for Memory<'_, '_> {
    #[inline(always)]
    fn window(&mut self, index: usize, window: &window::Window, _: usize) -> Option<Bytes<'_>> {
        let found = match *self.windows.get(index)? {
            Some(number) => *self.found.get(usize::from(number))?,
            None => Found::Shared(0),
        };
        found.bytes(self.view, window.writes)
    }
}

impl Fused {
    /// Fuses the functions of the steps of a plan with these windows. `None` if registers run out, or if other steps
    /// are in between.
    #[cold]
    pub(super) fn new(steps: &[Step], planned: &[Window], terms: &Terms, level: Level) -> Option<Self> {
        let is_shared = shared_end(planned) > 0;
        let mut fused = Fused::of(steps, planned, level, true)
            .or_else(|| is_shared.then(|| Fused::of(steps, planned, level, false))?)?;
        if fused.begins == 0 && !fused.is_shared && fused.after == steps.len() {
            let stride = |index: &usize| u32::try_from(terms.step(&planned[*index].sum)?).ok();
            fused.strides = fused.mapped.iter().map(stride).collect();
        }
        Some(fused)
    }

    /// The same; with `forwards`, what is stored to the memory of the workgroup stays in registers.
    fn of(steps: &[Step], planned: &[Window], level: Level, forwards: bool) -> Option<Self> {
        let is_call = |done: &Done| matches!(done, Done::Call { .. });
        let after = steps.iter().rposition(|step| is_call(&step.what))? + 1;
        if steps.iter().any(|step| step.bundle > 0) {
            return None;
        }
        let end = shared_end(planned);
        let mut fusion = Fusion::new(Graph::new(SEMANTICS, level), WARPS, if forwards { end } else { 0 });
        // Each window of the plan, and whether its lanes are contiguous.
        let mut windows: Vec<(Option<u16>, bool)> = Vec::new();
        for step in &steps[..after] {
            match &step.what {
                // The loop keeps its rows in registers anyway.
                Done::Call { function, times, .. } if *times > 1 && function.accesses.is_empty() => return None,
                Done::Call { function, form, active, times, windows: numbers, .. } => {
                    let wanted = function.machine(*form)?.windows();
                    let mut begins = Vec::with_capacity(wanted.len());
                    for (window, &number) in wanted.iter().zip(numbers) {
                        let of = planned.get(usize::from(number))?;
                        let (number, bytes, at) = match of.base {
                            Located::Shared(place) if forwards => {
                                begins.push(Begin::Scratch(place as i64));
                                continue;
                            }
                            Located::Shared(place) => (None, end, place as i64),
                            Located::Mapped(_) => (Some(number), of.bytes, 0),
                        };
                        let key = (number, window.contiguous);
                        let known = windows.iter().position(|known| *known == key);
                        let index = match known {
                            Some(index) => index,
                            None => {
                                windows.push(key);
                                fusion.window(window.contiguous, bytes)?
                            }
                        };
                        begins.push(Begin::Window(index, at));
                    }
                    let (windows, begins) = (wanted, &begins[..]);
                    fusion.call(&Call {
                        wanted: function.wanted(*form),
                        windows,
                        begins,
                        active: &active.of,
                        times: *times,
                    })?;
                }
                Done::Store { row, lanes } if forwards => {
                    let mut places = Vec::with_capacity(lanes.len());
                    for &(warp, lane, window) in lanes {
                        let Located::Shared(at) = planned.get(usize::from(window))?.base else { return None };
                        places.push((warp.into(), lane.into(), at));
                    }
                    fusion.put(*row, places.into_iter())?;
                }
                _ => return None,
            }
        }
        let left = steps[after..].iter().flat_map(|step| match &step.what {
            Done::Store { row, lanes } => lanes.iter().map(|(warp, ..)| (*row, usize::from(*warp))).collect(),
            Done::Update { op, active } => {
                active.warps.listed().flat_map(|warp| updates(op).map(|row| (row, warp))).collect()
            }
            Done::Call { .. } | Done::Log { .. } | Done::Barrier(_) => vec![],
        });
        let left: Vec<_> = left.collect();
        let (emitted, rows) = fusion.finish(left.iter().copied(), row::TEMPORARIES)?;
        let windows: Vec<_> = windows.into_iter().map(|(number, _)| number).collect();
        let is_shared = windows.contains(&None);
        // The later steps read the initial content of their rows, unless it was overwritten.
        let read = rows.into_iter().chain(left.iter().map(|(row, _)| *row));
        let begins = read.fold(0, |all, row| all | bit(row));
        let is_mapped = |index: &usize| matches!(planned[*index].base, Located::Mapped(_));
        let mapped = (0..planned.len()).filter(is_mapped).collect();
        Some(Fused { code: BlockFn::new(&emitted, level)?, windows, begins, is_shared, mapped, strides: None, after })
    }

    /// Executes it, with the windows of the plan already found. Returns whether it was executed.
    #[inline]
    pub(super) fn run(&self, found: &[Found], bundle: &mut Bundle, view: &mut MemoryView<'_>) -> bool {
        let mut memory = Memory { view, found, windows: &self.windows };
        self.code.run_flat(&mut bundle.rows, &mut memory, ([0; WINDOWS], 1)).is_some()
    }

    /// Whether only addresses change between dispatches.
    pub(super) fn is_row(&self) -> bool {
        self.strides.is_some()
    }

    /// Executes several dispatches in a row, up to `most`, with the windows of the first already found; a dispatch has
    /// some number of `groups`. Returns how many were executed: none where more than addresses changes.
    pub(super) fn run_row(
        &self,
        planned: &[Window],
        places: &Places,
        (bundle, view): (&mut Bundle, &mut MemoryView<'_>),
        (groups, most): (u32, u32),
    ) -> Option<u32> {
        let (mut times, mut strides) = (most, [0; WINDOWS]);
        for (&index, stride) in self.mapped.iter().zip(self.strides.as_ref()?) {
            let stride = stride.checked_mul(groups)?;
            if let Some(more) = places.after(planned, index, view)?.checked_div(stride as usize) {
                times = times.min(u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1));
            }
            let of = self.windows.iter().zip(&mut strides).filter(|(number, _)| number.map(usize::from) == Some(index));
            of.for_each(|(_, to)| *to = stride);
        }
        let mut memory = Memory { view, found: &places.found, windows: &self.windows };
        self.code.run_flat(&mut bundle.rows, &mut memory, (strides, times))
    }

    /// Returns the machine code as text.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        self.code.listing(text)
    }
}
