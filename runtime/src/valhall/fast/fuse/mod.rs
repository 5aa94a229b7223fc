//! Hot runs of instructions become machine code.
//!
//! A handler reads its sources from memory and writes its result there, for the next one to read. Where a run of handlers
//! has been executed often enough, those of them that only compute are turned into one function that keeps values in
//! registers in between, and leaves out what nobody reads. It does in each lane what the handlers do; all else (barriers,
//! budgets, and memory but for words that the lanes of a full bundle access one behind the other) stays with them.
//!
//! A [loop](region) that only computes becomes one function as a whole: its lanes part and meet there. Where it ends, and
//! how often it has been executed, is what the handlers would have found. All else is compiled from jump to jump, in
//! [blocks](block).
//!
//! Each rule has a [`Recipe`](recipe::Recipe) of what it computes. A [`Sequence`](sequence::Sequence) of instructions
//! becomes a [`Graph`](graph::Graph) of the recipes' values, then [code](emit) in [memory](machine). This is for processors
//! with AVX-512; others have the handlers alone.

mod block;
mod check;
pub mod emit;
pub mod graph;
mod live;
pub mod machine;
pub mod recipe;
mod region;
mod sequence;
pub mod window;

use std::ops::Range;
use std::sync::Arc;

use self::block::Block;
use self::live::Live;
use self::region::Region;
use super::code::Code;

/// How often a run is executed by handlers before it is compiled: then it has cost about as much as that.
const OFTEN: u32 = 128;
/// Words of a program, at most, and how many of them are compiled: who writes a program should not get all the memory, and
/// all the time, of who runs it.
const WORDS: usize = 1 << 15;
const COMPILED: usize = 1 << 13;
/// Counts from here on are those of what was compiled.
const COUNTS: u32 = 1 << 16;
/// Nothing can be made of this run.
const NEVER: u32 = u32::MAX;
/// Words that are compiled together; for more, registers hardly suffice.
const LONGEST: usize = 64;

/// What was compiled of a program.
#[derive(Debug, Default)]
pub struct Hot {
    /// For each word, how often a run has begun there; or from [`COUNTS`] on, what it became.
    counts: Vec<u32>,
    often: u32,
    made: Vec<Made>,
    /// Words that were compiled, or could not be.
    compiled: usize,
    /// Which registers are read later, once that is known.
    live: Option<Arc<[Live]>>,
}

/// What was compiled.
#[derive(Debug)]
pub enum Made {
    /// A run of words.
    Block(Block),
    /// A loop.
    Loop(Box<Region>),
}

impl Hot {
    /// Nothing yet.
    pub fn new(code: &Code<'_>) -> Self {
        match code.level.compiles_after(OFTEN) {
            Some(often) if code.words() <= WORDS => Hot { counts: vec![0; code.words()], often, ..Hot::default() },
            _ => Hot::default(),
        }
    }

    /// What was made of the words from one on, once they have been executed often enough.
    #[inline(always)]
    pub fn at(&mut self, code: &Code<'_>, pc: usize) -> Option<&mut Made> {
        if *self.counts.get(pc)? < COUNTS {
            self.count(code, pc);
        }
        self.made.get_mut(self.counts[pc].checked_sub(COUNTS)? as usize)
    }

    /// Runs of words and how many threads have executed them, to take that away.
    pub fn executed(&mut self) -> impl Iterator<Item = (Range<usize>, u64)> {
        self.made.iter_mut().flat_map(|made| {
            let (block, blocks) = match made {
                Made::Block(block) => (Some((block.start..block.end, &mut block.threads)), &mut [][..]),
                Made::Loop(region) => (None, &mut region.blocks[..]),
            };
            let blocks = blocks.iter_mut().map(|(words, threads)| (words.clone(), threads));
            block.into_iter().chain(blocks).map(|(words, threads)| (words, std::mem::take(threads)))
        })
    }

    #[cold]
    fn count(&mut self, code: &Code<'_>, pc: usize) {
        self.counts[pc] += 1;
        if self.counts[pc] > self.often {
            self.counts[pc] = match self.make(code, pc) {
                Some(made) => {
                    self.made.push(made);
                    COUNTS + self.made.len() as u32 - 1
                }
                None => NEVER,
            };
        }
    }

    /// Compiles the loop or the run that begins at a word, unless it would be too much.
    fn make(&mut self, code: &Code<'_>, pc: usize) -> Option<Made> {
        let live = self.live.get_or_insert_with(|| live::live(code).into()).clone();
        if let Some(words) = region::extent(code, pc).filter(|words| self.affords(words.len()))
            && let Some(region) = Region::new(code, words, &live)
        {
            return Some(Made::Loop(Box::new(region)));
        }
        let words = code.block(pc) - pc;
        if self.affords(words) { Block::new(code, pc, live).map(Made::Block) } else { None }
    }

    /// Counts words that are about to be compiled, if there may be so many.
    fn affords(&mut self, words: usize) -> bool {
        let affords = words <= COMPILED - self.compiled;
        self.compiled += if affords { words } else { 0 };
        affords
    }
}
