//! Observable machines for the programs of any set with semantics.

use std::fmt;
use std::ops::ControlFlow;

use isaforge_core::bits::ones;
use isaforge_core::machine::{self as own, Executed, Hardware, Host, Stop, Touched};
use isaforge_core::semantics::Semantics;

use crate::machine::{Access, AccessKind, At, Bank, Machine, Observer, Properties, Register, View};
use crate::observe::Terms;

/// Creates a machine at the start of its program.
pub type Start<'a, const L: usize> = Box<dyn Fn() -> Result<own::Machine<L>, String> + 'a>;

/// A program of any set with semantics, with everything that it runs on.
pub struct Watched<'a, const L: usize> {
    properties: Properties,
    /// The states that are shown as banks; they follow the banks of registers.
    states: Vec<&'static str>,
    /// The address at which the program ends, if there is one.
    end: Option<u64>,
    budget: u64,
    start: Start<'a, L>,
}

impl<const L: usize> fmt::Debug for Watched<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("properties", &self.properties).finish_non_exhaustive()
    }
}

impl<'a, const L: usize> Watched<'a, L> {
    /// Creates a program with this code at a base address. It ends at `end`, or when it stops itself; after `budget`
    /// instructions it is an error.
    ///
    /// # Errors
    /// Those of `start`.
    pub fn new(
        (semantics, hardware): (&'static Semantics, &'static Hardware),
        (base, code): (u64, Vec<u8>),
        (end, budget): (Option<u64>, u64),
        start: Start<'a, L>,
    ) -> Result<Self, String> {
        let fetches =
            start()?.memory.spans().map(|span| span.base..span.base.saturating_add(span.bytes.len() as u64)).collect();
        let bank = |bank: &own::Bank| Bank {
            title: String::new(),
            open: bank.open.to_owned(),
            close: bank.close.to_owned(),
            names: bank.names.iter().map(|name| (*name).to_owned()).collect(),
            count: bank.count,
            width: bank.width.into(),
            uniform: bank.uniform,
            constant: false,
        };
        let is_register = |index: usize| hardware.aliases.iter().any(|(state, _)| usize::from(*state) == index);
        let states = || semantics.states.iter().enumerate().filter(|(index, _)| !is_register(*index));
        let state =
            |(index, state)| Bank { uniform: hardware.uniform.contains(&(index as u16)), ..Bank::of_state(state) };
        let properties = Properties {
            terms: Terms { instruction: "instruction", step: "instruction", thread: "lane", warp: "warp" },
            lanes: usize::from(hardware.lanes).clamp(1, L),
            banks: hardware.banks.iter().map(bank).chain(states().map(state)).collect(),
            spaces: hardware.spaces.iter().filter_map(|own| name(semantics, own)).collect(),
            group_memory: None,
            unit: 1,
            base,
            code,
            fetches,
        };
        Ok(Watched { properties, states: states().map(|(_, state)| state.name).collect(), end, budget, start })
    }
}

impl<const L: usize> Machine for Watched<'_, L> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn run(&self, observer: &mut dyn Observer) -> Result<(), String> {
        let mut machine = (self.start)()?;
        let states = (&self.states[..], self.properties.banks.len() - self.states.len());
        let mut noted = Noted { accesses: Vec::new(), spaces: machine.semantics().spaces, observer };
        for _ in 0..self.budget {
            let pc = machine.pc();
            if self.end == Some(pc) {
                noted.observer.end(&Seen { machine: &machine, pc, active: 0, states, accesses: &[], exit: None });
                return Ok(());
            }
            let active = active(&machine, pc);
            let seen = Seen { machine: &machine, pc, active, states, accesses: &[], exit: None };
            if noted.observer.before(&seen).is_break() {
                return Ok(());
            }
            noted.accesses.clear();
            let waited = machine.waiting();
            let stop = match machine.step(&mut noted) {
                Ok(stop) => stop,
                Err(trap) => {
                    let text = machine.text(trap.pc).map_or(String::new(), |text| format!(" (`{text}`)"));
                    return Err(format!("{trap}{text}"));
                }
            };
            if waited & !machine.waiting() != 0 {
                noted.observer.barrier(0);
            }
            let seen = Seen { machine: &machine, pc, active, states, accesses: &noted.accesses, exit: None };
            if noted.observer.after(&seen).is_break() {
                return Ok(());
            }
            let exit = if let Some(Stop::Exit(status)) = stop { Some(status) } else { None };
            if exit.is_some() || stop == Some(Stop::Ended) {
                noted.observer.end(&Seen { machine: &machine, pc, active: 0, states, accesses: &[], exit });
                return Ok(());
            }
        }
        // Observers see where the program is, as before an instruction that fails.
        let pc = machine.pc();
        let seen = Seen { machine: &machine, pc, active: active(&machine, pc), states, accesses: &[], exit: None };
        if noted.observer.before(&seen).is_break() {
            return Ok(());
        }
        Err(format!("the program has used up its budget of {} instructions", self.budget))
    }
}

/// The name of an address space with a memory of its own.
fn name(semantics: &'static Semantics, own: &own::Space) -> Option<&'static str> {
    semantics.spaces.get(usize::from(own.space)).copied()
}

/// The active lanes of the instruction at the current address.
fn active<const L: usize>(machine: &own::Machine<L>, pc: u64) -> u64 {
    let here = (0..L).filter(|lane| machine.pc_of(*lane) == Some(pc)).fold(0, |mask, lane| mask | 1 << lane);
    here & machine.live() & !machine.masked()
}

/// The host of the machine: programs can only write to streams, and accesses are recorded.
struct Noted<'a> {
    accesses: Vec<Access>,
    /// The names of all address spaces.
    spaces: &'static [&'static str],
    observer: &'a mut dyn Observer,
}

impl<const L: usize> Host<L> for Noted<'_> {
    fn write(&mut self, stream: u64, bytes: &[u8]) -> Result<(), String> {
        self.observer.output(stream, bytes);
        Ok(())
    }

    fn looks_on(&self) -> bool {
        true
    }

    fn executed(&mut self, step: &Executed<'_, L>) -> ControlFlow<()> {
        let (mut lane, mut atomic, mut space) = (0, false, None);
        for touched in step.touched {
            let (address, size, kind, stored) = match *touched {
                Touched::By(by, together, own) => {
                    let name = |space: u16| self.spaces.get(usize::from(space)).copied();
                    (lane, atomic, space) = (by, together, own.and_then(name));
                    continue;
                }
                Touched::Loaded(address, size, _) => (address, size, AccessKind::Load, None),
                Touched::Stored(address, size, value) => (address, size, AccessKind::Store, Some(value)),
                _ => continue,
            };
            let kind = if atomic { AccessKind::Atomic } else { kind };
            // An atomic loads and, unless its comparison fails, stores.
            if let Some(last) = self.accesses.last_mut()
                && (last.kind, last.lane, last.address, last.stored) == (AccessKind::Atomic, lane, address, None)
                && stored.is_some()
            {
                last.stored = stored;
                continue;
            }
            self.accesses.push(Access { lane, size, address, kind, space, stored });
        }
        ControlFlow::Continue(())
    }
}

struct Seen<'a, const L: usize> {
    machine: &'a own::Machine<L>,
    pc: u64,
    active: u64,
    states: (&'a [&'static str], usize),
    accesses: &'a [Access],
    exit: Option<u64>,
}

impl<const L: usize> View for Seen<'_, L> {
    fn at(&self) -> At {
        At { warp: 0, pc: self.pc, live: self.machine.live() & ones(L as u32), active: self.active }
    }

    fn origin(&self) -> String {
        "warp 0".to_owned()
    }

    fn thread(&self, lane: usize) -> [u32; 3] {
        [lane as u32, 0, 0]
    }

    fn read(&self, register: Register, lane: usize) -> Option<u64> {
        let Register { bank, index } = register;
        match usize::from(bank).checked_sub(self.states.1) {
            Some(state) => self.machine.read_state(self.states.0.get(state)?, index.into(), lane),
            None => self.machine.read(own::Register { bank, index }, lane),
        }
    }

    fn memory(&self, _: usize, address: u64, into: &mut [u8]) -> Option<()> {
        into.copy_from_slice(self.machine.memory.bytes(address, into.len() as u64)?);
        Some(())
    }

    fn space_memory(&self, space: &str, address: u64, into: &mut [u8]) -> Option<()> {
        let mut spaces = self.machine.hardware().spaces.iter();
        let at = spaces.position(|own| name(self.machine.semantics(), own) == Some(space))?;
        into.copy_from_slice(self.machine.spaces.get(at)?.bytes(address, into.len() as u64)?);
        Some(())
    }

    fn place_of(&self, lane: usize) -> Option<u64> {
        self.machine.pc_of(lane)
    }

    fn exit_status(&self) -> Option<u64> {
        self.exit
    }

    fn accesses(&self) -> &[Access] {
        self.accesses
    }
}
