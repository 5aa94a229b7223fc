//! Compares the machine that is derived from the specification alone with the reference. It has one warp with its
//! registers, uniforms and memory, but no workgroup and no framebuffer.

use isaforge_core::machine::{Reason, Register};
use isaforge_runtime::valhall::single::{self, Next, State};
use isaforge_valhall::Machine;

use super::host::Recorder;
use super::state::{REGIONS, STATES};
use super::{Valhall, split};
use crate::set::{Set as _, groups};

const GENERAL: u16 = 0;
const UNIFORM: u16 = 1;

fn machine(word: u64, state: &State) -> Machine {
    let mut machine = Machine::new();
    let pc = u64::from(state.pcs[0]) * 8;
    machine.memory.map(pc, word.to_le_bytes().to_vec(), false).expect("nothing else is there");
    for (base, _) in REGIONS {
        let bytes = state.memory.region(base).expect("all states have it").to_vec();
        machine.memory.map(base, bytes, true).expect("the regions are apart");
    }
    for (index, column) in (0..).zip(state.registers.iter()) {
        for (lane, value) in column.iter().enumerate() {
            machine.write(Register { bank: GENERAL, index }, lane, u64::from(*value));
        }
    }
    for (index, value) in (0..).zip(&state.uniforms) {
        for lane in 0..16 {
            machine.write(Register { bank: UNIFORM, index }, lane, u64::from(*value));
        }
    }
    machine.set_pc(pc);
    machine
}

/// Compares every `every`-th case in which all lanes are at the same word and no fragment is drawn.
pub fn check(valhall: &mut Valhall, every: usize) {
    let mut compared = 0;
    let mut names = vec![];
    for group in groups::<Valhall>() {
        let before = compared;
        for input in group.inputs.iter().step_by(every) {
            let (word, number) = split(input);
            let state = &valhall.before[number % STATES];
            let together = state.live == u16::MAX && state.pcs.iter().all(|pc| *pc == state.pcs[0]);
            if state.quads.is_some() || !together {
                continue;
            }
            let (mut after, mut host) = (state.clone(), Recorder::new());
            host.begin(false);
            let Ok(next) = single::execute(word, &mut after, &mut host) else { continue };
            if next == Next::Barrier || host.told > 0 || after.shared != state.shared || after.private != state.private
            {
                continue;
            }
            let mut machine = machine(word, state);
            let what = || valhall.describe(input);
            match machine.step(&mut ()) {
                Ok(_) => {}
                // A single warp has no launch values, resources, workgroup memory or thread memory.
                Err(trap) => match trap.reason {
                    Reason::Operand { .. } | Reason::Intrinsic(..) => continue,
                    Reason::Memory { address, .. } if address >= isaforge_runtime::Memory::RESERVED.start => continue,
                    reason => panic!("{}: {reason}", what()),
                },
            }
            for (index, column) in (0..).zip(after.registers.iter()) {
                let found: [u64; 16] =
                    std::array::from_fn(|lane| machine.read(Register { bank: GENERAL, index }, lane).unwrap());
                assert_eq!(found, column.map(u64::from), "r{index} after {}", what());
            }
            for (base, bytes) in REGIONS {
                let found = machine.memory.bytes(base, bytes as u64);
                assert_eq!(found, after.memory.region(base), "memory after {}", what());
            }
            let live = u64::from(after.live);
            assert_eq!(machine.live(), live, "lanes after {}", what());
            for lane in (0..16).filter(|lane| live >> lane & 1 != 0) {
                assert_eq!(machine.pc_of(lane), Some(u64::from(after.pcs[lane]) * 8), "lane {lane} after {}", what());
            }
            compared += 1;
        }
        if compared > before {
            names.push(group.name);
        }
    }
    println!("{compared} cases of {} instructions", names.len());
    assert!(names.len() > 150, "only {names:?}");
}
