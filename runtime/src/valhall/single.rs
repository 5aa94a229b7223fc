//! One word on a given state: what a test compares, whoever computes it.
//!
//! The state is plain numbers; nothing of how instructions are executed shows. So the same cases can be put to whatever
//! executes them.

use isaforge_core::semantics::{Semantics, evaluate::Scratch};
use isaforge_valhall::{Instruction, Register};

use crate::Level;
use crate::launch::RunError;
use crate::memory::Memory;

use super::fast;
use super::group::Group;
use super::host::Host;
use super::operation::{self, Operation};
use super::program::{After, Program, Slot};
use super::space::{Space, THREAD_BYTES};
use super::step::{Context, Control, Fault, Step};
use super::warp::{LANES, Warp};

/// A warp about to execute a word, and all that it can see.
#[derive(Clone, Debug)]
pub struct State {
    /// The general registers, a column of 16 lanes each.
    pub registers: Box<[[u32; LANES]; Register::COUNT]>,
    /// The word that each lane executes next. Of the live lanes those with the lowest execute; the others wait.
    pub pcs: [u32; LANES],
    /// Lanes that have not ended.
    pub live: u16,
    /// The fast-access uniforms; those beyond read 0.
    pub uniforms: Vec<u32>,
    /// How many words the program has, at most [`Launch::MAX_WORDS`](crate::Launch::MAX_WORDS). The others are no
    /// instructions.
    pub words: u32,
    /// The number of the warp in its workgroup.
    pub warp: u32,
    /// How many warps the workgroup has, at least one more than `warp`.
    pub warps: u32,
    /// Mapped memory.
    pub memory: Memory,
    /// Memory of the workgroup.
    pub shared: Vec<u8>,
    /// Memory of the threads of the workgroup, [`THREAD_BYTES`](super::THREAD_BYTES) for each of 16 lanes a warp; may be
    /// empty.
    pub private: Vec<u8>,
    /// Where the lanes draw, in a fragment program.
    pub quads: Option<Quads>,
}

/// Where the lanes of a fragment program draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quads {
    /// Lanes that only help others: nothing that they do can be seen.
    pub helpers: u16,
    /// The pixel of each lane.
    pub pixels: [[u32; 2]; LANES],
    /// The place in its pixel where each lane last interpolated, from the corner in parts of 256.
    pub places: [[i16; 2]; LANES],
}

/// How the warp goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// As the program counters say.
    Onward,
    /// When all warps of the workgroup are at the barrier, which the program counters are at.
    Barrier,
}

/// Executes a word on the lanes with the lowest program counter, as the reference does.
///
/// # Errors
/// When the word cannot be executed; lanes before the faulty one may have done their part.
pub fn execute(word: u64, state: &mut State, host: &mut dyn Host) -> Result<Next, RunError> {
    execute_by(word, state, host, Operation::new)
}

/// As [`execute`], by other texts than those of the specification.
///
/// # Errors
/// As [`execute`].
pub fn execute_with(
    semantics: &'static Semantics,
    word: u64,
    state: &mut State,
    host: &mut dyn Host,
) -> Result<Next, RunError> {
    execute_by(word, state, host, |instruction| Operation::with(semantics, instruction))
}

fn execute_by(
    word: u64,
    state: &mut State,
    host: &mut dyn Host,
    operation: impl Fn(Instruction) -> Option<Operation>,
) -> Result<Next, RunError> {
    let mut warp = Warp::new(state.live);
    std::mem::swap(&mut warp.registers, &mut state.registers);
    warp.pcs = state.pcs;
    if let Some(quads) = &state.quads {
        warp.draws = true;
        (warp.helpers, warp.pixels, warp.places) = (quads.helpers, quads.pixels, quads.places);
    }
    warp.schedule();
    let result = execute_warp(word, &mut warp, state, host, operation);
    std::mem::swap(&mut warp.registers, &mut state.registers);
    (state.pcs, state.live) = (warp.pcs, warp.live);
    if let Some(quads) = &mut state.quads {
        (quads.helpers, quads.places) = (warp.helpers, warp.places);
    }
    result
}

fn execute_warp(
    word: u64,
    warp: &mut Warp,
    state: &mut State,
    host: &mut dyn Host,
    operation: impl Fn(Instruction) -> Option<Operation>,
) -> Result<Next, RunError> {
    let pc = warp.pc as usize;
    let words = program(word, pc, state.words);
    let program = Program::new(&words);
    let group = group(state.warps);
    let first_thread = state.warp as usize * LANES;
    let (instruction, after) = match program.slot(pc) {
        Some(Slot::Ready(instruction, after)) => (instruction, after),
        Some(Slot::Undecodable(error)) => {
            return Err(RunError::Undecodable { place: program.place(pc, &group, None), error: *error });
        }
        Some(Slot::Register(register)) => {
            return Err(RunError::Register { place: program.place(pc, &group, None), register });
        }
        None => {
            let target = pc as i64;
            return Err(RunError::OutOfProgram { place: program.place(pc, &group, None), target, words: words.len() });
        }
    };
    let context = Context { uniforms: &state.uniforms, words: words.len(), warp: state.warp, warps: state.warps };
    let space =
        Space { memory: &mut state.memory, shared: &mut state.shared, private: &mut state.private, first_thread, host };
    let mut step = Step { warp, context: &context, space, scratch: Scratch::default() };
    let done = operation::execute(instruction, operation(instruction).as_ref(), &mut step);
    let error = |fault: Fault| program.error(fault, pc, &group, first_thread);
    match (done.map_err(error)?, after) {
        (Control::Barrier, _) => {
            let other = (warp.live & !warp.active).trailing_zeros() as usize;
            if let Some(&elsewhere) = warp.pcs.get(other) {
                let place = program.place(pc, &group, Some(first_thread + other));
                return Err(RunError::DivergentBarrier { place, elsewhere: elsewhere as usize });
            }
            return Ok(Next::Barrier);
        }
        (_, After::End) => warp.end(),
        (Control::Next, After::Next) => warp.go(warp.pc + 1),
        (Control::Jumped, After::Next) => {}
    }
    Ok(Next::Onward)
}

/// As [`execute`], by the fast path's handlers of a level. The word's warp runs beside copies of itself in as many warps
/// of a bundle as `copies` says, at most 8; what the last of them leaves is the result. More than one is for words that
/// do not change memory.
///
/// # Errors
/// As [`execute`].
pub fn execute_fast(
    word: u64,
    state: &mut State,
    host: &mut dyn Host,
    level: Level,
    copies: usize,
) -> Result<Next, RunError> {
    let live = (0..LANES).filter(|lane| state.live >> lane & 1 != 0);
    let pc = live.map(|lane| state.pcs[lane]).min().unwrap_or(0);
    let words = program(word, pc as usize, state.words);
    fast::single(&Program::new(&words), state, host, level, copies)
}

/// A program in which only the word at `pc` is one. It is short, for the others are made for each word anew.
fn program(word: u64, pc: usize, words: u32) -> Vec<u64> {
    // No instruction has all bits set; a test holds this.
    let mut program = vec![u64::MAX; words as usize];
    if let Some(place) = program.get_mut(pc) {
        *place = word;
    }
    program
}

/// A workgroup of `warps` warps along x.
pub(super) fn group(warps: u32) -> Group {
    Group { id: [0; 3], size: [warps * LANES as u32, 1, 1] }
}

/// The private bytes of the threads of `warps` warps.
pub fn private_bytes(warps: u32) -> usize {
    warps as usize * LANES * THREAD_BYTES
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_word_of_ones_is_no_instruction() {
        assert!(isaforge_valhall::decode(u64::MAX).is_err());
    }
}
