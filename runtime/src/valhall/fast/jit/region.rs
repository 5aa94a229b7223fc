//! Loops that only compute: each becomes one function that runs until the loop ends.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::MAX_SEQUENCE;
use super::block::Block;
use super::live::{Live, Words};
use super::sequence::Sequence;
use crate::exec::jit::lanes::emit::{self, Emitted, Leave, Loop, PLACES, State};
use crate::exec::jit::lanes::function::LoopFn;
use crate::level::Level;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::exit::Exit;
use crate::valhall::warp::LANES;

/// The most words of a loop.
const WORDS: usize = 256;

/// A compiled loop.
#[derive(Debug)]
pub struct Region {
    /// The words of the loop.
    pub words: Range<usize>,
    /// The words at its places: first those inside the loop, in order, then those after it.
    places: Vec<u32>,
    /// The number of places inside the loop.
    inside: usize,
    /// The words of each block.
    pub blocks: Vec<Range<usize>>,
    wanted: Loop,
    level: Level,
    /// The loop as a block, for bundles whose lanes all iterate equally often.
    counted: Option<Block>,
    /// The code for all other bundles, created when first needed if there is a block.
    function: OnceLock<Option<LoopFn>>,
    /// The code for fewer warps, created once lanes were found to iterate at different times.
    narrow: OnceLock<Option<LoopFn>>,
}

/// The state of a loop within a launch.
#[derive(Debug)]
pub struct Running {
    /// For each block, the number of threads that have executed it, modulo 2^64.
    pub threads: Vec<u64>,
    state: State,
    /// The number of executed words, and of those for warps with active lanes.
    executed: u64,
    busy: u64,
    /// Whether fewer warps run side by side.
    narrow: bool,
}

/// The number of words after which it is decided how many warps run side by side.
const DECIDED_AFTER: u64 = 1 << 15;
/// The number of warps that run side by side if many of them would wait for others.
const FEW_WARPS: usize = 2;

/// What was executed of a loop.
#[derive(Debug, Default)]
pub struct Ran {
    /// The words, summed over threads.
    pub threads: u64,
    /// The words, summed over warps.
    pub warps: u64,
    /// The word at which all formerly active lanes are; `None` if the lanes to execute next must be chosen again.
    pub next: Option<u32>,
}

impl Running {
    /// Nothing has been executed yet.
    pub fn new(region: &Region) -> Box<Self> {
        let threads = vec![0; region.blocks.len()];
        Box::new(Running { threads, state: State::default(), executed: 0, busy: 0, narrow: false })
    }

    /// Records what was executed. If much of it was in vain, fewer warps run side by side from now on.
    fn note(&mut self, executed: u64, busy: u64) {
        (self.executed, self.busy) = (self.executed + executed, self.busy + busy);
        if self.executed >= DECIDED_AFTER {
            self.narrow |= self.busy < self.executed / 8 * 7;
            (self.executed, self.busy) = (0, 0);
        }
    }
}

impl Region {
    /// Compiles the loop of some words. `None` if that is not possible.
    pub fn new(code: &Code<'_>, words: Range<usize>, known: &Arc<Words>) -> Option<Self> {
        // A trace keeps values in registers across blocks, and may need too many.
        let compiled = Region::compile(code, words.clone(), known, true);
        compiled.or_else(|| Region::compile(code, words, known, false))
    }

    fn compile(code: &Code<'_>, words: Range<usize>, known: &Arc<Words>, traces: bool) -> Option<Self> {
        let mut region = Region::analyse(code, words.clone(), known, traces)?;
        region.counted = Block::counted(code, words, known.clone());
        if region.counted.is_none() {
            region.machine()?;
        }
        Some(region)
    }

    fn analyse(code: &Code<'_>, words: Range<usize>, known: &Words, traces: bool) -> Option<Self> {
        let (places, starts) = outline(code, &words)?;
        let inside = places.iter().filter(|&&place| (place as usize) < words.end).count();
        let at = |word: usize| places.iter().position(|&place| place as usize == word);
        let read = |place: &u32| known.live.get(*place as usize).map_or(u64::MAX, |live| live.read);
        let mut sequence = Sequence::new(code);
        let (mut blocks, mut continues) = (vec![], false);
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(words.end);
            (start..end).try_for_each(|pc| sequence.add(pc))?;
            let exit = code.exit(end - 1)?;
            sequence.leave(exit.target().is_some_and(|target| target < end));
            let is_continued =
                traces && end < words.end && at(end).is_none() && matches!(exit, Exit::Next | Exit::Branch(_));
            let (segment, branch) = if is_continued {
                sequence.end_part(exit.target().map_or(Live::NONE, |target| known.before(target)))
            } else {
                sequence.end_segment(known.after(code, end - 1))
            };
            let leave = match (exit, branch) {
                (Exit::Next, None) => Leave::Next,
                (Exit::Jump(target), None) => Leave::Jump(at(target as usize)?),
                (Exit::Branch(target), Some(branch)) => Leave::Branch(at(target as usize)?, branch.inverted),
                _ => return None,
            };
            let past = places.iter().filter(|&&place| place as usize >= end);
            let masked = past.clone().fold(0, |all, place| all | read(place));
            let next = places.len() - past.count();
            let (words, place) = ((end - start) as u32, at(start));
            blocks.push(emit::Block { segment, words, place, next, leave, masked, continues });
            continues = is_continued;
        }
        let read = places.iter().fold(0, |all, place| all | read(place));
        let Sequence { graph, .. } = sequence;
        let wanted = Loop { graph, columns: WARPS, blocks, end: at(words.end)?, read };
        let (level, function, narrow) = (code.level, OnceLock::new(), OnceLock::new());
        let ends = starts.iter().skip(1).copied().chain([words.end]);
        let blocks = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        Some(Region { words, places, inside, blocks, wanted, level, function, counted: None, narrow })
    }

    /// Returns the loop as a block, if `room` words suffice and all lanes of a bundle are about to execute it equally
    /// often.
    pub fn counted(&self, bundle: &Bundle, room: usize) -> Option<&Block> {
        self.counted.as_ref().filter(|block| block.words() <= room && block.is_counted(bundle))
    }

    /// Executes the loop, with at most `room` words for each warp. `None` if that is too little, or if other lanes
    /// wait inside the loop at a word that is not a place. With `alone`, other lanes inside the loop always prevent
    /// it.
    pub fn run(&self, running: &mut Running, bundle: &mut Bundle, room: u32, alone: bool) -> Option<Ran> {
        let others = (bundle.others as usize) < self.words.end;
        bundle.write_waiting();
        let room = if others { room.min(bundle.room_of_chosen()) } else { room };
        // The whole loop may be executed between two checks of the budget.
        if room < self.words.len() as u32 || others && (alone || !self.covers_waiting(bundle)) {
            return None;
        }
        let function = self.function(running)?;
        bundle.settle();
        bundle.patterns.forget();
        let (mut ran, mut common) = (Ran::default(), None);
        let mut together = !others;
        let ways = function.ways();
        for first in (0..WARPS).step_by(ways) {
            let (state, before) = (&mut running.state, ran.warps);
            if others {
                self.find(state, bundle, first, ways);
            } else {
                state.waiting[0] = lanes(&bundle.active, first, ways);
            }
            let entry = state.waiting.iter().fold(0, |all, lanes| all | lanes);
            if entry == 0 {
                continue;
            }
            (state.entry, state.room) = (entry, room);
            function.run(&mut bundle.rows, first, state);
            let place = state.waiting.iter().position(|&lanes| lanes == entry);
            if together && (place.is_none() || common.is_some() && common != place) {
                together = false;
                if let Some(place) = common {
                    (0..first).for_each(|warp| bundle.set_pcs(warp, bundle.active[warp], self.places[place]));
                }
            }
            common = place;
            let waiting = std::mem::take(&mut state.waiting);
            for (&pc, lanes) in self.places.iter().zip(waiting).filter(|_| !together) {
                (0..ways).for_each(|way| bundle.set_pcs(first + way, (lanes >> (LANES * way)) as u16, pc));
            }
            // Each warp has its own turn, which determines where the reference fails first.
            for (turn, spent) in bundle.turns[first..].iter_mut().zip(std::mem::take(&mut state.spent)) {
                *turn += spent;
            }
            let blocks = self.blocks.iter().zip(&mut running.threads).zip(&mut state.counts);
            for ((words, threads), count) in blocks {
                let count = std::mem::take(count);
                *threads = threads.wrapping_add(count & 0xffff_ffff);
                ran.threads += (count & 0xffff_ffff) * words.len() as u64;
                ran.warps += (count >> 32) * words.len() as u64;
            }
            running.note(u64::from(room.saturating_sub(running.state.room)) * ways as u64, ran.warps - before);
        }
        ran.next = common.filter(|_| together).map(|place| self.places[place]);
        Some(ran)
    }

    /// Returns the machine code as text.
    pub fn listing(&self, text: &impl Fn(u64) -> String) -> String {
        let loops = [self.function.get(), self.narrow.get()].into_iter().flatten().flatten();
        let counted = self.counted.iter().map(|block| block.listing(text));
        loops.map(|code| code.listing(text)).chain(counted).collect()
    }

    /// Returns the code for the best number of warps side by side.
    fn function(&self, running: &Running) -> Option<&LoopFn> {
        let function = self.machine()?;
        let narrow = || LoopFn::new(&Emitted::looped_of(&self.wanted, FEW_WARPS)?, FEW_WARPS, self.level);
        match running.narrow && function.ways() > FEW_WARPS {
            true => self.narrow.get_or_init(narrow).as_ref().or(Some(function)),
            false => Some(function),
        }
    }

    /// Returns the code for as many warps side by side as there are registers for.
    fn machine(&self) -> Option<&LoopFn> {
        let compile = || {
            let (emitted, ways) = Emitted::looped(&self.wanted)?;
            LoopFn::new(&emitted, ways, self.level)
        };
        self.function.get_or_init(compile).as_ref()
    }

    /// Whether all lanes that wait inside the loop do so at its places.
    fn covers_waiting(&self, bundle: &Bundle) -> bool {
        waiting(bundle).all(|(_, _, pc)| pc as usize >= self.words.end || self.places[..self.inside].contains(&pc))
    }

    /// Determines where the lanes of some warps are.
    fn find(&self, state: &mut State, bundle: &Bundle, first: usize, ways: usize) {
        state.waiting[0] = lanes(&bundle.active, first, ways);
        for (warp, lane, pc) in waiting(bundle).filter(|(warp, ..)| (first..first + ways).contains(warp)) {
            if let Some(place) = self.places[..self.inside].iter().position(|&place| place == pc) {
                state.waiting[place] |= 1 << (LANES * (warp - first) + lane);
            }
        }
    }
}

/// Iterates over the inactive lanes of the chosen warps, with the words at which they wait.
fn waiting(bundle: &Bundle) -> impl Iterator<Item = (usize, usize, u32)> {
    let chosen = (0..WARPS).filter(|&warp| bundle.chosen >> warp & 1 != 0);
    chosen.flat_map(move |warp| {
        let lanes = crate::valhall::warp::lanes(bundle.live[warp] & !bundle.active[warp]);
        lanes.map(move |lane| (warp, lane, bundle.pcs(warp)[lane]))
    })
}

/// Returns the lanes of adjacent warps as contiguous bits.
fn lanes(all: &[u16; WARPS], first: usize, ways: usize) -> u64 {
    all[first..first + ways].iter().rev().fold(0, |lanes, &more| lanes << LANES | u64::from(more))
}

/// Returns the words of the loop that begins at a word, if it only computes; `None` if there is none.
pub fn extent(code: &Code<'_>, known: &Words, pc: usize) -> Option<Range<usize>> {
    let to = |word: usize| code.exit(word).and_then(Exit::target);
    let last = (pc..code.words().min(pc + WORDS)).rev().find(|&word| to(word) == Some(pc))?;
    let stays = |word: usize| match code.exit(word) {
        Some(Exit::Next) => word < last,
        exit => exit.and_then(Exit::target).is_some_and(|target| target >= pc),
    };
    (pc..=last).all(|word| stays(word) && known.computes(word)).then_some(pc..last + 1)
}

/// Returns the places of a loop where lanes may wait, and the words at which its blocks begin; `None` if there are
/// too many.
fn outline(code: &Code<'_>, words: &Range<usize>) -> Option<(Vec<u32>, Vec<usize>)> {
    let (mut places, mut starts) = (vec![words.start, words.end], vec![words.start]);
    for word in words.clone() {
        if let Some(target) = code.exit(word).and_then(Exit::target) {
            places.push(target);
            starts.extend([target, word + 1]);
            if target <= word {
                places.push(word + 1);
            }
        }
    }
    starts.extend(words.clone().skip(MAX_SEQUENCE).step_by(MAX_SEQUENCE));
    for list in [&mut places, &mut starts] {
        list.sort_unstable();
        list.dedup();
    }
    starts.retain(|&start| start < words.end);
    let fits = places.len() <= PLACES && starts.len() <= PLACES;
    fits.then(|| (places.into_iter().map(|place| place as u32).collect(), starts))
}

#[cfg(test)]
mod tests {
    use isaforge_core::program::assemble;

    use super::*;
    use crate::exec::jit::lanes::host::Host;
    use crate::valhall::fast::jit::live::Words;
    use crate::valhall::program::Program;

    /// Returns how many warps the loop at a word of a program executes side by side, if it can be compiled.
    fn ways(text: &str, pc: usize) -> Option<usize> {
        let words = assemble(isaforge_valhall::ISA, text).unwrap();
        let program = Program::new(&words);
        let code = Code::new(&program, &[0, 0, 3, 4], 1, Level::best());
        let known = Arc::new(Words::new(&code));
        let region = Region::new(&code, extent(&code, &known, pc)?, &known)?;
        Some(region.machine()?.ways())
    }

    #[test]
    fn the_fewer_registers_a_loop_has_the_more_warps_go_side_by_side() {
        // Refusing a loop only costs time, which no other test notices.
        let expected = match Host::of(Level::best()) {
            Some(Host::Avx512) => [(2, Some(4)), (8, Some(2)), (20, Some(1)), (40, Some(1))],
            Some(Host::Avx2) => [(1, Some(2)), (2, Some(1)), (20, Some(1)), (40, Some(1))],
            None => return,
        };
        for (registers, expected) in expected {
            let sums: String = (2..2 + registers).map(|r| format!("IADD.u32 r{r}, r{r}, r1\n")).collect();
            let stores: String =
                (2..2 + registers).map(|r| format!("STORE.i32.slot0 @r{r}, r62, offset:{r}\n")).collect();
            let text = format!(
                "IADD_IMM.i32 r0, 0x0, #0x9
                again: {sums} BRANCHZ.reconverge r1, offset:skip
                IADD.u32 r2, r2, u2
                skip: IADD_IMM.i32 r0, r0, #0xffffffff
                BRANCHZ.reconverge r0, offset:again
                {stores} NOP.end"
            );
            assert_eq!(ways(&text, 1), expected, "{registers} registers");
        }
    }

    #[test]
    fn loops_of_one_block_may_be_counted() {
        if !Level::best().compiles() {
            return;
        }
        let counts = |text: &str| {
            let words = assemble(isaforge_valhall::ISA, text).unwrap();
            let program = Program::new(&words);
            let code = Code::new(&program, &[0, 0, 3, 4], 1, Level::best());
            let known = Arc::new(Words::new(&code));
            let words = extent(&code, &known, 1).unwrap();
            Region::new(&code, words, &known).unwrap().counted.is_some()
        };
        let store = "STORE.i32.slot0.end @r2, r62, offset:0";
        let sums = "IADD_IMM.i32 r0, 0x0, #0x9\nagain: IADD.u32 r2, r2, r3";
        let less = "IADD_IMM.i32 r0, r0, #0xffffffff";
        let back = "BRANCHZ.reconverge r0, offset:again";
        let compared = "ICMP.u32.lt.m1 r7, u2, r0, 0x0\nBRANCHZ.reconverge r7, offset:again";
        assert!(counts(&format!("{sums}\n{less}\n{back}\n{store}")));
        assert!(counts(&format!("{sums}\n{less}\n{compared}\n{store}")));
        // The counter is not the same number less each time, or lanes part in the loop.
        assert!(!counts(&format!("{sums}\nIADD.u32 r0, r0, r2\n{back}\n{store}")));
        assert!(!counts(&format!("{sums}\nBRANCHZ.reconverge r2, offset:1\n{less}\n{less}\n{back}\n{store}")));
        assert!(!counts(&format!("{sums}\nBRANCHZ.reconverge r2, offset:after\n{less}\n{back}\nafter: {store}")));
    }

    #[test]
    fn what_reaches_memory_or_jumps_to_words_before_is_no_such_loop() {
        let counted = "IADD_IMM.i32 r0, r0, #0xffffffff\nBRANCHZ.reconverge r0, offset:again\nNOP.end";
        assert_eq!(ways(&format!("NOP\nagain: LOAD.i32.unsigned.slot0 @r1, r62, offset:0\n{counted}"), 1), None);
        assert_eq!(ways(&format!("before: NOP\nagain: BRANCHZ.reconverge r1, offset:before\n{counted}"), 1), None);
    }
}
