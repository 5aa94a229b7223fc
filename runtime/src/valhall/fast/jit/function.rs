//! Compiles consecutive words, and executes their machine code.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::live::Words;
use super::sequence::Sequence;
use super::strides::Strides;
use super::window::Memory;
use crate::exec::jit::lanes::emit::{LoopPlan, Segment, Wanted};
use crate::exec::jit::lanes::graph::Graph;
use crate::exec::jit::lanes::window::{Nowhere, WINDOWS, Window};
use crate::machine::Pattern;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
pub use crate::valhall::fast::compiled::Function;
use crate::valhall::fast::compiled::access::Access;
use crate::valhall::fast::compiled::{Counted, Form, compile};
use crate::valhall::fast::exit::Exit;
use crate::valhall::fast::log::Record;
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::op::Op;
use crate::valhall::fast::pattern::Reached;
use crate::valhall::fast::row::bit;
use crate::valhall::fast::trace::{Event, What};

impl Function {
    /// Executes it up to `most` times, as long as all lanes branch back to its start, if it ends with a branch.
    /// Returns the number of executions. 0 means that nothing was done, because memory is not accessed in the
    /// expected pattern.
    #[inline(always)]
    pub fn run(self: &Arc<Self>, code: &Code<'_>, bundle: &mut Bundle, view: &mut MemoryView<'_>, most: u32) -> u32 {
        let (is_full, has_memory) = (bundle.is_full(), !self.accesses.is_empty());
        let counted = self.counted.as_ref().filter(|_| is_full && most > 1).and_then(|counted| {
            let times = counted.counter.times(&bundle.rows, most)?;
            Some((counted, times))
        });
        let (form, wanted, most) = match &counted {
            Some((counted, (times, _))) => (Form::Counted, &counted.wanted, *times),
            None if is_full => (Form::Full, &self.wanted, most),
            None => (Form::Part, &self.wanted, most),
        };
        let machine = match self.compiled(form).get() {
            Some(machine) => machine,
            None => {
                let Some(windows) = self.windows(code, bundle, view) else { return 0 };
                self.compiled(form).get_or_init(|| compile(wanted, &windows, self.level, form))
            }
        };
        let (mut places, mut patterns) = (Some(Vec::new()), Vec::new());
        let ran = match machine {
            Some(machine) if has_memory => {
                let most = if self.repeats() && is_full { most } else { 1 };
                let mut memory = Memory::of(view, &self.accesses, code.reach);
                // Each dispatch must start with the memory of its workgroups cleared.
                if memory.find(bundle).is_none() || self.branch.is_none() && most > 1 && !memory.is_global() {
                    return 0;
                }
                let ran = bundle.execute(machine, &mut memory, most);
                if bundle.trace.is_some() {
                    places = memory.places(machine.windows());
                }
                if let Some((times, _)) = ran
                    && !self.records.is_empty()
                {
                    let starts = std::array::from_fn(|index| memory.reached(index).unwrap_or_default());
                    patterns = self.record(bundle, view, &starts, times);
                }
                ran
            }
            Some(machine) => bundle.execute(machine, &mut Nowhere, if form == Form::Counted { most } else { 1 }),
            None if has_memory => None,
            None => {
                // Its words only compute, so their handlers never fail.
                code.execute(self.words.clone(), bundle, view);
                return 1;
            }
        };
        let Some((times, mut found)) = ran else { return 0 };
        if bundle.trace.is_some() {
            match places {
                // Several executions without a branch belong to several dispatches.
                Some(places) if self.branch.is_some() || times == 1 => {
                    let what = What::Function(self.clone(), form);
                    bundle.note(Event { what, active: bundle.active, times, places, patterns });
                }
                _ => bundle.trace = None,
            }
        }
        if let Some((_, (all, ends))) = counted {
            let leaves = times == all && ends;
            found = [!leaves, leaves];
        }
        let [some, lacking] = found;
        // Writes of some lanes break the pattern.
        let moved = if is_full { &self.moved[..] } else { &[] };
        bundle.patterns.wrote(self.writes, moved, times);
        if let Some(fields) = &self.branch {
            // Before lanes diverge, the repetitions are counted in the turns of all of them.
            bundle.tick((times - 1) * self.words.len() as u32);
            if bundle.branch(some, lacking) {
                code.part.run(true, bundle, view, fields);
            }
        }
        times
    }

    /// Records the accesses of some executions. Returns their patterns.
    fn record(
        &self,
        bundle: &Bundle,
        view: &mut MemoryView<'_>,
        starts: &[Reached; WINDOWS],
        times: u32,
    ) -> Vec<Pattern> {
        let pattern = |(record, index): &(Record, usize)| record.pattern(starts[*index], self.stride(*index));
        let patterns: Vec<_> = self.records.iter().map(pattern).collect();
        if let Some(log) = &mut view.log {
            log.strided(&bundle.ahead.grid, (&bundle.homes, &bundle.active), bundle.busy(), &patterns, times);
        }
        patterns
    }

    /// Whether it has code for as many iterations as all lanes of a bundle are about to execute.
    pub fn is_counted(&self, bundle: &Bundle) -> bool {
        bundle.is_full() && self.counted.as_ref().is_some_and(|counted| counted.counter.is_uniform(&bundle.rows))
    }

    /// Compiles the handlers of some words, unless they are as fast; `None` if that is not possible. With `strides`
    /// the code is for several dispatches.
    pub fn new(code: &Code<'_>, words: Range<usize>, known: &Words, strides: Option<&Strides>) -> Option<Self> {
        let sequence = Sequence::of(code, words.clone())?;
        // A single handler that only computes is as fast.
        let is_one = code.ops(words.clone()).len() < 2 && sequence.graph.written().count() < 2;
        if is_one && sequence.accesses.is_empty() {
            return None;
        }
        let function = Function::of(code, words, known, sequence, strides)?;
        if function.accesses.is_empty() {
            function.compile(Form::Full)?;
        }
        Some(function)
    }

    /// Compiles a loop that only computes, for the case that all lanes of a bundle execute it equally often. `None` if
    /// it is no such loop.
    pub fn counted(code: &Code<'_>, words: Range<usize>, known: &Words) -> Option<Self> {
        let sequence = Sequence::of(code, words.clone())?;
        let function = Function::of(code, words, known, sequence, None)?;
        (function.accesses.is_empty() && function.counted.is_some()).then_some(())?;
        function.compile(Form::Counted)?;
        Some(function)
    }

    /// Compiles the handlers of some words that only compute, however few.
    pub fn alone(code: &Code<'_>, words: Range<usize>, known: &Words, form: Form) -> Option<Arc<Self>> {
        if !words.clone().all(|word| known.computes(word)) {
            return None;
        }
        let sequence = Sequence::of(code, words.clone())?;
        let function = Function::of(code, words, known, sequence, None)?;
        function.compile(form)?;
        Some(function.into())
    }

    /// Compiles a sequence of words.
    fn of(
        code: &Code<'_>,
        words: Range<usize>,
        known: &Words,
        mut sequence: Sequence<'_, '_>,
        strides: Option<&Strides>,
    ) -> Option<Self> {
        let repeats = matches!(code.exit(words.end - 1), Some(Exit::Branch(target)) if target as usize == words.start);
        let again = if repeats { sequence.again() } else { None };
        let counter = again.as_ref().and_then(|_| sequence.counter());
        let moved = sequence.moved();
        let (mut segment, branch) = sequence.end_segment(known.after(code, words.end - 1));
        let Sequence { mut graph, accesses, .. } = sequence;
        let record = |op: &Op| match op {
            Op::Record(record) => Some(*record),
            _ => None,
        };
        let records = code.ops(words.clone()).iter().filter_map(record);
        let placed = |record: Record| {
            let rows = record.address.map(u32::from);
            let index = accesses.iter().position(|access| access.rows() == rows);
            Some((record, index.filter(|_| record.when.is_none())?))
        };
        let records = records.map(placed).collect::<Option<Vec<_>>>()?;
        let mut again = again.and_then(|again| again.alone(&graph, &mut segment));
        if let Some(strides) = strides {
            again = Some(further(strides, &accesses, &graph, &segment)?);
        }
        if let Some(branch) = branch.filter(|branch| branch.inverted) {
            segment.mask = Some(graph.not_mask(branch.mask));
            segment.nodes.end = graph.nodes().len();
        }
        let pairs = again.iter().flat_map(|again| &again.pairs).flat_map(|(row, _)| [*row, row + 1]);
        let written = segment.rows.iter().map(|(row, _)| *row).chain(pairs);
        let writes = written.fold(0, |all, row| all | bit(row));
        let is_written = |row: u32| writes & bit(row) != 0;
        let moved = moved.into_iter().filter(|(row, _)| is_written(*row) && is_written(row + 1)).collect();
        let counted = counter.zip(again.as_ref()).map(|(counter, again)| counter.counted(&graph, &segment, again));
        let graph = Arc::new(graph);
        let wanted = |segment, again| Wanted { graph: graph.clone(), segment, columns: WARPS, again };
        let counted = counter.zip(counted).map(|(counter, (segment, again))| Counted {
            counter,
            wanted: wanted(segment, Some(again)),
            machine: OnceLock::new(),
        });
        // Without memory only a known number of iterations is worth more than a call for each.
        let wanted = wanted(segment, again.filter(|_| !accesses.is_empty()));
        let branch = branch.map(|branch| branch.fields);
        let (full, part) = (OnceLock::new(), OnceLock::new());
        let level = code.level;
        Some(Function { wanted, words, level, full, part, counted, branch, accesses, records, writes, moved })
    }

    /// Returns the windows for the current addresses of a bundle; `None` if lanes follow no pattern.
    #[cold]
    fn windows(&self, code: &Code<'_>, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> Option<Vec<Window>> {
        let mut windows = Vec::with_capacity(self.accesses.len());
        for (index, access) in self.accesses.iter().enumerate() {
            windows.push(access.window(code.reach, bundle, view, self.stride(index))?);
        }
        Some(windows)
    }
}

/// Returns how a segment is repeated for the next dispatch. `None` if that does more than access other addresses.
fn further(strides: &Strides, accesses: &[Access], graph: &Graph, segment: &Segment) -> Option<LoopPlan> {
    if accesses.is_empty()
        || !segment.rows.is_empty()
        || segment.mask.is_some()
        || segment.reads(graph, |row| strides.moves(row))
    {
        return None;
    }
    let strides = accesses.iter().map(|access| strides.of(access.rows())).collect::<Option<_>>()?;
    Some(LoopPlan { strides, pairs: vec![], words: vec![] })
}
