//! Executes the programs of a machine: hot code as machine code, everything else by the evaluator.
//!
//! Jump targets are counted, and a region is compiled from one that is hot. When the code is left because of an
//! unknown window or computed jump, the engine learns it and compiles the region again. Code is kept between runs for
//! as long as the bytes it was compiled from are unchanged.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use isaforge_core::machine::{Host, Machine, Reason, SpanBytes, Stop, Trap};
use isaforge_core::semantics::Semantics;

use super::check::Refused;
use super::code_cache::{Compiled, Left, NoCode};
use super::emit::emit;
use super::emitted::{Sites, Why, Window};
use super::expand::Scalar;
use super::feature::Features;
use super::listing::listing;
use super::region;
use crate::exec::Executor;

/// How often a place must be jumped to before it is compiled.
const HOT: u32 = 32;
/// The maximum number of instructions whose code is kept.
const MAX_CACHED: usize = 1 << 16;
/// How often a place may be compiled, including again with newly learnt facts.
const ATTEMPTS: u32 = 24;
/// The most targets that are expected of a computed jump.
const TARGETS: usize = 4;
/// The most windows that an access tries.
const WINDOWS: usize = 3;
/// The most places that are counted.
const PLACES: usize = 1 << 20;

/// What is known of a place in a program.
#[derive(Debug, Default)]
struct Place {
    /// How often it has been jumped to.
    count: u32,
    /// How often it has been compiled.
    attempts: u32,
    ready: Option<Box<Ready>>,
}

/// A compiled region.
#[derive(Debug)]
struct Ready {
    compiled: Compiled,
    /// The bytes that it was compiled from.
    bytes: Vec<(u64, Vec<u8>)>,
    instructions: usize,
}

/// Executes programs, and keeps the code compiled for them.
#[derive(Debug)]
pub struct Compiler {
    features: Features,
    checks: bool,
    hot: u32,
    places: HashMap<u64, Place>,
    sites: Sites,
    targets: HashMap<u64, Vec<u64>>,
    /// The number of instructions that are currently compiled.
    kept: usize,
    /// The inputs that all code relies on.
    semantics: Option<&'static Semantics>,
    breakpoints: BTreeSet<u64>,
    /// The version of the code that they are derived from.
    changes: usize,
    /// How often all code was dropped.
    flushed: u32,
    /// The number of instructions that were executed as machine code.
    executed: u64,
    refused: Option<Refused>,
}

impl Default for Compiler {
    fn default() -> Self {
        Compiler::new(Features::detect())
    }
}

impl Compiler {
    /// Creates a compiler for a processor's features; this processor must support all of them.
    pub fn new(features: Features) -> Self {
        Compiler {
            features,
            checks: true,
            hot: HOT,
            places: HashMap::new(),
            sites: HashMap::new(),
            targets: HashMap::new(),
            kept: 0,
            semantics: None,
            breakpoints: BTreeSet::new(),
            changes: 0,
            flushed: 0,
            executed: 0,
            refused: None,
        }
    }

    /// Compiles every jump target at once, with all code that it reaches, for tests.
    pub fn eager(self) -> Self {
        Compiler { hot: 0, ..self }
    }

    /// Disables the check of machine code before its execution.
    pub fn unchecked(self) -> Self {
        Compiler { checks: false, ..self }
    }

    /// The number of instructions that have been executed as machine code.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Returns why the check first refused code. This should be `None`; the evaluator executes refused code.
    pub fn refused(&self) -> Option<&Refused> {
        self.refused.as_ref()
    }

    /// Drops everything that no longer holds.
    fn renew(&mut self, machine: &Machine<1>) {
        let semantics = machine.semantics();
        let same = self.semantics.is_some_and(|known| std::ptr::eq(known, semantics));
        let mut ready = self.places.values().filter_map(|place| place.ready.as_ref()).flat_map(|ready| &ready.bytes);
        let is = |(at, bytes): &(u64, Vec<u8>)| machine.memory.bytes(*at, bytes.len() as u64) == Some(bytes);
        if !same
            || self.breakpoints != machine.breakpoints
            || self.changes != machine.memory.code_version()
            || !ready.all(is)
        {
            if !same {
                (self.sites, self.targets) = (HashMap::new(), HashMap::new());
            }
            self.semantics = Some(semantics);
            self.breakpoints.clone_from(&machine.breakpoints);
            self.flush(machine);
            self.flushed = 0;
        }
    }

    fn flush(&mut self, machine: &Machine<1>) {
        self.changes = machine.memory.code_version();
        self.places.clear();
        self.kept = 0;
        self.flushed += 1;
    }

    /// Executes machine code at the machine's current address, if there is any. Returns whether execution may
    /// continue with machine code; if not, the evaluator has to execute the next instruction.
    fn enter(&mut self, machine: &mut Machine<1>, jumped: bool, left: &mut u64) -> bool {
        let pc = machine.pc();
        let ready = self.places.get(&pc).is_some_and(|place| place.ready.is_some());
        if !(ready || jumped && self.compile(machine, pc)) {
            return false;
        }
        let Some(ready) = self.places.get(&pc).and_then(|place| place.ready.as_ref()) else { return false };
        let parts = machine.parts();
        let Some(Left { exit, budget, next, miss }) = ready.compiled.run(parts.values, parts.memory, *left) else {
            // Its windows have changed.
            self.forget(pc);
            return false;
        };
        let executed = left.wrapping_sub(budget);
        self.executed += executed;
        *left = budget;
        match exit.why {
            Why::Leave(to) => {
                machine.advance(executed, to);
                false
            }
            Why::Goto(to) => {
                machine.advance(executed, to);
                true
            }
            Why::Indirect(jump) => {
                machine.advance(executed, next);
                let targets = self.targets.entry(jump).or_default();
                if targets.len() < TARGETS && !targets.contains(&next) {
                    targets.push(next);
                    self.forget(pc);
                }
                true
            }
            Why::Miss { pc: at, access, base, narrow } => {
                machine.advance(executed, at);
                let address = base.wrapping_add(miss) & if narrow { u32::MAX.into() } else { u64::MAX };
                self.learn(machine, pc, (at, access), address);
                false
            }
        }
    }

    /// Records the address of an access that was in none of its windows.
    fn learn(&mut self, machine: &mut Machine<1>, place: u64, site: (u64, u32), address: u64) {
        let windows = windows(machine);
        let has = |window: &Window| address.checked_sub(window.base).is_some_and(|offset| offset < window.size);
        let Some(found) = windows.iter().find(|window| has(window)) else { return };
        let known = self.sites.entry(site).or_default();
        if known.len() < WINDOWS && !known.contains(&found.base) {
            known.push(found.base);
            self.forget(place);
        }
    }

    /// Drops the code of a place. It is compiled again soon, but only up to the limit of attempts.
    fn forget(&mut self, pc: u64) {
        let Some(place) = self.places.get_mut(&pc) else { return };
        if let Some(ready) = place.ready.take() {
            self.kept -= ready.instructions.min(self.kept);
        }
        place.count = self.hot;
    }

    /// Counts a jump to a place, and compiles it if it is hot. Returns whether there is code.
    fn compile(&mut self, machine: &mut Machine<1>, pc: u64) -> bool {
        if self.places.len() >= PLACES {
            self.flush(machine);
        }
        let hot = self.hot << self.flushed.min(8);
        let place = self.places.entry(pc).or_default();
        place.count = place.count.saturating_add(1);
        if place.count <= hot || place.attempts >= ATTEMPTS || self.breakpoints.contains(&pc) {
            return false;
        }
        place.attempts += 1;
        let ready = self.region(machine, pc);
        if machine.memory.code_version() != self.changes {
            self.flush(machine);
            return false;
        }
        let Some(ready) = ready else {
            // Another attempt would fail in the same way.
            self.places.entry(pc).or_default().attempts = ATTEMPTS;
            return false;
        };
        if self.kept + ready.instructions > MAX_CACHED {
            self.flush(machine);
        }
        self.kept += ready.instructions;
        self.places.entry(pc).or_default().ready = Some(Box::new(ready));
        true
    }

    fn region(&mut self, machine: &mut Machine<1>, pc: u64) -> Option<Ready> {
        let region = region::region(machine, &Scalar(self.features), pc, &self.targets, self.hot == 0)?;
        let windows = windows(machine);
        let emitted = emit(&region, &windows, &self.sites, self.features)?;
        let compiled = Compiled::new(emitted, self.checks.then_some(self.features));
        if let Err(NoCode::Refused(refused)) = &compiled {
            self.refused.get_or_insert_with(|| refused.clone());
        }
        let instructions = region.blocks.iter().map(|block| block.instructions.len()).sum();
        Some(Ready { compiled: compiled.ok()?, bytes: region.bytes, instructions })
    }

    /// Returns the compiled code as text: the instructions of the program, each with its machine code.
    pub fn listing(&self, machine: &Machine<1>) -> String {
        let mut places: Vec<(&u64, &Ready)> =
            self.places.iter().filter_map(|(pc, place)| Some((pc, &**place.ready.as_ref()?))).collect();
        places.sort_by_key(|(pc, _)| **pc);
        let mut text = String::new();
        for (pc, ready) in places {
            let emitted = &ready.compiled.emitted;
            let _ = writeln!(text, "region {pc:#x}: {} instructions, {} bytes", ready.instructions, emitted.code.len());
            let line = |pc| format!("{pc:#x}: {}", machine.text(pc).unwrap_or_default());
            text.push_str(&listing(&emitted.code, &emitted.marks, line));
        }
        text
    }
}

impl Executor<1> for Compiler {
    fn run(&mut self, machine: &mut Machine<1>, host: &mut impl Host<1>, budget: u64) -> Result<Stop, Trap> {
        self.renew(machine);
        let (mut left, mut jumped) = (budget, true);
        loop {
            if left == 0 {
                return Err(Trap { pc: machine.pc(), reason: Reason::Budget(budget) });
            }
            if !host.looks_on() && machine.live() != 0 {
                let before = left;
                if self.enter(machine, jumped, &mut left) {
                    if left != before && self.breakpoints.contains(&machine.pc()) {
                        return Ok(Stop::Breakpoint(machine.pc()));
                    }
                    jumped = true;
                    continue;
                }
                if left != before {
                    jumped = true;
                    if self.breakpoints.contains(&machine.pc()) {
                        return Ok(Stop::Breakpoint(machine.pc()));
                    }
                    if left == 0 {
                        continue;
                    }
                }
            }
            left -= 1;
            let pc = machine.pc();
            if let Some(stop) = machine.step(host)? {
                return Ok(stop);
            }
            if !machine.breakpoints.is_empty() && machine.breakpoints.contains(&machine.pc()) {
                return Ok(Stop::Breakpoint(machine.pc()));
            }
            if machine.memory.code_version() != self.changes {
                self.flush(machine);
            }
            jumped = !(1..=machine.encoding().longest()).contains(&machine.pc().wrapping_sub(pc));
        }
    }
}

/// Returns the memory of a machine as windows for machine code.
fn windows(machine: &mut Machine<1>) -> Vec<Window> {
    let window = |span: isaforge_core::machine::Span<'_>| Window {
        base: span.base,
        size: (span.bytes.len() as u64).min(i32::MAX as u64),
        writable: matches!(span.bytes, SpanBytes::Write(_)),
    };
    machine.parts().memory.spans().map(window).collect()
}
