//! Compares the machine that is derived from the specification alone with the reference on single groups. It has no
//! clock, no banks of other groups, and launches no groups.

use isaforge_core::machine::{Reason, Register};
use isaforge_runtime::vpu::single::{Next, State, execute};
use isaforge_vpu::Machine;

use super::state::STATES;
use super::{Vpu, split};
use crate::set::{Set as _, groups};

const BANK: [&str; 3] = ["r0", "s0", "g0"];

fn word(components: [u16; 4]) -> u64 {
    components.iter().rev().fold(0, |word, component| word << 16 | u64::from(*component))
}

fn register(machine: &Machine, bank: usize, index: usize) -> Register {
    let first = machine.register(BANK[bank]).expect("the specification has it");
    Register { index: index as u32, ..first }
}

/// The contents of a group, in the order of the machine's registers and states.
fn held(state: &State) -> Vec<(&'static str, usize, [u64; 4])> {
    let mut all = vec![];
    for index in 0..16 {
        all.push(("local", index, state.registers.local.map(|local| word(local[index]))));
        all.push(("shared", index, [word(state.registers.shared[index]); 4]));
    }
    for (index, value) in state.banks[usize::from(state.bank)].iter().enumerate() {
        all.push(("global", index, [word(*value); 4]));
    }
    let lanes = [0, 1, 2, 3];
    let position = |lane: u16| word([state.position.0 | lane, state.position.1, 0, 0]);
    let size = [state.tile_size.width() as u16, state.tile_size.height() as u16, 0, 0];
    all.push(("flag", 0, state.registers.flags.map(u64::from)));
    all.push(("position", 0, [0, 1, 2, 3].map(position)));
    all.push(("tile_size", 0, [word(size); 4]));
    all.push(("pending", 0, lanes.map(|lane| u64::from(state.pending >> lane & 1))));
    all.push(("result", 0, state.results.map(word)));
    all
}

/// The bytes of the address spaces, with their names and addresses.
fn memories(state: &State) -> Vec<(&'static str, u64, Vec<u8>)> {
    let bytes = |registers: &[[u16; 4]]| registers.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
    let mut all = vec![("external", 0, state.memory.bytes())];
    for (number, tile) in (0..).zip(&state.tiles) {
        all.push(("tile", number << 19, bytes(&tile.data)));
        all.push(("locks", number << 16, tile.locked.iter().map(|locked| u8::from(*locked)).collect()));
    }
    for (number, palette) in (0..).zip(state.palettes.iter()) {
        all.push(("palette", number << 11, bytes(palette)));
    }
    all
}

fn machine(code: u64, state: &State) -> Machine {
    let mut machine = Machine::new();
    let pc = u64::from(state.pc) * 8;
    machine.memory.map(pc, code.to_le_bytes().to_vec(), false).expect("nothing else is there");
    for (space, base, bytes) in memories(state) {
        machine.space(space).expect("it is one of its own").map(base, bytes, true).expect("they are apart");
    }
    for (name, index, values) in held(state) {
        for (lane, value) in values.into_iter().enumerate() {
            match ["local", "shared", "global"].iter().position(|bank| *bank == name) {
                Some(bank) => {
                    let register = register(&machine, bank, index);
                    machine.write(register, lane, value)
                }
                None => machine.write_state(name, 0, lane, value),
            }
            .expect("the specification has it");
        }
    }
    machine.set_pc(pc);
    machine.set_lanes(state.living.into(), (state.living & !state.active).into());
    machine
}

/// Compares every `every`-th case in which no bank is reserved.
pub fn check(vpu: &Vpu, every: usize) {
    let (mut compared, mut names) = (0, vec![]);
    for group in groups::<Vpu>() {
        let before = compared;
        for input in group.inputs.iter().step_by(every) {
            let (code, number) = split(input);
            let mut state = vpu.states[number % STATES].0.clone();
            // Data is ready at once, and the group has no bank but its own.
            (state.clock, state.reserved) = (None, None);
            let mut after = state.clone();
            let next = execute(None, code, &mut after).expect("only instructions are recorded");
            if state.living == 0 {
                continue;
            }
            let mut machine = machine(code, &state);
            let what = || vpu.describe(input);
            let stepped = machine.step(&mut ());
            match (&stepped, next) {
                (Ok(_), Next::Word | Next::Ended) => {}
                (Err(trap), Next::Same(_)) if matches!(trap.reason, Reason::Fault("locked", _)) => {}
                // This machine cannot launch groups.
                (Err(trap), _) if matches!(trap.reason, Reason::Intrinsic("allocate" | "launch", _)) => continue,
                _ => panic!("{stepped:?}, not {next:?}: {}", what()),
            }
            for (name, index, values) in held(&after) {
                let found: [u64; 4] = std::array::from_fn(|lane| {
                    match ["local", "shared", "global"].iter().position(|bank| *bank == name) {
                        Some(bank) => machine.read(register(&machine, bank, index), lane),
                        None => machine.read_state(name, 0, lane),
                    }
                    .expect("the specification has it")
                });
                assert_eq!(found, values, "{name} {index} after {}", what());
            }
            for (space, base, bytes) in memories(&after) {
                let memory = machine.space(space).expect("it is one of its own");
                assert_eq!(memory.bytes(base, bytes.len() as u64), Some(&bytes[..]), "{space} after {}", what());
            }
            let (live, masked) = (u64::from(after.living), u64::from(after.living & !after.active));
            assert_eq!((machine.live(), machine.masked()), (live, masked), "threads after {}", what());
            if live != 0 && stepped.is_ok() {
                assert_eq!(machine.pc(), u64::from(after.pc) * 8, "place after {}", what());
            }
            compared += 1;
        }
        if compared > before {
            names.push(group.name);
        }
    }
    println!("{compared} cases of {} instructions", names.len());
    assert!(names.len() >= 67, "only {names:?}");
}
