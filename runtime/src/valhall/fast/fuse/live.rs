//! Which registers somebody will still read, and whether it matters which NaN they hold.
//!
//! What instructions without recipes name counts as read everywhere: some of them see the registers of other lanes, whose
//! way through the program is another.

use std::ops::BitOr;

use super::super::code::{Code, Exit, row};
use super::super::handler::Fields;
use super::graph::Kind;
use super::recipe::Recipe;

/// Registers, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Those that are read.
    pub read: u64,
    /// Those of which a NaN must be the one NaN, for they are not only read as floats.
    pub exact: u64,
}

impl Live {
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

/// How often all words are looked at. Jumps back need it once more each, if they lie one in another.
const PASSES: usize = 64;

/// For each word what may be read from there on. One more belongs to the end of the program.
pub fn live(code: &Code<'_>) -> Vec<Live> {
    let words = code.words();
    if code.keeps_all() {
        return vec![Live::all(u64::MAX); words + 1];
    }
    let always = Live::all((0..words).fold(0, |all, pc| all | foreign(code, pc)));
    let mut live = vec![always; words + 1];
    for _ in 0..PASSES {
        let mut changed = false;
        for pc in (0..words).rev() {
            let after = behind(code, pc, &live);
            let calls = code.calls(pc).rev();
            let before = always | calls.fold(after, |live, (fields, recipe)| through(live, fields, recipe));
            changed |= std::mem::replace(&mut live[pc], before) != before;
        }
        if !changed {
            return live;
        }
    }
    vec![Live::all(u64::MAX); words + 1]
}

/// What may be read behind a word, given what may be read from each on.
pub fn behind(code: &Code<'_>, pc: usize, live: &[Live]) -> Live {
    let at = |pc: usize| live.get(pc).copied().unwrap_or(Live::all(u64::MAX));
    match code.exit(pc) {
        Some(Exit::Next | Exit::Barrier) => at(pc + 1),
        Some(Exit::Jump(target)) => at(target as usize),
        Some(Exit::Branch(target)) => at(pc + 1) | at(target as usize),
        // It may go anywhere.
        Some(Exit::Step(_)) => Live::all(u64::MAX),
        Some(Exit::End | Exit::Refused) | None => Live::all(0),
    }
}

/// What is read before a handler when `live` is read behind it.
fn through(live: Live, fields: &Fields, recipe: Option<&Recipe>) -> Live {
    let written = recipe.map_or(0, Recipe::results);
    let kept = !(fields.dest..fields.dest + written).fold(0, |all, row| all | bit(row));
    let mut before = Live { read: live.read & kept, exact: live.exact & kept };
    if let Some(Recipe::Store) = recipe {
        before = before | Live::all(bit(fields.dest));
    }
    for (index, &source) in fields.sources.iter().enumerate() {
        before.read |= bit(source);
        if recipe.is_none_or(|recipe| recipe.takes(index) != Kind::Float) {
            before.exact |= bit(source);
        }
    }
    before
}

/// What handlers without recipes name, and the instructions that the reference executes.
fn foreign(code: &Code<'_>, pc: usize) -> u64 {
    let step = if let Some(Exit::Step(step)) = code.exit(pc) { code.steps[step as usize].registers } else { 0 };
    code.calls(pc).filter(|(_, recipe)| recipe.is_none()).fold(step, |all, (fields, _)| all | fields.registers())
}

/// The bit of a row, if it is a register.
pub fn bit(row: u32) -> u64 {
    if row < row::REGISTERS { 1 << row } else { 0 }
}
