//! Valhall: every form, its modifiers and classes of values, one word at a time.
//!
//! An input is a word and the number of a state. The answer is the change of the state by the word, and what the host
//! received. After a fault only the fault and memory count, since the registers of other lanes are unspecified then.

pub mod derived;
mod host;
pub mod mutants;
mod state;
mod words;

use isaforge_core::semantics::Semantics;
use isaforge_runtime::valhall::host::HostError;
use isaforge_runtime::valhall::single::{self, Next, State};
use isaforge_runtime::{Level, MemoryFault, RunError};
use isaforge_valhall::{ISA, decode};

use crate::effect::Effect;
use crate::file::{Answer, Group};
use crate::random::{Hash, Random};
use crate::set::Set;
use host::Recorder;
use state::{FOR_MESSAGES, REGIONS, STATES};

/// The first cells of each kind.
mod cell {
    pub const PCS: u32 = 1024;
    pub const LIVE: u32 = 1040;
    pub const BARRIER: u32 = 1041;
    pub const FAULT: u32 = 1042;
    pub const TOLD: u32 = 1052;
    pub const WHAT: u32 = 1053;
    pub const HELPERS: u32 = 1054;
    pub const PLACES: u32 = 1056;
    pub const REGIONS: [u32; 3] = [0x1000, 0x1400, 0x1500];
    pub const SHARED: u32 = 0x1600;
    pub const PRIVATE: u32 = 0x4000;
}

/// All combinations of a form's choices are tested if there are no more than this.
const ALL: u64 = 2048;
/// The minimum and maximum number of cases of a form.
const CASES: [usize; 2] = [400, 2048];
/// One in this number of cases has its answer in full.
const FULL: usize = 16;
const SEED: u64 = 0x7661_6c68_616c_6c39;

/// States, and a host for the execution of words.
pub struct Valhall {
    before: Vec<State>,
    after: State,
    host: Recorder,
}

/// The engine that executes a case.
#[derive(Clone, Copy, Debug)]
enum Engine {
    Reference,
    Fast(Level, usize),
    Texts(&'static Semantics),
}

impl Valhall {
    pub fn new() -> Self {
        let before = state::all();
        let after = before[0].clone();
        Valhall { before, after, host: Recorder::new() }
    }

    /// Executes a word on a copy of a state. Returns the effect, and whether it failed.
    fn execute(&mut self, engine: Engine, word: u64, number: usize) -> (Effect, bool) {
        let before = &self.before[number % STATES];
        let after = &mut self.after;
        *after.registers = *before.registers;
        (after.pcs, after.live) = (before.pcs, before.live);
        (after.warp, after.warps, after.words) = (before.warp, before.warps, before.words);
        after.uniforms.clone_from(&before.uniforms);
        after.quads.clone_from(&before.quads);
        // Memory is restored after each case that has changed it.
        after.private.resize(before.private.len(), 0);
        if after.private != before.private {
            after.private.clone_from(&before.private);
        }
        self.host.begin(before.quads.is_some());
        let result = match engine {
            Engine::Reference => single::execute(word, after, &mut self.host),
            Engine::Texts(semantics) => single::execute_with(semantics, word, after, &mut self.host),
            Engine::Fast(level, copies) => single::execute_fast(word, after, &mut self.host, level, copies),
        };
        let mut effect = Effect::default();
        match &result {
            Ok(next) => compare(before, after, *next, &self.host, &mut effect),
            Err(error) => fault(error, straggler(before), &mut effect),
        }
        let mut written = false;
        for ((base, _), cell) in REGIONS.into_iter().zip(cell::REGIONS) {
            let [before, after] = [before, &*after].map(|state| state.memory.region(base).unwrap_or_default());
            effect.push_changed_bytes(cell, before, after);
            written |= before != after;
        }
        effect.push_changed_bytes(cell::SHARED, &before.shared, &after.shared);
        effect.push_changed_bytes(cell::PRIVATE, &before.private, &after.private);
        if written {
            after.memory.clone_from(&before.memory);
        }
        if after.shared != before.shared {
            after.shared.clone_from(&before.shared);
        }
        (effect, result.is_err())
    }
}

/// Adds all changes except those of memory.
fn compare(before: &State, after: &State, next: Next, host: &Recorder, effect: &mut Effect) {
    effect.push_changed(0, before.registers.as_flattened(), after.registers.as_flattened());
    // The lanes with the lowest program counter have mostly advanced to the next word, which is not stored.
    let live = |lane: &usize| before.live >> lane & 1 != 0;
    let pc = (0..16).filter(live).map(|lane| before.pcs[lane]).min().unwrap_or(0);
    for lane in (0..16).filter(|lane| after.live >> lane & 1 != 0) {
        let expected = before.pcs[lane] + u32::from(before.pcs[lane] == pc);
        if after.pcs[lane] != expected {
            effect.push(cell::PCS + lane as u32, after.pcs[lane]);
        }
    }
    if after.live != before.live {
        effect.push(cell::LIVE, after.live.into());
    }
    if next == Next::Barrier {
        effect.push(cell::BARRIER, 1);
    }
    if host.told > 0 {
        effect.push(cell::TOLD, host.told);
        effect.push(cell::WHAT, host.what.0 as u32);
    }
    if let (Some(before), Some(after)) = (&before.quads, &after.quads) {
        if before.helpers != after.helpers {
            effect.push(cell::HELPERS, after.helpers.into());
        }
        let packed = |places: [[i16; 2]; 16]| places.map(|[x, y]| u32::from(x as u16) | u32::from(y as u16) << 16);
        effect.push_changed(cell::PLACES, &packed(before.places), &packed(after.places));
    }
}

/// Returns the first live lane that does not execute the word, if there is one.
fn straggler(state: &State) -> Option<u8> {
    let live = || (0..state.pcs.len()).filter(|lane| state.live >> lane & 1 != 0);
    let first = live().map(|lane| state.pcs[lane]).min()?;
    live().find(|lane| state.pcs[*lane] != first).map(|lane| lane as u8)
}

/// Adds a fault: its kind, its lane and its datum. For a barrier in divergent flow, the missing lane was recorded.
fn fault(error: &RunError, straggler: Option<u8>, effect: &mut Effect) {
    let (kind, [a, b]) = match error {
        RunError::Undecodable { .. } => (1, [0, 0]),
        RunError::Unsupported { .. } => (2, [0, 0]),
        RunError::Register { register, .. } => (3, [u64::from(*register), 0]),
        RunError::Memory { fault: MemoryFault::Unmapped { address, size }, .. } => (4, [*address, *size as u64]),
        RunError::Memory { fault: MemoryFault::Straddles { address, size, .. }, .. } => (5, [*address, *size as u64]),
        RunError::Host { error, .. } => match error {
            HostError::Missing { kind, handle } => (16 + *kind as u32, [handle.table.into(), handle.index.into()]),
            HostError::OutOfBuffer { handle, offset, .. } => (8, [handle.index.into(), u64::from(*offset)]),
            HostError::Varying { byte } => (9, [u64::from(*byte), 0]),
            HostError::Special { index } => (10, [u64::from(*index), 0]),
            HostError::Target { number } => (11, [u64::from(*number), 0]),
            HostError::Descriptor { word } => (12, [u64::from(*word), 0]),
            HostError::Shape { .. } => (13, [0, 0]),
        },
        RunError::PixelIndex { index, .. } => (24, [u64::from(*index), 0]),
        RunError::OutOfProgram { target, .. } => (25, [*target as u64, 0]),
        RunError::Misaligned { address, .. } => (26, [*address, 0]),
        RunError::DivergentBarrier { elsewhere, .. } => (27, [*elsewhere as u64, 0]),
        other => panic!("a single word cannot end in: {other}"),
    };
    // The reference names no lane if all lanes are equally at fault.
    let lane = match error {
        RunError::DivergentBarrier { .. } => straggler,
        _ => error.place().and_then(|place| place.lane),
    };
    let lane = lane.map_or(0, |lane| u32::from(lane) + 1);
    let words = [kind, lane, a as u32, (a >> 32) as u32, b as u32];
    words.into_iter().zip(cell::FAULT..).for_each(|(word, cell)| effect.push(cell, word));
}

fn split(input: &[u8]) -> (u64, usize) {
    let (word, state) = input.split_first_chunk().expect("an input has nine bytes");
    (u64::from_le_bytes(*word), state[0].into())
}

fn join(word: u64, state: usize) -> Vec<u8> {
    word.to_le_bytes().into_iter().chain([state as u8]).collect()
}

impl Set for Valhall {
    const FILE: &'static str = "valhall.bin";

    fn run(&mut self, input: &[u8]) -> Effect {
        let (word, state) = split(input);
        self.execute(Engine::Reference, word, state).0
    }

    fn run_fast(&mut self, input: &[u8], turn: usize) -> Option<(Effect, bool)> {
        let (word, state) = split(input);
        let level = Level::available().into_iter().cycle().nth(turn)?;
        let live = self.before[state % STATES].live;
        // In lanes that have ended whole rows may be written, which has no effect.
        let is_seen = |(cell, _): &(u32, u32)| *cell >= cell::PCS || live >> (cell % 16) & 1 != 0;
        let (mut effect, failed) = self.execute(Engine::Fast(level, 1), word, state);
        effect.0.retain(is_seen);
        if failed {
            // What other lanes wrote before may differ then.
            effect.0.retain(|(cell, _)| *cell < cell::REGIONS[0]);
        }
        // Eight warps fill a bundle and use whole rows. Stores and calls of the host would happen eight times.
        if !failed && effect.0.iter().all(|(cell, _)| *cell < cell::TOLD) {
            let (mut all, _) = self.execute(Engine::Fast(level, 8), word, state);
            all.0.retain(is_seen);
            if all != effect {
                return Some((all, failed));
            }
        }
        Some((effect, failed))
    }

    fn is_fault(&self, effect: &Effect) -> bool {
        effect.0.iter().any(|(cell, _)| *cell == cell::FAULT)
    }

    fn after_fault(&self, effect: &Effect) -> Effect {
        Effect(effect.0.iter().filter(|(cell, _)| *cell < cell::REGIONS[0]).copied().collect())
    }

    fn describe(&self, input: &[u8]) -> String {
        let (word, number) = split(input);
        let state = &self.before[number % STATES];
        let text = decode(word).map_or_else(|error| error.to_string(), |instruction| instruction.to_string());
        let mut all = format!("`{text}` ({word:#018x}) on state {number}, live lanes {:#06x}", state.live);
        let Ok(instruction) = decode(word) else { return all };
        let mut registers: Vec<usize> = instruction
            .reads()
            .chain(instruction.writes())
            .filter(|used| used.bank == 0)
            .flat_map(|used| used.first..used.first + used.count)
            .map(|register| register.into())
            .collect();
        registers.sort_unstable();
        registers.dedup();
        for register in registers {
            if let Some(column) = state.registers.get(register) {
                let words = column.map(|word| format!("{word:08x}"));
                all += &format!("\n    r{register} was {}", words.join(" "));
            }
        }
        all
    }

    fn cell(&self, cell: u32) -> String {
        match cell {
            0..cell::PCS => format!("r{}, lane {}", cell / 16, cell % 16),
            cell::PCS..cell::LIVE => format!("program counter, lane {}", cell % 16),
            cell::LIVE => "live lanes".into(),
            cell::BARRIER => "barrier".into(),
            cell::FAULT => "kind of fault".into(),
            1043 => "faulty lane, from 1".into(),
            1044..cell::TOLD => format!("fault, word {}", cell - 1044),
            cell::TOLD => "calls of the host".into(),
            cell::WHAT => "what the host was told".into(),
            cell::HELPERS => "helper lanes".into(),
            cell::PLACES..0x1000 => format!("place of interpolation, lane {}", cell % 16),
            0x1000..cell::SHARED => {
                let region = cell::REGIONS.iter().rposition(|first| cell >= *first).unwrap_or(0);
                format!("memory at {:#x}", REGIONS[region].0 + 4 * u64::from(cell - cell::REGIONS[region]))
            }
            cell::SHARED..cell::PRIVATE => format!("workgroup memory at {:#x}", 4 * (cell - cell::SHARED)),
            _ => format!("thread memory at {:#x}", 4 * (cell - cell::PRIVATE)),
        }
    }

    fn record(&mut self) -> (Vec<Group>, String) {
        let (mut groups, mut complete, mut most, mut faulty) = (vec![], 0, 0, vec![]);
        for (opcode, form) in ISA.forms.iter().enumerate() {
            let total = words::combinations(&words::choices(ISA, form)[0]);
            most = most.max(total);
            complete += usize::from(total <= ALL);
            let (group, faults) = self.record_form(opcode as u16);
            if 3 * faults > group.inputs.len() || group.inputs.len() < CASES[0] {
                faulty.push(format!("{} {faults} of {}", group.name, group.inputs.len()));
            }
            groups.push(group);
        }
        let report = format!(
            "{} forms, {complete} of them with all combinations of their modifiers (others have up to {most}); many cases \
             are faults in {faulty:?}",
            groups.len()
        );
        (groups, report)
    }
}

impl Valhall {
    /// Returns the cases of a form, and the number of faults among them.
    fn record_form(&mut self, opcode: u16) -> (Group, usize) {
        let form = &ISA.forms[usize::from(opcode)];
        let name = form.name.str;
        let random = &mut Random::new(&[SEED, Hash::of(name.as_bytes())]);
        let [choices, timing] = words::choices(ISA, form);
        let total = words::combinations(&choices);
        let mut rows: Vec<Vec<usize>> = match total {
            0..=ALL => (0..total).map(|number| words::combination(&choices, number)).collect(),
            _ => words::pairs(&choices, random),
        };
        let count = if total <= ALL { rows.len().max(CASES[0]) } else { CASES[1].max(rows.len()) };
        let once = rows.len();
        while rows.len() < count {
            let row = match total {
                0..=ALL => rows[rows.len() % once].clone(),
                _ => choices.iter().map(|choice| random.below(choice.values.len())).collect(),
            };
            rows.push(row);
        }
        let message = words::is_message(form);
        let mut group = Group { name: name.to_owned(), ..Group::default() };
        let mut faults = 0;
        for row in rows {
            // Few faults are kept, since they say little about the effect of an instruction.
            let patience = if random.one_in(6) { 0 } else { 10 };
            for left in (0..=patience).rev() {
                let flow = timing.iter().map(|choice| (choice.mask, random.pick(&choice.values)));
                let chosen = choices.iter().zip(&row).map(|(choice, &value)| (choice.mask, choice.values[value]));
                let chosen: Vec<_> = chosen.chain(flow).collect();
                let Some(word) = words::word(ISA, opcode, &chosen, random) else { continue };
                let mut state = random.below(STATES);
                while message && !FOR_MESSAGES.contains(&state::kind(state)) && !random.one_in(4) {
                    state = random.below(STATES);
                }
                let (effect, failed) = self.execute(Engine::Reference, word, state);
                if failed && left > 0 {
                    continue;
                }
                faults += usize::from(failed);
                group.inputs.push(join(word, state));
                let full = group.inputs.len() % FULL == 1;
                group.answers.push(if full { Answer::Full(effect) } else { Answer::Hash(effect.hash()) });
                break;
            }
        }
        (group, faults)
    }
}
