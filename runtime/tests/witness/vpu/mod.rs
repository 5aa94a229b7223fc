//! The VPU: every instruction, its operands' registers, selectors, write modes and flags, and classes of values, one
//! word at a time.
//!
//! An input is a word and the number of a state. The answer is the change by the word (registers, flags, threads,
//! banks, the queue, tiles and their locks, memory), how the group continues, and misuse.

pub mod derived;
mod state;

use isaforge_core::bits::ones;
use isaforge_core::table::{Operand, Shape};
use isaforge_runtime::Level;
use isaforge_runtime::vpu::single::{State, execute};
use isaforge_vpu::{ISA, decode};

use crate::effect::Effect;
use crate::file::{Answer, Group};
use crate::random::{Hash, Random};
use crate::set::Set;
use state::{ADDRESSES, STATES, cell};

/// The number of cases of an instruction without side effects, and of other instructions.
const CASES: [usize; 2] = [500, 240];
/// One in this number of cases has its answer in full.
const FULL: usize = 16;
const SEED: u64 = 0x7670_7520_776f_7264;

/// States, with the contents of their cells.
pub struct Vpu {
    states: Vec<(State, Vec<u32>)>,
}

impl Vpu {
    pub fn new() -> Self {
        let with_cells = |state: State| {
            let cells = state::cells(&state);
            (state, cells)
        };
        Vpu { states: state::all().into_iter().map(with_cells).collect() }
    }

    /// Executes a word by the reference, or by operations on rows at a level.
    fn execute(&self, level: Option<Level>, word: u64, number: usize) -> Effect {
        let (before, cells) = &self.states[number % STATES];
        let mut after = before.clone();
        let next = execute(level, word, &mut after).expect("only instructions are recorded");
        let mut effect = Effect::default();
        effect.push_changed(0, cells, &state::cells(&after));
        let warnings = after.warnings.iter().fold(0, |all, misuse| all | 1 << *misuse as u32);
        let notes = [(cell::NEXT, state::next(next)), (cell::WARNINGS, warnings)];
        notes.into_iter().filter(|(_, word)| *word != 0).for_each(|(cell, word)| effect.push(cell, word));
        effect
    }
}

fn split(input: &[u8]) -> (u64, usize) {
    let (word, state) = input.split_first_chunk().expect("an input has nine bytes");
    (u64::from_le_bytes(*word), state[0].into())
}

/// The bits of an operand: any register, with several kinds of selectors or modes.
fn operand(operand: &Operand, random: &mut Random) -> u64 {
    let Shape::One { kind, at } = operand.shape else {
        return 0;
    };
    let kind = &ISA.kinds[usize::from(kind)];
    let any = random.next() & ones(kind.width.into());
    let bits = match kind.name {
        "source" => {
            // Selectors: identity, reversed, one component, pairs, swapped pairs, any.
            let selectors = random.pick(&[0x1b, 0x1b, 0xe4, 0x00, 0xff, 0x11, 0xbb, 0x4e, any & 0xff, any & 0xff]);
            let register =
                if operand.name == "address" && !random.one_in(8) { (any >> 8 & 0x33) | ADDRESSES } else { any >> 8 };
            register << 8 | selectors
        }
        // Modes: all components, none, by flags, any.
        _ => any & !0xff | random.pick(&[0xff, 0xff, 0xff, 0xaa, 0x00, 0x55, 0xf0, any & 0xff, any & 0xff, any & 0xff]),
    };
    bits << at
}

impl Set for Vpu {
    const FILE: &'static str = "vpu.bin";

    fn run(&mut self, input: &[u8]) -> Effect {
        let (word, state) = split(input);
        self.execute(None, word, state)
    }

    fn run_fast(&mut self, input: &[u8], turn: usize) -> Option<(Effect, bool)> {
        let (word, state) = split(input);
        let level = Level::available().into_iter().cycle().nth(turn)?;
        Some((self.execute(Some(level), word, state), false))
    }

    fn is_fault(&self, _: &Effect) -> bool {
        false
    }

    fn after_fault(&self, effect: &Effect) -> Effect {
        effect.clone()
    }

    fn describe(&self, input: &[u8]) -> String {
        let (word, number) = split(input);
        let state = &self.states[number % STATES].0;
        let text = decode(word).map_or_else(|error| error.to_string(), |instruction| instruction.to_string());
        let (active, flags) = (state.active, state.registers.flags);
        format!("`{text}` ({word:#018x}) on state {number}, active {active:04b}, flags {flags:x?}, bank {}", state.bank)
    }

    fn cell(&self, cell: u32) -> String {
        state::name(cell)
    }

    fn record(&mut self) -> (Vec<Group>, String) {
        let groups: Vec<Group> = (0..ISA.forms.len()).map(|form| self.record_form(form)).collect();
        let quiet = |group: &&Group| {
            let quiet = |answer: &&Answer| matches!(answer, Answer::Full(effect) if effect.0.is_empty());
            2 * group.answers.iter().filter(quiet).count() > group.answers.len() / FULL
        };
        let quiet: Vec<&str> = groups.iter().filter(quiet).map(|group| group.name.as_str()).collect();
        (groups.clone(), format!("{} instructions; most cases change nothing in {quiet:?}", groups.len()))
    }
}

impl Vpu {
    fn record_form(&self, form: usize) -> Group {
        let form = &ISA.forms[form];
        let name = form.name.str;
        let random = &mut Random::new(&[SEED, Hash::of(name.as_bytes())]);
        let mut group = Group { name: name.to_owned(), ..Group::default() };
        let computes = matches!(form.unit, "float" | "integer");
        for _ in 0..CASES[usize::from(!computes)] {
            let own = form.modifiers.iter().fold(0, |all, modifier| all | modifier.bits.mask(0));
            let mut word = form.fixed_value | random.next() & (form.ignored | own);
            for (at, used) in form.operands.iter().enumerate() {
                word |= match used.shape {
                    Shape::Number { bits, .. } => random.next() & bits.mask(0),
                    _ => operand(&form.operands[at], random),
                };
            }
            let state = random.below(STATES);
            let effect = self.execute(None, word, state);
            group.inputs.push(word.to_le_bytes().into_iter().chain([state as u8]).collect());
            let full = group.inputs.len() % FULL == 1;
            group.answers.push(if full { Answer::Full(effect) } else { Answer::Hash(effect.hash()) });
        }
        group
    }
}
