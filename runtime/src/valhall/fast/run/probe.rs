//! Observes the registers of warps while a program runs, to compare it with another run.

use std::collections::HashMap;

use super::{Runner, warps};
use crate::level::Level;
use crate::memory::Memory;
use crate::valhall::fast::bundle::{Bundle, Row, WARPS};
use crate::valhall::fast::code::Code;
use crate::valhall::fast::memory_view::{MemoryView, Outside};
use crate::valhall::group::Origin;
use crate::valhall::host::Host;
use crate::valhall::launch::{Launch, Outcome, RunError, check};
use crate::valhall::program::Program;
use crate::valhall::warp::Column;

/// The state of a warp between two instructions.
pub struct Held<'a> {
    /// The workgroup.
    pub group: [u32; 3],
    /// The number of the warp in it.
    pub warp: u32,
    /// The number of instructions that it has executed.
    pub count: u64,
    /// The lanes that have not ended. The content of other lanes is meaningless.
    pub live: u16,
    rows: &'a [Row<WARPS>],
    column: usize,
}

impl Held<'_> {
    /// Returns a register.
    pub fn register(&self, register: usize) -> &Column {
        &self.rows[register].0[self.column]
    }
}

/// The observer, and the instructions that warps had executed before their current turn.
pub(super) struct Probe<'a> {
    look: &'a mut (dyn FnMut(&Held<'_>) + Send),
    before: HashMap<([u32; 3], usize), u64>,
}

/// Like [`run`](super::run), but calls `look` for the warps each time that some have executed something: an
/// instruction, or a run of them. All registers have their proper content then, whether or not they are read later.
pub fn run_probed(
    launch: &Launch,
    memory: &mut Memory,
    host: &mut dyn Host,
    level: Level,
    look: &mut (dyn FnMut(&Held<'_>) + Send),
) -> Result<Outcome, RunError> {
    check(launch)?;
    let program = Program::new(&launch.program);
    let mut code = Code::hosted(&program, &launch.uniforms, warps(launch) as u32, host, level);
    code.keep_all();
    let mut runner = Runner::new(&code, launch);
    runner.probe = Some(Probe { look, before: HashMap::new() });
    runner.groups(launch, &mut Outside::new(memory, host), 0..super::count(launch))?;
    Ok(runner.outcome())
}

impl Runner<'_> {
    /// Like [`Runner::turn`].
    pub(super) fn turn_probed(
        &mut self,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        groups: &[impl Origin],
        chosen: u8,
    ) {
        bundle.choose(chosen);
        if !bundle.goes_on() {
            bundle.schedule(&self.code.schedule, view);
        }
        while bundle.is_busy() {
            loop {
                let goes_on = self.advance(bundle, view, groups);
                self.look(bundle, groups, chosen);
                if !goes_on {
                    break;
                }
            }
            if bundle.live == [0; WARPS] {
                break;
            }
            bundle.schedule(&self.code.schedule, view);
        }
        let Some(probe) = &mut self.probe else { return };
        for warp in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0) {
            let home = bundle.homes[warp];
            let key = (groups.get(home.group).map_or([0; 3], Origin::group), home.number);
            *probe.before.entry(key).or_default() += u64::from(bundle.executed(warp));
        }
    }

    fn look(&mut self, bundle: &Bundle, groups: &[impl Origin], chosen: u8) {
        let Some(probe) = &mut self.probe else { return };
        for column in (0..WARPS).filter(|warp| chosen >> warp & 1 != 0 && bundle.live[*warp] != 0) {
            let home = bundle.homes[column];
            let group = groups.get(home.group).map_or([0; 3], Origin::group);
            let before = probe.before.get(&(group, home.number)).copied().unwrap_or(0);
            let count = before + u64::from(bundle.executed(column));
            let (warp, live) = (home.number as u32, bundle.live[column]);
            (probe.look)(&Held { group, warp, count, live, rows: &bundle.rows, column });
        }
    }
}
