//! The functions of a program.
//!
//! A launch counts how often runs of words begin, and compiles hot ones. Functions are stored with the lowered
//! program and outlive the launch.

use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::block::Block;
use super::live::Words;
use super::plan::Plan;
use super::region::{self, Region, Running};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::grid::Grid;

/// How often a run is executed by handlers before it is compiled: by then it has cost about as much as compiling it.
const OFTEN: u32 = 128;
/// The most words of a program, and the most of them that are compiled: a program must not use up the memory and the
/// time of the user who runs it.
const WORDS: usize = 1 << 15;
const COMPILED: usize = 1 << 13;
/// Counts from here on stand for functions.
const COUNTS: u32 = 1 << 16;
/// Marks a run that cannot be compiled.
const NEVER: u32 = u32::MAX;

/// The functions of a launch.
#[derive(Debug)]
pub struct CodeCache<'a> {
    /// Those of all launches of the program.
    pub shared: &'a Functions,
    /// For each word, how often a run has begun there; or, from [`COUNTS`] on, its function. Empty until the first run.
    counts: Vec<u32>,
    often: u32,
    functions: Vec<Function>,
    /// Whether a run has begun.
    begun: bool,
}

/// A function, with its state in this launch.
#[derive(Debug)]
pub enum Function {
    /// A run of words, and the number of threads that have executed it, modulo 2^64.
    Block(Arc<Block>, u64),
    /// A loop.
    Loop(Arc<Region>, Box<Running>),
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub enum Compiled {
    Block(Arc<Block>),
    Loop(Arc<Region>),
}

impl Compiled {
    fn function(&self) -> Function {
        match self {
            Compiled::Block(block) => Function::Block(block.clone(), 0),
            Compiled::Loop(region) => Function::Loop(region.clone(), Running::new(region)),
        }
    }
}

/// The functions of a program, in all its launches.
#[derive(Debug, Default)]
pub struct Functions {
    /// The properties of the words, once they were analysed.
    known: OnceLock<Arc<Words>>,
    compilations: Mutex<Compilations>,
    /// The plans of dispatches, by the inputs of launches; `None` if there is no plan.
    plans: Mutex<Vec<(Key, Option<Arc<Plan>>)>>,
    /// The number of dispatches recorded in vain since something was last compiled.
    watched: AtomicU32,
}

/// What plans depend on besides the program and its uniforms: the layout of threads and workgroups, and the bytes of
/// their memory.
pub type Key = (Grid, usize);

/// The most launch inputs for which plans are kept.
const PLANS: usize = 8;

/// The most dispatches that are recorded in vain before something else is compiled.
const WATCHED: u32 = 32;

#[derive(Debug, Default)]
struct Compilations {
    /// How often runs have begun in launches that have ended.
    counts: Vec<u32>,
    /// The number of words that were compiled, or could not be.
    words: usize,
    /// The words where runs begin, with the result of their compilation.
    runs: Vec<(usize, Option<Compiled>)>,
}

/// Locks a mutex. The data behind it is always consistent, even if a thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Functions {
    /// Returns the properties of the program's words.
    pub fn known(&self, code: &Code<'_>) -> Arc<Words> {
        self.known.get_or_init(|| Words::new(code).into()).clone()
    }

    /// Returns the plan for dispatches, if it was tried; `Some(None)` if there is no plan.
    pub fn plan(&self, key: &Key) -> Option<Option<Arc<Plan>>> {
        lock(&self.plans).iter().find(|(known, _)| known == key).map(|(_, plan)| plan.clone())
    }

    /// Keeps a plan for later launches, or the fact that there is none.
    pub fn keep_plan(&self, key: Key, plan: Option<Arc<Plan>>) {
        let mut plans = lock(&self.plans);
        if plans.iter().all(|(known, _)| *known != key) {
            plans.truncate(PLANS - 1);
            plans.push((key, plan));
        }
    }

    /// Whether dispatches are worth recording.
    pub fn are_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed) < WATCHED
    }

    /// Counts a dispatch that was recorded in vain.
    pub fn watched_in_vain(&self) {
        self.watched.fetch_add(1, Ordering::Relaxed);
    }

    /// Compiles the loop or the run that begins at a word, unless the limit would be exceeded or another launch has
    /// done it.
    pub fn compile(&self, code: &Code<'_>, pc: usize) -> Option<Compiled> {
        let known = &self.known(code);
        let mut compilations = lock(&self.compilations);
        if let Some((_, compiled)) = compilations.runs.iter().find(|(word, _)| *word == pc) {
            return compiled.clone();
        }
        let compiled = compilations.make(code, pc, known);
        if compiled.is_some() {
            self.watched.store(0, Ordering::Relaxed);
        }
        compilations.runs.push((pc, compiled.clone()));
        compiled
    }

    /// Returns the number of words where runs were compiled, or could not be.
    #[cfg(test)]
    pub fn runs(&self) -> usize {
        lock(&self.compilations).runs.len()
    }

    /// Returns the machine code of a program as text; `text` formats an instruction.
    pub fn listing(&self, text: impl Fn(u64) -> String) -> String {
        let mut runs = lock(&self.compilations).runs.clone();
        runs.sort_unstable_by_key(|(pc, _)| *pc);
        let mut listed = String::new();
        for (pc, compiled) in runs {
            let (what, words, code) = match &compiled {
                Some(Compiled::Block(block)) => ("block", block.words(), block.listing(&text)),
                Some(Compiled::Loop(region)) => ("loop", region.words.len(), region.listing(&text)),
                None => continue,
            };
            if !code.is_empty() {
                let _ = writeln!(listed, "{what} {pc}: {words} instructions\n{code}");
            }
        }
        for plan in lock(&self.plans).iter().filter_map(|(_, plan)| plan.as_ref()) {
            let code = plan.listing(&text);
            if !code.is_empty() {
                let _ = writeln!(listed, "dispatch: {} calls\n{code}", plan.steps.len());
            }
        }
        listed
    }
}

impl Compilations {
    fn make(&mut self, code: &Code<'_>, pc: usize, known: &Arc<Words>) -> Option<Compiled> {
        if let Some(words) = region::extent(code, known, pc).filter(|words| self.affords(words.len()))
            && let Some(region) = Region::new(code, words, known)
        {
            return Some(Compiled::Loop(region.into()));
        }
        let words = code.block(pc) - pc;
        let block = if self.affords(words) { Block::new(code, pc, known.clone()) } else { None };
        Some(Compiled::Block(block?.into()))
    }

    /// Counts words that are about to be compiled, unless the limit would be exceeded.
    fn affords(&mut self, words: usize) -> bool {
        let affords = words <= COMPILED - self.words;
        self.words += if affords { words } else { 0 };
        affords
    }
}

impl<'a> CodeCache<'a> {
    /// Creates the functions of a launch, none so far.
    pub fn new(shared: &'a Functions) -> Self {
        CodeCache { shared, counts: Vec::new(), often: 0, functions: Vec::new(), begun: false }
    }

    /// Starts with the functions and counts that earlier launches have left. Launches that follow a plan need neither.
    #[cold]
    fn begin(&mut self, code: &Code<'_>) {
        let often = match code.level.compiles_after(OFTEN) {
            Some(often) if code.words() <= WORDS => often,
            _ => return,
        };
        (self.counts, self.often) = (vec![0; code.words()], often);
        let compilations = lock(&self.shared.compilations);
        for (count, before) in self.counts.iter_mut().zip(&compilations.counts) {
            *count = *before;
        }
        for (pc, compiled) in &compilations.runs {
            self.put(*pc, compiled.as_ref());
        }
    }

    /// Keeps the counts for later launches.
    pub fn keep(&self) {
        let is_count = |count: &u32| (1..COUNTS).contains(count);
        if !self.counts.iter().any(is_count) {
            return;
        }
        let mut compilations = lock(&self.shared.compilations);
        compilations.counts.resize(self.counts.len(), 0);
        for (kept, count) in compilations.counts.iter_mut().zip(&self.counts).filter(|(_, count)| is_count(count)) {
            *kept = (*kept).max(*count);
        }
    }

    /// Returns the function for the words from `pc` on, once they have been executed often enough.
    #[inline(always)]
    pub fn at(&mut self, code: &Code<'_>, pc: usize) -> Option<&mut Function> {
        if !self.begun {
            self.begun = true;
            self.begin(code);
        }
        if *self.counts.get(pc)? < COUNTS {
            self.count(code, pc);
        }
        self.functions.get_mut(self.counts[pc].checked_sub(COUNTS)? as usize)
    }

    /// Returns runs of words with the number of threads that have executed them, by mutable reference so that they
    /// can be reset.
    pub fn executed(&mut self) -> impl Iterator<Item = (Range<usize>, u64)> {
        self.functions.iter_mut().flat_map(|function| {
            let (block, blocks) = match function {
                Function::Block(block, threads) => (Some((block.start..block.end, threads)), None),
                Function::Loop(region, running) => {
                    (None, Some(region.blocks.iter().cloned().zip(&mut running.threads)))
                }
            };
            let blocks = block.into_iter().chain(blocks.into_iter().flatten());
            blocks.map(|(words, threads)| (words, std::mem::take(threads)))
        })
    }

    #[cold]
    fn count(&mut self, code: &Code<'_>, pc: usize) {
        self.counts[pc] += 1;
        if self.counts[pc] > self.often {
            let compiled = self.shared.compile(code, pc);
            self.put(pc, compiled.as_ref());
        }
    }

    fn put(&mut self, pc: usize, compiled: Option<&Compiled>) {
        let number = match compiled {
            Some(compiled) => {
                self.functions.push(compiled.function());
                COUNTS + self.functions.len() as u32 - 1
            }
            None => NEVER,
        };
        if let Some(count) = self.counts.get_mut(pc) {
            *count = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::level::Level;
    use crate::valhall::program::Program;

    #[test]
    fn what_runs_seldom_in_each_launch_is_compiled_after_many() {
        let Some(often) = Level::best().compiles_after(OFTEN) else { return };
        let text = "IADD_IMM.i32 r0, r0, #0x5555\nIADD.u32 r0, r0, u0\nNOP.end";
        let words = assemble(isaforge_valhall::ISA, text).unwrap();
        let program = Program::new(&words);
        let code = Code::new(&program, &[3], 1, Level::best());
        let functions = Functions::default();
        let launches = (0..=often).take_while(|_| {
            let mut cache = CodeCache::new(&functions);
            let found = cache.at(&code, 0).is_some();
            cache.keep();
            !found
        });
        assert_eq!(launches.count(), often as usize);
    }
}
