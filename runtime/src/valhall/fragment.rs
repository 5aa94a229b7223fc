//! Single threads that run for a colour.

use crate::launch::{FragmentOutcome, Launch, RunError};
use crate::memory::Memory;

use super::group::{Machine, Origin, Stop};
use super::program::Program;
use super::space::Space;
use super::step::Stage;
use super::warp::Warp;

/// A lone thread has no workgroup to speak of.
#[derive(Debug)]
struct Alone;

impl Origin for Alone {
    fn group(&self) -> [u32; 3] {
        [0; 3]
    }

    fn thread(&self, _: usize) -> [u32; 3] {
        [0; 3]
    }
}

/// Runs one thread from the first word, all registers 0, until it gives a colour to `BLEND`, or to `ST_CVT` in a compute
/// program that stores one to an image. There is no memory and no framebuffer: `ATEST` and `LEA_TEX_IMM` do nothing, and
/// special values read 0.
///
/// # Errors
/// When the program ends without a colour, or an instruction cannot be executed.
pub fn run_fragment(program: &[u64], uniforms: &[u32], budget: u64) -> Result<FragmentOutcome, RunError> {
    let launch = Launch { program: program.to_vec(), uniforms: uniforms.to_vec(), budget, ..Launch::default() };
    super::check(&launch)?;
    let program = Program::new(&launch.program);
    let mut machine = Machine::new(&program, &launch.uniforms, Stage::Colour, budget, ());
    let mut warp = Warp::new(1);
    let mut memory = Memory::new();
    loop {
        let space = Space { memory: &mut memory, shared: &mut [], private: &mut [], first_thread: 0 };
        match machine.turn(&mut warp, &Alone, (0, 1), space)? {
            Stop::Colour(colour) => return Ok(FragmentOutcome { colour, thread_instructions: machine.spent() }),
            Stop::Ended => return Err(RunError::NoColour { place: machine.place(warp.pc as usize, &Alone, Some(0)) }),
            // Alone at a barrier, there is nobody to wait for.
            Stop::Barrier => {
                warp.at_barrier = false;
                warp.go(warp.pc + 1);
            }
            Stop::Turn => {}
        }
    }
}
