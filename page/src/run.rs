//! Execution in the page: one warp on the reference semantics, forwards and backwards.

use std::ops::ControlFlow;

use isaforge_core::Tables;
use isaforge_core::data::Architecture;
use isaforge_core::machine::{Executed, Host, Intrinsic, Machine, Register, Stop};

use crate::json::Json;

/// The maximum number of lanes of a machine, of which those that the hardware has are live.
const LANES: usize = 64;
/// The address and size of the memory that programs may write.
const DATA: (u64, usize) = (0x1_0000, 0x1_0000);
/// The maximum number of instructions in a run.
const MAX_STEPS: u64 = 100_000;
/// The maximum amount of program output that is kept, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// The output of a program.
#[derive(Default)]
struct Console {
    text: String,
}

impl Host<LANES> for Console {
    fn write(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        if self.text.len() < MAX_TEXT {
            self.text.push_str(&String::from_utf8_lossy(bytes));
        }
        Ok(())
    }

    fn intrinsic(&mut self, _: Intrinsic<'_, LANES>) -> Result<[u64; LANES], String> {
        Err("only one program runs here, without the hardware around it".into())
    }

    fn executed(&mut self, _: &Executed<'_, LANES>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A register or state that is shown.
enum Cell {
    Register(Register),
    /// A state: its name, and the index of the element if it is an array.
    State(&'static str, Option<u32>),
}

/// A loaded program. Stepping back reruns it from the start, which is deterministic because it has no external input.
pub struct Run {
    code: Vec<u8>,
    machine: Machine<LANES>,
    console: Console,
    steps: u64,
    ended: String,
    before: Vec<Vec<u64>>,
}

impl Run {
    /// Loads a program, in memory order.
    pub fn new(architecture: &Architecture, code: Vec<u8>) -> Result<Run, &'static str> {
        let machine =
            machine(architecture, &code).ok_or("the specification does not define how programs of this set execute")?;
        let mut run =
            Run { code, machine, console: Console::default(), steps: 0, ended: String::new(), before: Vec::new() };
        run.before = run.values();
        Ok(run)
    }

    /// Executes `count` steps, or goes back by as many.
    pub fn go(&mut self, architecture: &Architecture, forward: bool, count: u64) {
        let to =
            if forward { self.steps.saturating_add(count).min(MAX_STEPS) } else { self.steps.saturating_sub(count) };
        if let Some(machine) = machine(architecture, &self.code).filter(|_| !forward) {
            self.machine = machine;
            self.console = Console::default();
            self.steps = 0;
            self.ended.clear();
        }
        self.before = self.values();
        while self.steps < to && self.ended.is_empty() {
            // Going back shows again what the last instruction changed.
            if !forward && self.steps + 1 == to {
                self.before = self.values();
            }
            match self.machine.step(&mut self.console) {
                Ok(None) => {}
                Ok(Some(Stop::Exit(status))) => self.ended = format!("the program has ended with status {status}"),
                Ok(Some(_)) => self.ended = "the program has ended".to_owned(),
                Err(trap) => self.ended = trap.to_string(),
            }
            self.steps += 1;
        }
    }

    /// Registers that are not constants, and states that are not registers and live longer than an instruction.
    fn cells(&self) -> Vec<Cell> {
        let (hardware, semantics) = (self.machine.hardware(), self.machine.semantics());
        let banks = hardware.banks.iter().zip(0..).filter(|(bank, _)| bank.holds.is_empty());
        let registers = banks.flat_map(|(bank, index)| {
            (0..bank.count.min(256)).map(move |number| Cell::Register(Register { bank: index, index: number }))
        });
        let is_register = |state: &usize| hardware.aliases.iter().any(|(alias, _)| usize::from(*alias) == *state);
        let wires = semantics.path.as_ref().map_or(0, |path| path.local.into());
        let states = semantics.states.iter().enumerate().skip(wires).filter(|(index, _)| !is_register(index));
        let states = states.flat_map(|(_, state)| {
            (0..state.count.min(256)).map(|element| Cell::State(state.name, (state.count > 1).then_some(element)))
        });
        registers.chain(states).collect()
    }

    fn lanes(&self) -> usize {
        usize::from(self.machine.hardware().lanes).clamp(1, LANES)
    }

    /// The values of all cells; those that lanes share have one value.
    fn values(&self) -> Vec<Vec<u64>> {
        let value = |cell: &Cell, lane: usize| match *cell {
            Cell::Register(register) => self.machine.read(register, lane),
            Cell::State(name, element) => self.machine.read_state(name, element.unwrap_or(0).into(), lane),
        };
        let lanes = |cell: &Cell| match cell {
            Cell::Register(register) => {
                let bank = self.machine.hardware().banks.get(usize::from(register.bank));
                if bank.is_some_and(|bank| bank.uniform) { 1 } else { self.lanes() }
            }
            Cell::State(..) => self.lanes(),
        };
        let all = self.cells();
        all.iter().map(|cell| (0..lanes(cell)).map(|lane| value(cell, lane).unwrap_or(0)).collect()).collect()
    }

    /// Writes the position of the program and the contents of registers.
    pub fn state(&self, json: &mut Json) {
        let values = self.values();
        // The state of lanes that do not execute.
        let idle = |lane: usize| match (self.machine.live() >> lane & 1, self.machine.masked() >> lane & 1) {
            (0, _) => "ended",
            (_, 1) => "masked",
            _ => "",
        };
        let idle: Vec<&str> = (0..self.lanes()).map(idle).collect();
        json.object(|json| {
            json.field("steps", |json| json.number(self.steps as i64));
            json.field("pc", |json| json.number(self.machine.pc() as i64));
            json.field("ended", |json| json.text(&self.ended));
            json.field("limit", |json| {
                json.text(&if self.steps < MAX_STEPS || !self.ended.is_empty() {
                    String::new()
                } else {
                    format!("stopped at the limit of {MAX_STEPS} instructions")
                });
            });
            json.field("written", |json| json.text(&self.console.text));
            json.field("idle", |json| json.array(|json| idle.iter().for_each(|word| json.text(word))));
            json.field("registers", |json| {
                json.array(|json| {
                    for ((cell, now), before) in self.cells().iter().zip(&values).zip(&self.before) {
                        let changed = before != now;
                        if !changed && now.iter().all(|value| *value == 0) {
                            continue;
                        }
                        json.object(|json| {
                            let name = match cell {
                                Cell::Register(register) => self.machine.hardware().name(*register).to_string(),
                                Cell::State(name, None) => (*name).to_owned(),
                                Cell::State(name, Some(element)) => format!("{name}[{element}]"),
                            };
                            json.field("name", |json| json.text(&name));
                            json.field("changed", |json| json.truth(changed));
                            json.field("values", |json| {
                                json.array(|json| now.iter().for_each(|value| json.text(&format!("{value:x}"))));
                            });
                        });
                    }
                });
            });
        });
    }
}

fn machine(architecture: &Architecture, code: &[u8]) -> Option<Machine<LANES>> {
    let (semantics, hardware) = (architecture.semantics?, architecture.hardware?);
    let mut machine = match architecture.tables {
        Tables::Words(isa) => Machine::new(isa, semantics, hardware),
        Tables::Streams(engine) => Machine::new(engine, semantics, hardware),
        Tables::Groups(isa) => Machine::new(isa, semantics, hardware),
    };
    machine.boot(code).ok()?;
    // Programs without data do not need this memory, so failure is ignored.
    let _ = machine.memory.map(DATA.0, vec![0; DATA.1], true);
    Some(machine)
}
