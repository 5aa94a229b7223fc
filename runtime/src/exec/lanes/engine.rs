//! The execution loop.

use std::fmt::Write;

use isaforge_core::machine::{Divergence, Hardware, Host, Machine, Reason, Stop, Trap};
use isaforge_core::semantics::Semantics;
use rustc_hash::FxHashMap;

use super::region::{Region, Rows};
use super::rows::{Columns, PART};
use super::straight::Straight;
use crate::exec::Executor;
use crate::exec::jit::lanes::emit::FlowState;
use crate::level::Level;

/// The most instructions that are kept, counting one for each address from which they were reached.
const MAX_KEPT: usize = 1 << 16;
/// How often instructions are reached before a loop that begins with them is compiled.
const OFTEN: u32 = 32;

/// Executes programs, and keeps their operations.
///
/// Machines that it does not [suit](WarpEngine::suits), those whose number of lanes is no multiple of 8, and those with an
/// observer are left to the evaluator.
#[derive(Debug)]
pub struct WarpEngine {
    level: Level,
    straights: FxHashMap<u64, Straight>,
    /// The loops by address, for all lanes and for some; `None` where no code can be generated.
    regions: FxHashMap<(u64, bool), Option<Box<Region>>>,
    /// The rows and the state of loops.
    rows: Option<Rows>,
    state: Box<FlowState>,
    kept: usize,
    columns: Option<Columns>,
    /// What the operations were derived from.
    semantics: Option<&'static Semantics>,
    changes: usize,
    /// The lanes in the row of active lanes.
    chosen: Option<u64>,
    executed: u64,
    compiled: u64,
}

impl WarpEngine {
    /// Creates an engine for a level, which may generate machine code.
    pub fn new(level: Level) -> Self {
        WarpEngine {
            level,
            straights: FxHashMap::default(),
            regions: FxHashMap::default(),
            rows: None,
            state: Box::default(),
            kept: 0,
            columns: None,
            semantics: None,
            changes: 0,
            chosen: None,
            executed: 0,
            compiled: 0,
        }
    }

    /// Whether lanes execute together in a way that the engine supports: not masked, and not always together.
    pub fn suits(hardware: &Hardware) -> bool {
        matches!(hardware.divergence, Divergence::Refused | Divergence::LowestFirst)
    }

    /// The number of instructions that the evaluator did not have to execute.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// The number of instructions that were executed as machine code.
    pub fn compiled(&self) -> u64 {
        self.compiled
    }

    /// Returns the compiled loops as text: the instructions of the program, each with its machine code.
    pub fn listing<const L: usize>(&self, machine: &Machine<L>) -> String {
        let regions = self.regions.iter().filter_map(|(place, region)| Some((place, region.as_ref()?)));
        let mut regions: Vec<_> = regions.collect();
        regions.sort_unstable_by_key(|(place, _)| **place);
        let mut text = String::new();
        for ((start, _), region) in regions {
            let line = |pc| format!("{pc:#x}: {}", machine.text(pc).unwrap_or_default());
            let _ = writeln!(text, "loop {start:#x}\n{}", region.listing(line));
        }
        text
    }

    /// Drops what no longer holds. Returns false if the machine has too many registers.
    fn renew<const L: usize>(&mut self, machine: &mut Machine<L>) -> bool {
        let semantics = machine.semantics();
        let same = self.semantics.is_some_and(|known| std::ptr::eq(known, semantics));
        let straights = self.straights.iter().map(|(start, straight)| (start, &straight.bytes));
        let loops = self.regions.iter().filter_map(|((start, _), region)| Some((start, &region.as_ref()?.bytes)));
        let mut made_from = straights.chain(loops);
        let is = |(at, bytes): (&u64, &Vec<u8>)| machine.memory.bytes(*at, bytes.len() as u64) == Some(bytes);
        if !same || self.changes != machine.memory.code_version() || !made_from.all(is) {
            self.flush(machine);
        }
        self.semantics = Some(semantics);
        self.chosen = None;
        if !same {
            self.columns = Columns::new(machine.columns());
            self.rows = Rows::new(L);
        }
        let Some(columns) = &self.columns else { return false };
        columns.append(machine.parts().values);
        true
    }

    fn flush<const L: usize>(&mut self, machine: &Machine<L>) {
        self.changes = machine.memory.code_version();
        self.straights.clear();
        self.regions.clear();
        self.kept = 0;
    }

    fn execute<const L: usize>(
        &mut self,
        machine: &mut Machine<L>,
        host: &mut impl Host<L>,
        budget: u64,
    ) -> Result<Stop, Trap> {
        let mut left = budget;
        loop {
            if left == 0 {
                return Err(Trap { pc: machine.pc(), reason: Reason::Budget(budget) });
            }
            let Some(turn) = machine.turn() else { return Ok(Stop::Ended) };
            if let Some(stop) = self.advance(machine, host, turn, &mut left)? {
                return Ok(stop);
            }
            if !machine.breakpoints.is_empty() && machine.breakpoints.contains(&machine.pc()) {
                return Ok(Stop::Breakpoint(machine.pc()));
            }
            if machine.memory.code_version() != self.changes {
                self.flush(machine);
            }
        }
    }

    /// Sets the lanes in the row of active lanes. Returns whether these are all lanes.
    fn choose<const L: usize>(&mut self, machine: &mut Machine<L>, active: u64) -> bool {
        if active == isaforge_core::bits::ones(L as u32) {
            return true;
        }
        if self.chosen != Some(active)
            && let Some(columns) = &self.columns
            && let Some(row) = machine.parts().values.get_mut(usize::from(columns.active()))
        {
            row.iter_mut().enumerate().for_each(|(lane, slot)| *slot = (active >> lane & 1).wrapping_neg());
            self.chosen = Some(active);
        }
        false
    }

    /// Covers the instructions from an address on, unless that has been done.
    fn cover<const L: usize>(&mut self, machine: &mut Machine<L>, pc: u64) {
        if self.straights.contains_key(&pc) {
            return;
        }
        if self.kept > MAX_KEPT {
            self.flush(machine);
        }
        let Some(columns) = &mut self.columns else { return };
        let straight = Straight::new(machine, pc, columns);
        columns.append(machine.parts().values);
        self.kept += 1 + straight.instructions.len();
        self.straights.insert(pc, straight);
        // Fetching does not change instructions.
        self.changes = machine.memory.code_version();
    }

    /// Executes the loop that begins at an address as machine code, if there is one. Returns whether it executed any
    /// instructions.
    fn repeat<const L: usize>(
        &mut self,
        machine: &mut Machine<L>,
        (start, active): (u64, u64),
        whole: bool,
        left: &mut u64,
    ) -> bool {
        let (Some(often), Some(rows)) = (self.level.compiles_after(OFTEN), &mut self.rows) else { return false };
        match self.straights.get_mut(&start) {
            Some(straight) if straight.visits < often => {
                straight.visits += 1;
                return false;
            }
            Some(_) => {}
            None => return false,
        }
        let level = self.level;
        let region = self.regions.entry((start, whole));
        let region = region.or_insert_with(|| Region::new(machine, start, whole, level).map(Box::new));
        // Fetching does not change instructions.
        self.changes = machine.memory.code_version();
        let Some(region) = region else { return false };
        if machine.breakpoints.range(start..region.end()).next().is_some() {
            return false;
        }
        let Some(done) = region.run(machine, (rows, &mut self.state), active, *left) else { return false };
        *left -= done.executed;
        self.executed += done.executed;
        self.compiled += done.executed;
        let (jumped, target) = done.jumped.unwrap_or((0, 0));
        machine.advance_lanes(done.executed, target, jumped);
        machine.advance_lanes(0, done.pc, active & !jumped);
        true
    }

    /// Executes the instructions at an address in some lanes, as far as they follow each other and `left` allows; or
    /// else one instruction, which may lead elsewhere.
    fn advance<const L: usize>(
        &mut self,
        machine: &mut Machine<L>,
        host: &mut impl Host<L>,
        (start, active): (u64, u64),
        left: &mut u64,
    ) -> Result<Option<Stop>, Trap> {
        let alone = active == machine.live();
        let refused = !alone && machine.hardware().divergence == Divergence::Refused;
        if refused || active & machine.waiting() != 0 {
            *left -= 1;
            return machine.step_at((start, active), host, |_| None);
        }
        self.cover(machine, start);
        let (whole, level) = (self.choose(machine, active), self.level);
        if alone && self.repeat(machine, (start, active), whole, left) {
            return Ok(None);
        }
        let (straight, last) = match self.straights.get(&start) {
            Some(straight) => (&straight.instructions[..], straight.last.as_ref()),
            None => (&[][..], None),
        };
        // Other lanes join where they are.
        let others = if alone { None } else { machine.next_after(start) };
        let breakpoint = machine.breakpoints.range(start.saturating_add(1)..).next().copied();
        let end = others.into_iter().chain(breakpoint).min().unwrap_or(u64::MAX);
        let (mut pc, mut count, mut ended) = (start, 0, Ok(None));
        for (covered, next) in straight {
            if count == *left || pc >= end || machine.memory.code_version() != self.changes {
                break;
            }
            if covered.is_pure {
                covered.run(level, whole, active, machine.parts().values);
            } else {
                let done = machine
                    .environment(host, pc, active)
                    .and_then(|mut running| covered.run_in(level, whole, active, &mut running));
                if let Err(reason) = done {
                    ended = Err(Trap { pc, reason });
                    break;
                }
            }
            (pc, count) = (*next, count + 1);
        }
        *left -= count;
        self.executed += count;
        if count > 0 {
            machine.advance_lanes(count, pc, active);
        }
        let is_through = count == straight.len() as u64 && machine.memory.code_version() == self.changes;
        if ended.is_err() || !is_through || *left == 0 || pc >= end || last.is_none() && count > 0 {
            return ended;
        }
        *left -= 1;
        self.executed += u64::from(last.is_some());
        machine.step_at((pc, active), host, |running| Some(last?.run_in(level, whole, active, running)))
    }
}

impl<const L: usize> Executor<L> for WarpEngine {
    fn run(&mut self, machine: &mut Machine<L>, host: &mut impl Host<L>, budget: u64) -> Result<Stop, Trap> {
        if !WarpEngine::suits(machine.hardware()) || !L.is_multiple_of(PART) || host.looks_on() || !self.renew(machine)
        {
            return machine.run(host, budget);
        }
        let ended = self.execute(machine, host, budget);
        let columns = machine.columns();
        machine.parts().values.truncate(columns);
        ended
    }
}
