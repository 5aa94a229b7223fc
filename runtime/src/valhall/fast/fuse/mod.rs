//! Hot runs of instructions become machine code.
//!
//! A handler reads its sources from memory and writes its result there, for the next one to read. Where a run of handlers
//! has been executed often enough, those of them that only compute are turned into one function that keeps values in
//! registers in between, and leaves out what nobody reads. It does in each lane what the handlers do; all else (barriers,
//! budgets, and memory but for words that the lanes of a full bundle access one behind the other) stays with them.
//!
//! Each rule has a [`Recipe`](recipe::Recipe) of what it computes. A run becomes a [`Graph`](graph::Graph) of the recipes'
//! values, then [code](emit) in [memory](machine). This is for processors with AVX-512; others have the handlers alone.

pub mod emit;
pub mod graph;
mod live;
pub mod machine;
pub mod recipe;
mod region;
mod sequence;
pub mod window;

use std::cell::OnceCell;
use std::ops::Range;

use self::emit::{Emitted, Times, Wanted};
use self::live::Live;
use self::machine::Machine;
use self::recipe::Recipe;
use self::region::Region;
use self::sequence::Sequence;
use self::window::{Access, Windows};
use super::bundle::{Bundle, Part};
use super::code::{Code, Exit};
use super::handler::{Op, handler};
use super::world::World;
use crate::level::Level;

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
    /// Words of all that was compiled.
    compiled: usize,
    /// Which registers are read later, once that is known.
    live: Vec<Live>,
}

/// What was compiled.
#[derive(Debug)]
pub enum Made {
    /// A run of words.
    Block(Block),
    /// A loop.
    Loop(Box<Region>),
}

/// A run of words, compiled.
#[derive(Debug)]
pub struct Block {
    start: usize,
    /// The word behind it.
    pub end: usize,
    /// What follows it.
    pub exit: Exit,
    /// How many threads have executed it, modulo 2^64.
    pub threads: u64,
    pieces: Vec<Piece>,
}

/// A part of a block.
#[derive(Debug)]
struct Piece {
    /// All of it in one, for bundles all lanes of which are active and access memory one behind the other.
    together: Option<Box<Compiled>>,
    /// Otherwise.
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Call {
    Handler(Op),
    Compiled(Box<Compiled>),
}

/// Handlers that became one function.
#[derive(Debug)]
struct Compiled {
    wanted: Wanted,
    level: Level,
    /// For full bundles.
    full: Machine,
    /// For others, once there was one.
    part: OnceCell<Option<Machine>>,
    /// The handlers, if there is no such machine.
    ops: Vec<Op>,
    /// Parts the lanes, where a branch ends it and some jump and some do not.
    parts: Option<Op>,
    /// The memory that it wants to find.
    accesses: Vec<Access>,
}

impl Compiled {
    /// Executes it, and again as long as all lanes jump to its beginning, up to so many times; how often. With 0 nothing was
    /// done, since memory is not accessed as it has to be.
    #[inline(always)]
    fn run(&self, whole: bool, bundle: &mut Bundle, world: &mut World<'_>, most: u32) -> u32 {
        let mut times = Times::ONCE;
        let [some, lacking] = if !self.accesses.is_empty() {
            let (strides, most) = match &self.wanted.again {
                Some(again) => (&again.strides[..], most),
                None => (&[][..], 1),
            };
            let Some((windows, most)) = Windows::find(bundle, world, &self.accesses, strides, most) else { return 0 };
            times = Times { all: most, left: most };
            bundle.execute(&self.full, &windows, &mut times)
        } else if bundle.is_full() {
            bundle.execute(&self.full, &Windows::NONE, &mut times)
        } else {
            let part = self.part.get_or_init(|| Machine::new(&Emitted::part(&self.wanted)?, self.level));
            let Some(part) = part else {
                // They only compute, and never fail.
                self.ops.iter().for_each(|op| _ = op.run(whole, bundle, world));
                return 1;
            };
            bundle.execute(part, &Windows::NONE, &mut times)
        };
        if let Some(parts) = &self.parts
            && bundle.branch(some, lacking)
        {
            parts.run(whole, bundle, world);
        }
        (times.all - times.left).max(1)
    }
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
            if self.live.is_empty() {
                self.live = live::live(code);
            }
            let left = COMPILED - self.compiled;
            self.counts[pc] = match self.make(code, pc, left) {
                Some(made) => {
                    self.compiled += made.words();
                    self.made.push(made);
                    COUNTS + self.made.len() as u32 - 1
                }
                None => NEVER,
            };
        }
    }

    /// Compiles the loop or the run that begins at a word, if it has no more than so many words.
    fn make(&self, code: &Code<'_>, pc: usize, most: usize) -> Option<Made> {
        if let Some(region) = Region::new(code, pc, &self.live, most) {
            return Some(Made::Loop(Box::new(region)));
        }
        if code.block(pc) - pc > most {
            return None;
        }
        Block::new(code, pc, &self.live).map(Made::Block)
    }
}

impl Made {
    fn words(&self) -> usize {
        match self {
            Made::Block(block) => block.words(),
            Made::Loop(region) => region.len(),
        }
    }
}

impl Block {
    /// Compiles the run that begins at a word; nothing when no handlers of it can be.
    fn new(code: &Code<'_>, pc: usize, live: &[Live]) -> Option<Self> {
        let end = code.block(pc);
        let mut pieces = Vec::new();
        let mut first = pc;
        while first < end {
            let last = first + Sequence::reach(code, first..end.min(first + LONGEST));
            let is_safe = (first..last).all(|word| computes(code, word));
            let together = if is_safe { None } else { Compiled::new(code, first..last, live).map(Box::new) };
            let last = last.max(first + 1);
            pieces.push(Piece { together, calls: calls(code, first..last, live) });
            first = last;
        }
        let compiled = pieces
            .iter()
            .any(|piece| piece.together.is_some() || piece.calls.iter().any(|call| matches!(call, Call::Compiled(_))));
        let exit = code.exit(end.checked_sub(1)?)?;
        compiled.then_some(Block { start: pc, end, exit, threads: 0, pieces })
    }

    /// How many words it has.
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.end - self.start
    }

    /// Executes it, and again as long as all lanes go back to its beginning, up to so many times; how often, or the word of
    /// the handler that failed the first time.
    #[inline(always)]
    pub fn run(&self, whole: bool, bundle: &mut Bundle, world: &mut World<'_>, most: u32) -> Result<u32, u32> {
        let mut times = 1;
        for piece in &self.pieces {
            if let Some(together) = &piece.together {
                // Only what is all of the block is executed more often than once.
                times = together.run(whole, bundle, world, most);
                if times > 0 {
                    continue;
                }
                times = 1;
            }
            for call in &piece.calls {
                match call {
                    Call::Handler(op) if !op.run(whole, bundle, world) => return Err(op.pc()),
                    Call::Handler(_) => {}
                    Call::Compiled(compiled) => _ = compiled.run(whole, bundle, world, 1),
                }
            }
        }
        Ok(times)
    }
}

/// Whether a word only computes.
fn computes(code: &Code<'_>, word: usize) -> bool {
    code.calls(word).all(|(_, recipe)| recipe.is_some_and(Recipe::is_safe))
}

/// Compiles what only computes of some words, and leaves the others to their handlers.
fn calls(code: &Code<'_>, words: Range<usize>, live: &[Live]) -> Vec<Call> {
    let (mut calls, mut first) = (vec![], words.start);
    while first < words.end {
        let longest = words.end.min(first + LONGEST);
        let mut last = (first..longest).find(|&word| !computes(code, word)).unwrap_or(longest);
        // Half as many words need fewer registers.
        while last > first {
            if let Some(compiled) = Compiled::new(code, first..last, live) {
                calls.push(Call::Compiled(Box::new(compiled)));
                break;
            }
            last = first + (last - first) / 2;
        }
        if last == first {
            calls.extend(code.ops(first..first + 1).iter().map(|op| Call::Handler(*op)));
            last += 1;
        }
        first = last;
    }
    calls
}

impl Compiled {
    /// Compiles the handlers of some words; nothing where it cannot be done.
    fn new(code: &Code<'_>, words: Range<usize>, live: &[Live]) -> Option<Self> {
        let mut sequence = Sequence::new(code);
        let mut count = 0;
        for (fields, recipe) in words.clone().flat_map(|pc| code.calls(pc)) {
            sequence.add(fields, recipe?)?;
            count += 1;
        }
        // One handler is as fast.
        if count < 2 {
            return None;
        }
        let repeats = matches!(code.exit(words.end - 1), Some(Exit::Branch(target)) if target as usize == words.start);
        let again = if repeats && !sequence.accesses.is_empty() { sequence.again() } else { None };
        let (mut segment, branch) = sequence.end_segment(live::behind(code, words.end - 1, live));
        let Sequence { mut graph, accesses, .. } = sequence;
        let again = again.and_then(|again| again.alone(&graph, &mut segment));
        if let Some(branch) = branch.filter(|branch| branch.inverted) {
            segment.mask = Some(graph.not_mask(branch.mask));
            segment.nodes.end = graph.nodes().len();
        }
        let wanted = Wanted { graph, segment, places: accesses.len(), again };
        let full = Machine::new(&Emitted::full(&wanted)?, code.level)?;
        let parts = branch.map(|branch| handler::<Part>(code.level).with(branch.fields));
        let ops = code.ops(words).to_vec();
        Some(Compiled { wanted, level: code.level, full, part: OnceCell::new(), ops, parts, accesses })
    }
}
