//! Which functions a program has, and for how long they are kept.
//!
//! A launch counts how often runs of words begin, and compiles those that are hot. Functions stay when the launch has
//! ended: the next launch of the same words, with the same uniforms and at the same level, begins with them. The constants
//! of a function are the uniforms, so other uniforms are another program.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::code::{Code, Given};
use super::block::Block;
use super::live::Words;
use super::region::{self, Region, Running};
use crate::level::Level;

/// How often a run is executed by handlers before it is compiled: then it has cost about as much as that.
const OFTEN: u32 = 128;
/// Words of a program, at most, and how many of them are compiled: who writes a program should not get all the memory, and
/// all the time, of who runs it.
const WORDS: usize = 1 << 15;
const COMPILED: usize = 1 << 13;
/// Programs whose functions are kept, and how many words they have together, at most.
const KEPT: usize = 64;
const KEPT_WORDS: usize = 1 << 16;
/// Counts from here on are those of functions.
const COUNTS: u32 = 1 << 16;
/// This run cannot be compiled.
const NEVER: u32 = u32::MAX;

/// The functions of a launch.
#[derive(Debug, Default)]
pub struct CodeCache {
    /// For each word, how often a run has begun there; or from [`COUNTS`] on, its function.
    counts: Vec<u32>,
    often: u32,
    functions: Vec<Function>,
    /// What stays when the launch has ended, once there is any.
    kept: Option<Arc<Kept>>,
}

/// A function, and what this launch has of its own beside it.
#[derive(Debug)]
pub enum Function {
    /// A run of words, and how many threads have executed it, modulo 2^64.
    Block(Arc<Block>, u64),
    /// A loop.
    Loop(Arc<Region>, Box<Running>),
}

/// What was compiled.
#[derive(Clone, Debug)]
enum Compiled {
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

/// All that functions depend on.
#[derive(Debug)]
struct Key {
    words: Box<[u64]>,
    uniforms: Box<[u32]>,
    warps: u32,
    framebuffer_size: u64,
    draws: bool,
    keeps_all: bool,
    level: Level,
}

impl Key {
    fn new(code: &Code<'_>) -> Self {
        let Given { uniforms, warps, framebuffer_size, draws } = code.given;
        let (words, keeps_all) = (code.program.words.into(), code.keeps_all());
        Key { words, uniforms: uniforms.into(), warps, framebuffer_size, draws, keeps_all, level: code.level }
    }

    fn is_of(&self, code: &Code<'_>) -> bool {
        let Given { uniforms, warps, framebuffer_size, draws } = code.given;
        (self.warps, self.framebuffer_size, self.draws) == (warps, framebuffer_size, draws)
            && (self.keeps_all, self.level) == (code.keeps_all(), code.level)
            && *self.uniforms == *uniforms
            && *self.words == *code.program.words
    }
}

/// The functions of a program.
#[derive(Debug)]
struct Kept {
    key: Key,
    /// What is known of the words, once that was found out.
    known: OnceLock<Arc<Words>>,
    compilations: Mutex<Compilations>,
}

#[derive(Debug, Default)]
struct Compilations {
    /// How often runs have begun in launches that have ended.
    counts: Vec<u32>,
    /// Words that were compiled, or could not be.
    words: usize,
    /// The words where runs begin, and what they became.
    runs: Vec<(usize, Option<Compiled>)>,
}

/// The programs whose functions are kept, those used last behind.
#[derive(Debug, Default)]
struct Programs(VecDeque<Arc<Kept>>);

static PROGRAMS: Mutex<Programs> = Mutex::new(Programs(VecDeque::new()));

/// Nothing that is behind a lock is ever half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Programs {
    /// The functions of a program, if they are kept.
    fn find(&mut self, code: &Code<'_>) -> Option<Arc<Kept>> {
        let at = self.0.iter().rposition(|kept| kept.key.is_of(code))?;
        let kept = self.0.remove(at)?;
        self.0.push_back(kept.clone());
        Some(kept)
    }

    /// The same; those of other programs are dropped for it where they are too many.
    fn find_or_add(&mut self, code: &Code<'_>) -> Arc<Kept> {
        if let Some(kept) = self.find(code) {
            return kept;
        }
        let kept = Arc::new(Kept { key: Key::new(code), known: OnceLock::new(), compilations: Mutex::default() });
        self.0.push_back(kept.clone());
        while self.0.len() > KEPT || self.words() > KEPT_WORDS {
            self.0.pop_front();
        }
        kept
    }

    /// The words of all programs.
    fn words(&self) -> usize {
        self.0.iter().map(|kept| kept.key.words.len()).sum()
    }
}

impl Kept {
    /// Compiles the loop or the run that begins at a word, unless it would be too much, or another launch has done it.
    fn compile(&self, code: &Code<'_>, pc: usize) -> Option<Compiled> {
        let known = self.known.get_or_init(|| Words::new(code).into());
        let mut compilations = lock(&self.compilations);
        if let Some((_, compiled)) = compilations.runs.iter().find(|(word, _)| *word == pc) {
            return compiled.clone();
        }
        let compiled = compilations.make(code, pc, known);
        compilations.runs.push((pc, compiled.clone()));
        compiled
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

impl CodeCache {
    /// What earlier launches have left of a program.
    pub fn new(code: &Code<'_>) -> Self {
        let often = match code.level.compiles_after(OFTEN) {
            Some(often) if code.words() <= WORDS => often,
            _ => return CodeCache::default(),
        };
        let mut cache = CodeCache { counts: vec![0; code.words()], often, ..CodeCache::default() };
        if let Some(kept) = lock(&PROGRAMS).find(code) {
            let compilations = lock(&kept.compilations);
            for (count, before) in cache.counts.iter_mut().zip(&compilations.counts) {
                *count = *before;
            }
            for (pc, compiled) in &compilations.runs {
                cache.put(*pc, compiled.as_ref());
            }
            cache.kept = Some(kept.clone());
        }
        cache
    }

    /// Leaves what was counted to later launches.
    pub fn keep(&mut self, code: &Code<'_>) {
        let is_count = |count: &u32| (1..COUNTS).contains(count);
        if !self.counts.iter().any(is_count) {
            return;
        }
        let kept = self.kept.get_or_insert_with(|| lock(&PROGRAMS).find_or_add(code));
        let mut compilations = lock(&kept.compilations);
        compilations.counts.resize(self.counts.len(), 0);
        for (kept, count) in compilations.counts.iter_mut().zip(&self.counts).filter(|(_, count)| is_count(count)) {
            *kept = (*kept).max(*count);
        }
    }

    /// What was made of the words from one on, once they have been executed often enough.
    #[inline(always)]
    pub fn at(&mut self, code: &Code<'_>, pc: usize) -> Option<&mut Function> {
        if *self.counts.get(pc)? < COUNTS {
            self.count(code, pc);
        }
        self.functions.get_mut(self.counts[pc].checked_sub(COUNTS)? as usize)
    }

    /// Runs of words and how many threads have executed them, to take that away.
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
            let kept = self.kept.get_or_insert_with(|| lock(&PROGRAMS).find_or_add(code));
            let compiled = kept.compile(code, pc);
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
    use crate::valhall::program::Program;

    /// How many functions are kept of a program; then the first run is compiled.
    fn found(programs: &mut Programs, words: &[u64], uniforms: &[u32]) -> usize {
        let program = Program::new(words);
        let code = Code::new(&program, uniforms, 1, Level::best());
        let found = programs.find(&code).map_or(0, |kept| lock(&kept.compilations).runs.len());
        programs.find_or_add(&code).compile(&code, 0);
        found
    }

    #[test]
    fn functions_are_those_of_the_same_program_with_the_same_uniforms() {
        let text = "IADD_IMM.i32 r0, r0, #0x7\nIADD.u32 r0, r0, u0\nSTORE.i32.slot0.end @r0, r62, offset:0";
        let words = assemble(isaforge_valhall::ISA, text).unwrap();
        let mut programs = Programs::default();
        for (words, uniform, expected) in [(&words[..], 1, 0), (&words, 1, 1), (&words, 2, 0), (&words[1..], 1, 0)] {
            assert_eq!(found(&mut programs, words, &[uniform]), expected, "{} words, u0 = {uniform}", words.len());
        }
    }

    #[test]
    fn what_runs_seldom_in_each_launch_is_compiled_after_many() {
        let Some(often) = Level::best().compiles_after(OFTEN) else { return };
        let text = "IADD_IMM.i32 r0, r0, #0x5555\nIADD.u32 r0, r0, u0\nNOP.end";
        let words = assemble(isaforge_valhall::ISA, text).unwrap();
        let program = Program::new(&words);
        let code = Code::new(&program, &[3], 1, Level::best());
        let launches = (0..=often).take_while(|_| {
            let mut cache = CodeCache::new(&code);
            let found = cache.at(&code, 0).is_some();
            cache.keep(&code);
            !found
        });
        assert_eq!(launches.count(), often as usize);
    }

    #[test]
    fn programs_used_long_ago_are_dropped() {
        let words = assemble(isaforge_valhall::ISA, "IADD.u32 r0, r0, u0\nNOP.end").unwrap();
        let mut programs = Programs::default();
        for uniform in 1..=2 * KEPT as u32 {
            found(&mut programs, &words, &[uniform]);
            // Who is asked for all the time stays.
            assert_eq!(found(&mut programs, &words, &[0]), usize::from(uniform > 1));
        }
        assert_eq!(programs.0.len(), KEPT);
        let long = words.repeat(KEPT_WORDS / 4);
        found(&mut programs, &long, &[1]);
        found(&mut programs, &long, &[2]);
        assert!(programs.words() <= KEPT_WORDS);
    }
}
