//! USC: every operation, its fields, sources and destinations, and classes of values, one group at a time.
//!
//! An input is the number of a state and a group: its bytes, or its text if it has no public encoding. The answer is
//! the change of the state by the group, and what the host received. After a fault only the fault counts.

pub mod derived;
mod groups;
mod host;
mod state;

use isaforge_runtime::usc::single::{Group as Executable, Next, REGISTERS, State};
use isaforge_runtime::usc::{Register, Trap};
use isaforge_runtime::{Level, MemoryFault};
use isaforge_usc::{ISA, Parts, decode};

use crate::effect::Effect;
use crate::file::{Answer, Group};
use crate::random::{Hash, Random};
use crate::set::Set;
use groups::Input;
use host::Recorder;
use state::{MAIN, STATES};

/// The first cells of each kind.
mod cell {
    pub const COEFFICIENTS: u32 = 0x8000;
    pub const ALTERNATES: u32 = 0xa000;
    pub const SHARED: u32 = 0xc000;
    pub const GLOBALS: u32 = 0x1_0000;
    pub const SLOTS: u32 = 0x1_0010;
    pub const TASK: u32 = 0x1_0020;
    pub const KEPT_W: u32 = 0x1_0040;
    pub const MUTEXES: u32 = 0x1_0080;
    pub const NEXT: u32 = 0x1_00a0;
    pub const FAULT: u32 = 0x1_00b0;
    pub const TOLD: u32 = 0x1_00c0;
    pub const MEMORY: u32 = 0x2_0000;
}

/// The number of cases of an operation, and of an operation with many fields.
const CASES: [usize; 2] = [96, 200];
/// One in this number of cases has its answer in full.
const FULL: usize = 32;
const SEED: u64 = 0x7573_6320_6772_6f75;
/// Slot registers of the machine.
const SLOT_REGISTERS: u16 = 2;

/// States, and a host and memory for the execution of groups.
pub struct Usc {
    before: Vec<State>,
    host: Recorder,
    memory: Vec<u8>,
}

impl Usc {
    pub fn new() -> Self {
        let memory = state::memory();
        let bytes = memory.region(MAIN).unwrap_or_default().to_vec();
        Usc { before: state::all(), host: Recorder { memory, ..Recorder::default() }, memory: bytes }
    }

    /// Executes a group on a copy of a state. Returns the effect, and whether it failed. `None` when the fast path does
    /// not support the group.
    fn execute(&mut self, fast: Option<Level>, group: &Executable, number: usize) -> Option<(Effect, bool)> {
        let before = &self.before[number % STATES];
        let mut after = before.clone();
        (self.host.told, self.host.what) = (0, Hash::new().0);
        let result = match fast {
            None => group.execute(&mut after, &mut self.host),
            Some(level) => group.execute_fast(&mut after, &mut self.host, level)?,
        };
        let mut effect = Effect::default();
        match &result {
            Ok(next) => compare(before, &after, *next, &self.host, &mut effect),
            Err(trap) => fault(trap, &mut effect),
        }
        let memory = self.host.memory.region(MAIN).unwrap_or_default();
        if memory != self.memory {
            if result.is_ok() {
                effect.push_changed_bytes(cell::MEMORY, &self.memory, memory);
            }
            self.host.memory.write(MAIN, &self.memory).expect("it is mapped");
        }
        Some((effect, result.is_err()))
    }
}

/// Adds all changes except those of memory.
fn compare(before: &State, after: &State, next: Next, host: &Recorder, effect: &mut Effect) {
    effect.push_changed(0, before.registers.as_flattened(), after.registers.as_flattened());
    let banks = [
        (cell::COEFFICIENTS, &before.coefficients, &after.coefficients),
        (cell::ALTERNATES, &before.alternates, &after.alternates),
        (cell::SHARED, &before.shared, &after.shared),
    ];
    for (first, before, after) in banks {
        // Banks grow when a register beyond their end is written.
        let mut before = before.clone();
        before.resize(after.len().max(before.len()), 0);
        effect.push_changed(first, &before, after);
    }
    effect.push_changed(cell::GLOBALS, &before.globals, &after.globals);
    effect.push_changed(cell::SLOTS, &before.slots, &after.slots);
    let task = |state: &State| {
        let [coefficients, shared] = state.base.map(u32::from);
        [state.running, state.predicate, state.link, coefficients, shared, state.kept, state.failed]
    };
    effect.push_changed(cell::TASK, &task(before), &task(after));
    effect.push_changed(cell::KEPT_W, &before.kept_w, &after.kept_w);
    let mutexes = |state: &State| state.mutexes.map(|holder| holder.map_or(0, |task| task as u32 + 1));
    effect.push_changed(cell::MUTEXES, &mutexes(before), &mutexes(after));
    let (kind, number) = match next {
        Next::After => (0, 0),
        Next::At(offset) => (1, offset as u32),
        Next::Ended => (2, 0),
        Next::Wants(id) => (3, id),
        Next::Sleeps(id) => (4, id),
        Next::Wakes(id) => (5, id),
    };
    if next != Next::After {
        effect.push(cell::NEXT, kind);
        effect.push(cell::NEXT + 1, number);
    }
    if host.told > 0 {
        effect.push(cell::TOLD, host.told);
        effect.push(cell::TOLD + 1, host.what as u32);
    }
}

/// Adds a fault.
fn fault(trap: &Trap, effect: &mut Effect) {
    let (kind, words) = match trap {
        Trap::Index { instance, reach, number } => (1, [*instance as u64, *reach as u64, *number]),
        Trap::Burst(by) => (2, [u64::from(*by), 0, 0]),
        Trap::Fixed => (3, [0; 3]),
        Trap::Memory { instance, fault } => {
            let (address, size) = match *fault {
                MemoryFault::Unmapped { address, size } => (address, size as u64),
                MemoryFault::Straddles { address, size, .. } => (address, size as u64),
            };
            (4, [*instance as u64, address, size])
        }
        Trap::Format { instance, code } => (5, [*instance as u64, u64::from(*code), 0]),
        Trap::Breakpoint => (6, [0; 3]),
        Trap::Unknown => (7, [0; 3]),
        other => panic!("a single group cannot end in: {other}"),
    };
    effect.push(cell::FAULT, kind);
    (cell::FAULT + 1..).zip(words).for_each(|(cell, word)| effect.push(cell, (word ^ word >> 32) as u32));
}

/// Decodes an input: the state, then a byte that tells whether a text follows.
fn split(input: &[u8]) -> (usize, Option<Executable>) {
    let group = match input {
        [_, 0, bytes @ ..] => {
            // Inputs are padded to the longest one of their group.
            let length = decode(bytes).map_or(0, |group| group.as_bytes().len());
            Executable::of_bytes(&bytes[..length], SLOT_REGISTERS).ok()
        }
        [_, 1, text @ ..] => parts(text).and_then(|parts| Executable::of_parts(&parts).ok()),
        _ => None,
    };
    (input.first().copied().unwrap_or(0).into(), group)
}

fn parts(text: &[u8]) -> Option<Parts> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    std::str::from_utf8(&text[..end]).ok()?.parse().ok()
}

fn join(state: usize, group: &Input) -> Vec<u8> {
    let (kind, bytes) = match group {
        Input::Bytes(bytes) => (0, &bytes[..]),
        Input::Text(text) => (1, text.as_bytes()),
    };
    [state as u8, kind].into_iter().chain(bytes.iter().copied()).collect()
}

impl Set for Usc {
    const FILE: &'static str = "usc.bin";

    fn run(&mut self, input: &[u8]) -> Effect {
        let (state, group) = split(input);
        let found = group.and_then(|group| self.execute(None, &group, state));
        // A group that cannot be loaded has no recorded effect.
        found.map_or(Effect(vec![(cell::FAULT, u32::MAX)]), |(effect, _)| effect)
    }

    fn run_fast(&mut self, input: &[u8], turn: usize) -> Option<(Effect, bool)> {
        let (state, group) = split(input);
        let level = Level::available().into_iter().cycle().nth(turn)?;
        self.execute(Some(level), &group?, state)
    }

    fn is_fault(&self, effect: &Effect) -> bool {
        effect.0.iter().any(|(cell, _)| *cell == cell::FAULT)
    }

    fn after_fault(&self, effect: &Effect) -> Effect {
        effect.clone()
    }

    fn describe(&self, input: &[u8]) -> String {
        let (state, _) = split(input);
        let text = match input {
            [_, 0, bytes @ ..] => decode(bytes).map_or_else(|error| error.to_string(), |group| group.to_string()),
            [_, _, text @ ..] => parts(text).map_or_else(|| "no group".to_owned(), |parts| parts.to_string()),
            _ => String::new(),
        };
        let before = &self.before[state % STATES];
        let (running, predicate) = (before.running, before.predicate);
        format!("`{text}` on state {state}, valid {:08x}, running {running:08x}, p0 {predicate:08x}", before.valid)
    }

    fn cell(&self, cell: u32) -> String {
        const TASK: [&str; 7] = ["running", "p0", "link", "base of coefficients", "base of shared", "kept", "failed"];
        match cell {
            0..cell::COEFFICIENTS => {
                let (column, instance) = (cell / 32, cell % 32);
                let name = match column {
                    0..256 => Register::special(column).map_or(format!("sr{column}"), |r| r.to_string()),
                    256..504 => format!("r{}", column - 256),
                    504..752 => format!("vi{}", column - 504),
                    _ => format!("idx{}", column as usize + 2 - REGISTERS),
                };
                format!("{name}, instance {instance}")
            }
            cell::COEFFICIENTS..cell::ALTERNATES => format!("cf{}", cell - cell::COEFFICIENTS),
            cell::ALTERNATES..cell::SHARED => format!("cfa{}", cell - cell::ALTERNATES),
            cell::SHARED..cell::GLOBALS => format!("sh{}", cell - cell::SHARED),
            cell::GLOBALS..cell::SLOTS => format!("g{}", cell - cell::GLOBALS),
            cell::SLOTS..cell::TASK => format!("sl{}", cell - cell::SLOTS),
            cell::TASK..cell::KEPT_W => TASK[(cell - cell::TASK) as usize % TASK.len()].into(),
            cell::KEPT_W..cell::MUTEXES => format!("kept 1/W, instance {}", cell - cell::KEPT_W),
            cell::MUTEXES..cell::NEXT => format!("mutex {}", cell - cell::MUTEXES),
            cell::NEXT..cell::FAULT => format!("how it goes on, word {}", cell - cell::NEXT),
            cell::FAULT..cell::TOLD => format!("fault, word {}", cell - cell::FAULT),
            cell::TOLD => "calls of the host".into(),
            cell::MEMORY.. => format!("memory at {:#x}", MAIN + 4 * u64::from(cell - cell::MEMORY)),
            _ => "what the host was told".into(),
        }
    }

    fn record(&mut self) -> (Vec<Group>, String) {
        let own = |number: &usize| {
            let operation = &ISA.operations[*number];
            !operation.remark && operation.slots & 1 == 0
        };
        let (mut groups, mut few) = (vec![], vec![]);
        for number in (0..ISA.operations.len()).filter(own) {
            let (group, faults) = self.record_operation(number);
            if group.inputs.len() < CASES[0] || 4 * faults > group.inputs.len() {
                few.push(format!("{} {} with {faults} faults", group.name, group.inputs.len()));
            }
            groups.push(group);
        }
        (groups, format!("few cases or many faults: {few:?}"))
    }
}

impl Usc {
    /// Returns the cases of an operation, and the number of faults among them.
    fn record_operation(&mut self, number: usize) -> (Group, usize) {
        let operation = &ISA.operations[number];
        let random = &mut Random::new(&[SEED, Hash::of(operation.name.as_bytes())]);
        let tokens = operation.syntax.len();
        let count = if tokens > 14 { CASES[1] } else { CASES[0] };
        let messages = operation.slots >> 1 & 1 != 0 || operation.name == "GTA";
        let mut group = Group { name: operation.name.to_owned(), ..Group::default() };
        let mut faults = 0;
        for _ in 0..600 * count {
            if group.inputs.len() == count {
                break;
            }
            let Some(input) = groups::draw(number, random) else { continue };
            let mut state = random.below(STATES);
            while messages && !state::has_addresses(state) && !random.one_in(3) {
                state = random.below(STATES);
            }
            let input = join(state, &input);
            let (_, Some(executable)) = split(&input) else { continue };
            let Some((effect, failed)) = self.execute(None, &executable, state) else { continue };
            // Few faults are kept, since they say little about the effect of an operation.
            if failed && 8 * faults > group.inputs.len() {
                continue;
            }
            faults += usize::from(failed);
            group.inputs.push(input);
            let full = group.inputs.len() % FULL == 1;
            group.answers.push(if full { Answer::Full(effect) } else { Answer::Hash(effect.hash()) });
        }
        (group, faults)
    }
}
