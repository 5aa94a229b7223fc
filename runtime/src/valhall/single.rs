//! Executes one word on a given state: the interface through which tests compare implementations.
//!
//! The state consists of plain numbers and shows nothing of how instructions are executed, so the same cases apply to
//! every implementation.

use isaforge_core::semantics::{Semantics, evaluate::Scratch};
use isaforge_valhall::Instruction;

use crate::level::Level;
use crate::valhall::launch::RunError;

use super::fast;
use super::host::Host;
use super::operation::{self, Operation};
use super::program::{After, Program, Slot};
use super::space::{Space, THREAD_BYTES};
use super::state::group;
pub use super::state::{Next, Quads, State};
use super::step::{Context, Control, Fault, Step};
use super::warp::{LANES, Warp};

/// Executes a word on the lanes with the lowest program counter, as the reference does.
///
/// # Errors
/// When the word cannot be executed. Lanes before the faulty one may have been executed then.
pub fn execute(word: u64, state: &mut State, host: &mut dyn Host) -> Result<Next, RunError> {
    execute_by(word, state, host, Operation::new)
}

/// Executes like [`execute`], with other semantics than those of the specification.
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
                let waits = warp.active.trailing_zeros() as usize;
                let place = program.place(pc, &group, Some(first_thread + waits));
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

/// Executes like [`execute`], with the fast path's handlers at a level. The warp runs next to copies of itself, in
/// `copies` columns of a bundle, at most 8; the result is that of the last column. More than one column is only for
/// words that do not change memory.
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

/// Builds a program whose only instruction is the word at `pc`. It should be short, since it is rebuilt for each word.
fn program(word: u64, pc: usize, words: u32) -> Vec<u64> {
    // No instruction has all bits set, as a test checks.
    let mut program = vec![u64::MAX; words as usize];
    if let Some(place) = program.get_mut(pc) {
        *place = word;
    }
    program
}

/// The bytes of thread memory for the threads of `warps` warps.
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
