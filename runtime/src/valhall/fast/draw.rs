//! Fragment programs: quads of pixels, eight warps of them in step.
//!
//! What needs a host or memory is left to the reference, warp by warp; the rest are handlers.

use crate::deadline::Deadline;
use crate::launch::{Outcome, RunError};
use crate::level::Level;
use crate::memory::Memory;

use super::bundle::{Bundle, Quads, WARPS};
use super::code::{Code, row};
use super::memory_view::{Home, MemoryView, Recent, clear};
use super::run::{Runner, registers};
use crate::valhall::group::Origin;
use crate::valhall::host::Host;
use crate::valhall::program::Program;
use crate::valhall::source::framebuffer_size;
use crate::valhall::space::{THREAD_BYTES, thread_address};
use crate::valhall::warp::{LANES, Warp};

/// Runs a fragment program for warps, each with the place that it comes from. None waits for another.
///
/// # Errors
/// When an instruction cannot be executed; pixels of the seven warps behind may then be drawn as well.
pub fn run(
    program: &Program<'_>,
    uniforms: &[u32],
    (budget, deadline): (u64, Deadline),
    warps: impl Iterator<Item = (Warp, impl Origin)>,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    let code = Code::drawing(program, uniforms, framebuffer_size(host), Level::best());
    let mut runner = Runner::over(&code, uniforms, 1, budget);
    runner.deadline = deadline;
    let mut bundle = Bundle::new(&code);
    bundle.quads = Some(Box::new([Quads::default(); WARPS]));
    for (register, shift) in [(row::THREAD, 0), (row::THREAD + 1, 32)] {
        let addresses = std::array::from_fn(|lane| (thread_address(lane) >> shift) as u32);
        bundle.rows[register as usize].0 = [addresses; WARPS];
    }
    let mut private = vec![0; if program.uses_thread_memory { WARPS * LANES * THREAD_BYTES } else { 0 }];
    let mut warps = warps.peekable();
    while warps.peek().is_some() {
        clear(&mut private);
        bundle.drop_from(0);
        let mut origins = Vec::with_capacity(WARPS);
        for (index, (warp, origin)) in warps.by_ref().take(WARPS).enumerate() {
            bundle.start(index, Home { group: index, number: 0 }, warp.threads);
            for register in registers(code.registers()) {
                bundle.rows[register].0[index] = warp.registers[register];
            }
            if let Some(quads) = &mut bundle.quads {
                quads[index] = Quads::of(&warp);
            }
            origins.push(origin);
        }
        let private = &mut private[..];
        let recent = &mut Recent::default();
        let mut view =
            MemoryView { memory, shared: &mut [], margin: 0, shared_bytes: 0, private, warps: 1, recent, host };
        runner.alone(&mut bundle, &mut view, &origins)?;
    }
    Ok(runner.outcome())
}
