//! Hot runs of instructions become machine code.
//!
//! A handler reads its sources from memory and writes its result there, for the next one to read. Where a run of handlers
//! has been executed often enough, those of them that only compute are turned into one function that keeps values in
//! registers in between, and leaves out what nobody reads. It does in each lane what the handlers do; all else (barriers,
//! budgets, and memory but for words that the lanes of a full bundle access one behind the other) stays with them.
//!
//! Each rule has a [`Recipe`](recipe::Recipe) of what it computes. A run becomes a [`Graph`](graph::Graph) of the recipes'
//! values, then [code](emit) in [memory](machine). This is for processors with AVX-512; others have the handlers alone.

mod emit;
pub mod graph;
mod live;
pub mod machine;
pub mod recipe;
pub mod window;

use std::cell::OnceCell;
use std::ops::Range;

use self::emit::{Emitted, Wanted};
use self::graph::{Graph, Kind, Value};
use self::live::Live;
use self::machine::Machine;
use self::recipe::Recipe;
use self::window::{Access, PLACES, Windows};
use super::bundle::{Bundle, Part};
use super::code::{Code, Exit};
use super::handler::{Fields, Op, handler};
use super::world::World;
use crate::level::Level;

/// How often a run is executed by handlers before it is compiled: then it has cost about as much as that.
const OFTEN: u32 = 128;
/// Words of a program, at most, and how many of them are compiled: who writes a program should not get all the memory, and
/// all the time, of who runs it.
const WORDS: usize = 1 << 15;
const COMPILED: usize = 1 << 13;
/// Counts from here on are those of blocks.
const BLOCKS: u32 = 1 << 16;
/// No block can be made of this run.
const NEVER: u32 = u32::MAX;
/// Words that are compiled together; for more, registers hardly suffice.
const LONGEST: usize = 64;

/// What was compiled of a program.
#[derive(Debug, Default)]
pub struct Hot {
    /// For each word, how often a run has begun there; or from [`BLOCKS`] on, its block.
    counts: Vec<u32>,
    often: u32,
    blocks: Vec<Block>,
    /// Words of all blocks.
    compiled: usize,
    /// Which registers are read later, once that is known.
    live: Vec<Live>,
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
    calls: Vec<Call>,
    /// All of it in one, for bundles all lanes of which are active and access memory one behind the other.
    together: Option<Box<Compiled>>,
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
    /// Executes it; false, and nothing was done, where memory is not accessed as it has to be.
    #[inline(always)]
    fn run(&self, whole: bool, bundle: &mut Bundle, world: &mut World<'_>) -> bool {
        let [some, lacking] = if !self.accesses.is_empty() {
            let Some(windows) = Windows::find(bundle, world, &self.accesses) else { return false };
            bundle.execute(&self.full, &windows)
        } else if bundle.is_full() {
            bundle.execute(&self.full, &Windows::NONE)
        } else {
            let part = self.part.get_or_init(|| Machine::new(&Emitted::part(&self.wanted)?, self.level));
            let Some(part) = part else {
                // They only compute, and never fail.
                return self.ops.iter().all(|op| op.run(whole, bundle, world));
            };
            bundle.execute(part, &Windows::NONE)
        };
        if let Some(parts) = &self.parts
            && bundle.branch(some, lacking)
        {
            parts.run(whole, bundle, world);
        }
        true
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

    /// The block that begins at a word, once that has been executed often enough.
    #[inline(always)]
    pub fn block(&mut self, code: &Code<'_>, pc: usize) -> Option<&mut Block> {
        if *self.counts.get(pc)? < BLOCKS {
            self.count(code, pc);
        }
        self.blocks.get_mut(self.counts[pc].checked_sub(BLOCKS)? as usize)
    }

    /// The blocks and where they begin, to find out how many threads have executed them.
    pub fn executed(&mut self) -> impl Iterator<Item = (usize, &mut Block)> {
        self.blocks.iter_mut().map(|block| (block.start, block))
    }

    #[cold]
    fn count(&mut self, code: &Code<'_>, pc: usize) {
        self.counts[pc] += 1;
        if self.counts[pc] > self.often {
            if self.live.is_empty() {
                self.live = live::live(code);
            }
            let fits = code.block(pc) - pc <= COMPILED - self.compiled;
            self.counts[pc] = match fits.then(|| Block::new(code, pc, &self.live)).flatten() {
                Some(block) => {
                    self.compiled += block.words();
                    self.blocks.push(block);
                    BLOCKS + self.blocks.len() as u32 - 1
                }
                None => NEVER,
            };
        }
    }
}

impl Block {
    /// Compiles the run that begins at a word; nothing when no handlers of it can be.
    fn new(code: &Code<'_>, pc: usize, live: &[Live]) -> Option<Self> {
        let end = code.block(pc);
        let mut calls = Vec::new();
        let mut first = pc;
        while first < end {
            let computes = |word: usize| code.calls(word).all(|(_, recipe)| recipe.is_some_and(Recipe::is_safe));
            let longest = end.min(first + LONGEST);
            let mut last = (first..longest).find(|&word| !computes(word)).unwrap_or(longest);
            // Half as many words need fewer registers.
            while last > first {
                if let Some(compiled) = Sequence::compile(code, first..last, live) {
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
        // What only computes is one call already.
        let together = if calls.len() > 1 { Sequence::compile(code, pc..end, live).map(Box::new) } else { None };
        let compiled = calls.iter().any(|call| !matches!(call, Call::Handler(_)));
        let exit = code.exit(end.checked_sub(1)?)?;
        compiled.then_some(Block { start: pc, end, exit, threads: 0, calls, together })
    }

    /// How many words it has.
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.end - self.start
    }

    /// Executes it; the word of the handler that failed, if one did.
    #[inline(always)]
    pub fn run(&self, whole: bool, bundle: &mut Bundle, world: &mut World<'_>) -> Option<u32> {
        if let Some(together) = &self.together
            && together.run(whole, bundle, world)
        {
            return None;
        }
        for call in &self.calls {
            match call {
                Call::Handler(op) if !op.run(whole, bundle, world) => return Some(op.pc()),
                Call::Handler(_) => {}
                Call::Compiled(compiled) => _ = compiled.run(whole, bundle, world),
            }
        }
        None
    }
}

/// Handlers that become one function.
struct Sequence<'a> {
    graph: Graph,
    constants: &'a [u32],
    level: Level,
    jumps: Option<Value>,
    parts: Option<Fields>,
    accesses: Vec<Access>,
}

impl Sequence<'_> {
    /// Compiles the handlers of some words; nothing where it cannot be done.
    fn compile(code: &Code<'_>, words: Range<usize>, live: &[Live]) -> Option<Compiled> {
        if words.len() > LONGEST {
            return None;
        }
        let (graph, constants, level) = (Graph::default(), code.constants(), code.level);
        let mut sequence = Sequence { graph, constants, level, jumps: None, parts: None, accesses: vec![] };
        let mut count = 0;
        for (fields, recipe) in words.clone().flat_map(|pc| code.calls(pc)) {
            sequence.add(fields, recipe?)?;
            count += 1;
        }
        // One handler is as fast.
        if count < 2 {
            return None;
        }
        let live = live::behind(code, words.end - 1, live);
        let written: Vec<_> = sequence.graph.written().filter(|&(row, _)| live.read & live::bit(row) != 0).collect();
        let mut rows = Vec::new();
        for (row, value) in written {
            let kind = if live.exact & live::bit(row) != 0 { Kind::Word } else { Kind::Float };
            let value = sequence.graph.take(value, kind);
            if !sequence.graph.is_row(value, row) {
                rows.push((row, value));
            }
        }
        let Sequence { graph, jumps, parts, accesses, .. } = sequence;
        let wanted = Wanted { graph, rows, jumps, places: accesses.len() };
        let full = Machine::new(&Emitted::full(&wanted)?, level)?;
        let parts = parts.map(|fields| handler::<Part>(level).with(fields));
        let ops = code.ops(words).to_vec();
        Some(Compiled { wanted, level, full, part: OnceCell::new(), ops, parts, accesses })
    }

    /// The place in memory that an instruction accesses; nothing when its address is computed on the way.
    fn place(&mut self, fields: &Fields, writes: bool) -> Option<usize> {
        for &row in &fields.sources[..2] {
            let address = self.graph.read(row, self.constants);
            if !self.graph.is_row(address, row) {
                return None;
            }
        }
        let known = self.accesses.iter().position(|access| access.is_like(fields));
        let place = known.unwrap_or_else(|| {
            self.accesses.push(Access::new(*fields, writes, self.level));
            self.accesses.len() - 1
        });
        self.accesses[place].writes |= writes;
        (place < PLACES).then_some(place)
    }

    /// Adds what a handler computes.
    fn add(&mut self, fields: &Fields, recipe: &Recipe) -> Option<()> {
        let place = if recipe.is_safe() { 0 } else { self.place(fields, matches!(recipe, Recipe::Store))? };
        let Sequence { graph, constants, .. } = self;
        let mut index = 0;
        let sources = fields.sources.map(|row| {
            let value = graph.read(row, constants);
            let kind = recipe.takes(index);
            index += 1;
            graph.take(value, kind)
        });
        let results = match recipe {
            Recipe::Word(make) | Recipe::Float(make) | Recipe::Choice(make) | Recipe::Halves(make) => {
                [Some(make(graph, sources, fields.numbers)), None]
            }
            Recipe::Long(make) => make(graph, sources, fields.numbers).map(Some),
            Recipe::Load => [Some(graph.load(place)), None],
            Recipe::Store => {
                let value = graph.read(fields.dest, constants);
                let value = graph.take(value, Kind::Word);
                graph.store(place, value);
                return Some(());
            }
            Recipe::Branch(test) => {
                let mask = test(graph, sources[0]);
                self.jumps = Some(if fields.numbers[1] != 0 { graph.not_mask(mask) } else { mask });
                self.parts = Some(*fields);
                return Some(());
            }
        };
        for (row, value) in (fields.dest..).zip(results.into_iter().flatten()) {
            graph.write(row, value);
        }
        Some(())
    }
}
