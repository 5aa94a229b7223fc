//! Fragment programs: quads of pixels, eight warps of them in lockstep.
//!
//! Messages to the host are sent for all warps at once. Instructions that access memory are executed by the reference;
//! all others have handlers.

use crate::bits::members;
use crate::deadline::Deadline;
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::launch::{Outcome, RunError};

use super::program_cache::Loaded;
use super::runner::Runner;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::grid::Home;
use crate::valhall::fast::memory_view::{MemoryView, Outside, Recent, clear};
use crate::valhall::fast::row;
use crate::valhall::host::Host;
use crate::valhall::program::Program;
use crate::valhall::space::{THREAD_BYTES, thread_address};
use crate::valhall::undo::Undo;
use crate::valhall::warp::{LANES, Warp, Warps};

/// Runs a fragment program for warps, each with its origin. Warps do not wait for each other.
///
/// # Errors
/// When an instruction cannot be executed; later fragments leave no results then.
pub fn run(
    program: &Program<'_>,
    uniforms: &[u32],
    (budget, deadline): (u64, Deadline),
    level: Level,
    mut warps: impl Warps,
    memory: &mut Memory,
    host: &mut dyn Host,
) -> Result<Outcome, RunError> {
    let loaded = Loaded::drawing(program, uniforms, host, level);
    let mut runner = loaded.runner(uniforms, 1, budget);
    runner.deadline = deadline;
    let (mut alone, mut undo) = (Alone::new(&loaded.code), Undo::new(host));
    while let Some(done) = alone.run(&mut runner, &mut warps, &mut Outside::new(memory, &mut undo)) {
        done.inspect_err(|error| undo.take_back(error))?;
        undo.keep();
    }
    Ok(runner.outcome())
}

/// Returns the machine code that earlier runs of a fragment program have left, as text like that of a launch.
pub fn listing(program: &[u64], uniforms: &[u32], host: &dyn Host, level: Level) -> String {
    Loaded::drawing(&Program::new(program), uniforms, host, level).listing()
}

/// A bundle for warps that are workgroups of their own.
pub struct Alone<'a> {
    code: &'a Code<'a>,
    bundle: Bundle,
    /// The warp that starts.
    warp: Warp,
    /// The private memories of their threads.
    private: Vec<u8>,
}

impl<'a> Alone<'a> {
    pub fn new(code: &'a Code<'a>) -> Self {
        let mut bundle = code.bundle();
        bundle.quads = code.given.draws.then(Box::default);
        for (register, shift) in [(row::THREAD, 0), (row::THREAD + 1, 32)] {
            let addresses = std::array::from_fn(|lane| (thread_address(lane) >> shift) as u32);
            bundle.rows[register as usize].0 = [addresses; WARPS];
        }
        let private = vec![0; if code.program.uses_thread_memory { WARPS * LANES * THREAD_BYTES } else { 0 }];
        Alone { code, bundle, warp: Warp::new(0), private }
    }

    /// Runs the next eight warps to their end; `None` when there are none left.
    pub fn run(
        &mut self,
        runner: &mut Runner<'_>,
        warps: &mut impl Warps,
        outside: &mut Outside<'_>,
    ) -> Option<Result<(), RunError>> {
        let Alone { code, bundle, warp, private } = self;
        clear(private);
        bundle.drop_from(0);
        let mut origins = Vec::with_capacity(WARPS);
        for index in 0..WARPS {
            let Some(origin) = warps.next(warp) else { break };
            bundle.start(index, Home { group: index, number: 0 }, warp.threads);
            bundle.set_pcs(index, warp.threads, warp.pcs[0]);
            for register in members(code.registers()) {
                bundle.rows[register].0[index] = warp.registers[register];
            }
            if let Some(quads) = &mut bundle.quads {
                quads.set(index, warp);
                bundle.set_quads(index, warp.helpers, &warp.places);
            }
            origins.push(origin);
        }
        if origins.is_empty() {
            return None;
        }
        let mut view = MemoryView {
            memory: outside.memory,
            shared: &mut [],
            margin: 0,
            shared_bytes: 0,
            private,
            warps: 1,
            recent: &mut Recent::default(),
            host: outside.host,
            touched: outside.touched.as_deref_mut(),
            log: None,
        };
        Some(runner.alone(bundle, &mut view, &origins))
    }
}
