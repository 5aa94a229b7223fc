//! Executes one word on a given state, for [`crate::valhall::single`].

use isaforge_core::semantics::evaluate::each;

use crate::level::Level;
use crate::valhall::launch::RunError;

use super::program_cache::Loaded;
use crate::valhall::fast::bundle::{PARKED, Quads, WARPS};
use crate::valhall::fast::grid::Home;
use crate::valhall::fast::memory_view::{MemoryView, Recent};
use crate::valhall::fast::row;
use crate::valhall::host::Host;
use crate::valhall::program::Program;
use crate::valhall::space::thread_address;
use crate::valhall::state::{Next, State, group};
use crate::valhall::warp::LANES;

/// Executes the word at which the live lanes are. The last of `copies` warps gives the result.
pub fn single(
    program: &Program<'_>,
    state: &mut State,
    host: &mut dyn Host,
    level: Level,
    copies: usize,
) -> Result<Next, RunError> {
    let copies = copies.clamp(1, WARPS);
    // Fragment programs have no workgroup.
    let (number, warps) = if state.quads.is_some() { (0, 1) } else { (state.warp, state.warps) };
    let uniforms = &state.uniforms;
    let loaded = match state.quads {
        Some(_) => Loaded::drawing(program, uniforms, host, level),
        None => Loaded::new(program, uniforms, warps, level),
    };
    let mut runner = loaded.runner(uniforms, warps, u64::MAX);
    let mut bundle = loaded.code.bundle();
    if let Some(quads) = &state.quads {
        let pixels = [0, 1].map(|axis| [each(&quads.pixels, |pixel| pixel[axis]); WARPS]);
        bundle.quads = Some(Box::new(Quads { pixels, ..Quads::default() }));
    }
    for warp in 0..copies {
        bundle.start(warp, Home { group: 0, number: number as usize }, state.live);
        for lane in (0..LANES).filter(|lane| state.live >> lane & 1 != 0) {
            bundle.set_pcs(warp, 1 << lane, state.pcs[lane]);
        }
        for (row, column) in bundle.rows.iter_mut().zip(state.registers.iter()) {
            row.0[warp] = *column;
        }
        bundle.rows[row::WARP as usize].0[warp] = [number; LANES];
        if let Some(quads) = &state.quads {
            bundle.set_quads(warp, quads.helpers, &quads.places);
        }
        for lane in 0..LANES {
            let address = thread_address(number as usize * LANES + lane);
            bundle.rows[row::THREAD as usize].0[warp][lane] = address as u32;
            bundle.rows[row::THREAD as usize + 1].0[warp][lane] = (address >> 32) as u32;
        }
    }
    let mut view = MemoryView {
        memory: &mut state.memory,
        shared_bytes: state.shared.len(),
        shared: &mut state.shared,
        margin: 0,
        private: &mut state.private,
        warps: warps as usize,
        recent: &mut Recent::default(),
        host,
        touched: None,
        log: None,
    };
    bundle.choose(bundle.ready());
    bundle.schedule(&loaded.code.schedule, &mut view);
    // The words around it are not instructions, so a run ends after it.
    if runner.advance(&mut bundle, &mut view, &[group(warps)]) {
        bundle.go(bundle.pc);
    }
    bundle.write_waiting();
    let last = copies - 1;
    for (row, column) in bundle.rows.iter().zip(state.registers.iter_mut()) {
        *column = row.0[last];
    }
    // Lanes that have ended are parked; where they ended is not kept.
    for (lane, pc) in state.pcs.iter_mut().enumerate() {
        let now = bundle.pcs(last)[lane];
        *pc = if now == PARKED { *pc } else { now };
    }
    state.live = bundle.live[last];
    if let Some(quads) = &mut state.quads {
        (quads.helpers, quads.places) = bundle.helpers_and_places(last);
    }
    match runner.failed.take() {
        Some((_, error)) => Err(error),
        None if bundle.at_barrier != 0 => Ok(Next::Barrier),
        None => Ok(Next::Onward),
    }
}
