//! Liveness of registers, and whether it matters which NaN they hold.
//!
//! Registers named by instructions that are not compiled count as read everywhere: some of these instructions access
//! the registers of other lanes, which take another path through the program.

use std::ops::BitOr;

use isaforge_valhall::semantics::SEMANTICS;

use super::word::Word;
use crate::exec::jit::lanes::graph::Graph;
use crate::valhall::fast::code::Code;
use crate::valhall::fast::exit::Exit;

/// Sets of registers, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// The registers that are read.
    pub read: u64,
    /// The registers whose NaNs must be canonical, since they are not only read as floats.
    pub exact: u64,
}

impl Live {
    /// No registers are read.
    pub const NONE: Self = Live { read: 0, exact: 0 };

    fn all(registers: u64) -> Self {
        Live { read: registers, exact: registers }
    }
}

impl BitOr for Live {
    type Output = Live;

    fn bitor(self, other: Live) -> Live {
        Live { read: self.read | other.read, exact: self.exact | other.exact }
    }
}

/// The most passes over all words. Each nested backward jump needs another one.
const PASSES: usize = 64;

/// What is known of the words of a program.
#[derive(Debug)]
pub struct Words {
    /// The properties of each word; `None` if it cannot be compiled.
    words: Vec<Option<Word>>,
    /// The registers live before each word, with an additional entry for the end of the program.
    pub live: Vec<Live>,
}

impl Words {
    /// Analyses a program.
    pub fn new(code: &Code<'_>) -> Self {
        let is_compiled =
            |pc: usize| matches!(code.exit(pc), Some(Exit::Next | Exit::Jump(_) | Exit::Branch(_) | Exit::End));
        let mut graph = Graph::new(SEMANTICS, code.level);
        let mut word = |pc: usize| if is_compiled(pc) { Word::new(code, pc, &mut graph) } else { None };
        let words: Vec<_> = (0..code.words()).map(&mut word).collect();
        let live = live(code, &words);
        Words { words, live }
    }

    /// Whether a word can be compiled and does not access memory.
    pub fn computes(&self, pc: usize) -> bool {
        self.words.get(pc).is_some_and(|word| word.is_some_and(|word| !word.accesses))
    }

    /// Returns the registers that are live before a word.
    pub fn before(&self, pc: usize) -> Live {
        self.live.get(pc).copied().unwrap_or(Live::all(u64::MAX))
    }

    /// Returns the registers that are live after a word.
    pub fn after(&self, code: &Code<'_>, pc: usize) -> Live {
        after(code, pc, &self.live)
    }
}

fn live(code: &Code<'_>, compiled: &[Option<Word>]) -> Vec<Live> {
    let words = code.words();
    if code.keeps_all() {
        return vec![Live::all(u64::MAX); words + 1];
    }
    let always = Live::all((0..words).fold(0, |all, pc| all | foreign(code, pc, compiled[pc])));
    let mut live = vec![always; words + 1];
    for _ in 0..PASSES {
        let mut changed = false;
        for pc in (0..words).rev() {
            let after = after(code, pc, &live);
            let before = always | compiled[pc].map_or(after, |word| through(after, word));
            changed |= std::mem::replace(&mut live[pc], before) != before;
        }
        if !changed {
            return live;
        }
    }
    vec![Live::all(u64::MAX); words + 1]
}

/// Returns the registers that are live after a word, given those live before each.
fn after(code: &Code<'_>, pc: usize, live: &[Live]) -> Live {
    let at = |pc: usize| live.get(pc).copied().unwrap_or(Live::all(u64::MAX));
    match code.exit(pc) {
        Some(Exit::Next | Exit::Barrier) => at(pc + 1),
        Some(Exit::Jump(target)) => at(target as usize),
        Some(Exit::Branch(target)) => at(pc + 1) | at(target as usize),
        // It may lead anywhere.
        Some(Exit::Step(_)) => Live::all(u64::MAX),
        Some(Exit::End | Exit::Refused) | None => Live::all(0),
    }
}

/// Returns the registers that are live before a word if `live` are live after it.
fn through(live: Live, word: Word) -> Live {
    Live { read: live.read & !word.writes | word.reads, exact: live.exact & !word.writes | word.exact }
}

/// Returns the registers named by a word that is not compiled.
fn foreign(code: &Code<'_>, pc: usize, word: Option<Word>) -> u64 {
    match code.exit(pc) {
        Some(Exit::Step(step)) => code.steps[step as usize].registers,
        Some(Exit::Refused) | None => 0,
        Some(_) if word.is_none() => code.named(pc),
        Some(_) => 0,
    }
}
