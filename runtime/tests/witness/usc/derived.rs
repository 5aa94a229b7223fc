//! Compares the machine that is derived from the specification alone with the reference on single groups. It has no
//! units around it, and no mutex is held.

use isaforge_core::machine::Reason;
use isaforge_runtime::usc::Trap;
use isaforge_runtime::usc::register::constant;
use isaforge_runtime::usc::single::{Group as Executable, Next, State};
use isaforge_usc::{Machine, decode};

use super::state::{MAIN, STATES};
use super::{Recorder, Usc};
use crate::set::{Set as _, groups};

/// The name of an instance's register, by its column.
fn own(column: usize) -> Option<String> {
    Some(match column {
        _ if column < 256 && constant(column).is_some() => return None,
        32..36 => format!("o{}", column - 32),
        36..44 => format!("i{}", column - 36),
        58..62 | 123..127 => format!("ts{column}"),
        // Global registers and the time do not belong to instances.
        104..112 | 160 => return None,
        164..168 => format!("o{}", column - 160),
        0..240 => format!("sr{column}"),
        240..256 => return None,
        256..504 => format!("r{}", column - 256),
        504..752 => format!("vi{}", column - 504),
        _ => format!("idx{}", column - 752),
    })
}

/// All registers of a state with their values.
fn registers(state: &State) -> Vec<(String, [u32; 32])> {
    let columns = state.registers.iter().enumerate();
    let mut all: Vec<_> = columns.filter_map(|(number, column)| Some((own(number)?, *column))).collect();
    let banks =
        [("cf", &state.coefficients), ("cfa", &state.alternates), ("sh", &state.shared), ("dc", &state.dynamic)];
    for (name, bank) in banks {
        all.extend(bank.iter().enumerate().map(|(number, value)| (format!("{name}{number}"), [*value; 32])));
    }
    all.extend(state.globals.iter().enumerate().map(|(number, value)| (format!("g{number}"), [*value; 32])));
    all
}

/// The states of the specification with their values.
fn states(state: &State) -> [(&'static str, [u32; 32]); 7] {
    let bits = |mask: u32| std::array::from_fn(|lane| mask >> lane & 1);
    [
        ("p0", bits(state.predicate)),
        ("pe", bits(state.running)),
        ("kept", bits(state.kept)),
        ("failed", bits(state.failed)),
        ("link_register", [state.link; 32]),
        ("coefficient_base", [state.base[0].into(); 32]),
        ("shared_base", [state.base[1].into(); 32]),
    ]
}

fn machine(bytes: &[u8], state: &State, memory: &[u8]) -> Machine {
    let mut machine = Machine::new();
    machine.boot(bytes).expect("nothing else is there");
    machine.memory.map(MAIN, memory.to_vec(), true).expect("it is apart");
    machine.set_lanes(state.valid.into(), 0);
    for (name, values) in registers(state) {
        let register = machine.register(&name).unwrap_or_else(|| panic!("there is no {name}"));
        for (lane, value) in values.into_iter().enumerate() {
            machine.write(register, lane, value.into()).expect("there are as many lanes");
        }
    }
    for (name, values) in states(state) {
        for (lane, value) in values.into_iter().enumerate() {
            machine.write_state(name, 0, lane, value.into()).expect("the specification has it");
        }
    }
    for lane in 0..32 {
        // The machine counts the group before it reads the time.
        machine.write_state("time", 0, lane, state.time.wrapping_sub(1)).expect("the specification has it");
    }
    machine
}

/// Compares every `every`-th case.
pub fn check(usc: &mut Usc, every: usize) {
    let (mut compared, mut stopped, mut names) = (0, 0, vec![]);
    for group in groups::<Usc>() {
        let before = compared;
        for input in group.inputs.iter().step_by(every) {
            // Operations without an encoding have no bytes for the machine.
            let [number, 0, bytes @ ..] = &input[..] else { continue };
            let length = decode(bytes).map_or(0, |group| group.as_bytes().len());
            let Ok(executable) = Executable::of_bytes(&bytes[..length], 0) else { continue };
            let state = usc.before[usize::from(*number) % STATES].clone();
            let mut after = state.clone();
            let mut host = std::mem::take(&mut usc.host);
            let next = executable.execute(&mut after, &mut host);
            let memory = host.memory.region(MAIN).unwrap_or_default().to_vec();
            host.memory.write(MAIN, &usc.memory).expect("it is mapped");
            usc.host = Recorder { memory: host.memory, ..Recorder::default() };
            let what = || usc.describe(input);

            let mut machine = machine(&bytes[..length], &state, &usc.memory);
            let stepped = machine.step(&mut ());
            let next = match (stepped, next) {
                // The machine does not have the units around the ALUs.
                (Err(trap), _) if matches!(trap.reason, Reason::Intrinsic(..)) => {
                    stopped += 1;
                    continue;
                }
                (Ok(_), Ok(next)) => next,
                // The reference checks every index that a group names, the machine only those whose value is used.
                (Ok(_), Err(Trap::Index { .. })) => continue,
                // If a burst has several errors, the two may report different ones.
                (Err(trap), Err(Trap::Index { .. } | Trap::Burst(_) | Trap::Fixed | Trap::Memory { .. }))
                    if matches!(trap.reason, Reason::Operand { .. } | Reason::Memory { .. }) =>
                {
                    continue;
                }
                (Err(trap), Err(Trap::Format { .. })) if matches!(trap.reason, Reason::Fault("format", _)) => continue,
                (Err(trap), Err(Trap::Unknown)) if matches!(trap.reason, Reason::Fault("unknown", _)) => continue,
                // The reference stops at a target at which no group starts.
                (Err(_), Ok(Next::At(..=-1 | 1..))) => continue,
                (stepped, next) => panic!("{stepped:?}, not {next:?}: {}", what()),
            };
            compared += 1;
            // The rest of the group is not executed then.
            if let Next::At(offset @ (..=-1 | 1..)) = next {
                let other = machine.live() == 0 || what().contains("repeat ");
                assert!(other || machine.pc() as i64 == offset, "{next:?}, not {:#x}: {}", machine.pc(), what());
                continue;
            }
            assert_eq!(machine.live() == 0, next == Next::Ended, "{next:?} after {}", what());
            if matches!(next, Next::After | Next::At(_)) {
                let place = if next == Next::After { length as u64 } else { 0 };
                assert_eq!(machine.pc(), place, "place after {}", what());
            }
            for (name, values) in registers(&after) {
                let register = machine.register(&name).expect("the specification has it");
                let found: [u32; 32] = std::array::from_fn(|lane| machine.read(register, lane).unwrap_or(0) as u32);
                assert_eq!(found, values, "{name} after {}", what());
            }
            for (name, values) in states(&after) {
                for lane in (0..32).filter(|lane| state.valid >> lane & 1 != 0) {
                    let found = machine.read_state(name, 0, lane).map(|value| value as u32);
                    assert_eq!(found, Some(values[lane]), "{name}, instance {lane}, after {}", what());
                }
            }
            assert_eq!(machine.memory.bytes(MAIN, memory.len() as u64), Some(&memory[..]), "memory after {}", what());
        }
        if compared > before {
            names.push(group.name);
        }
    }
    println!("{compared} cases of {} operations, {stopped} for units that are not there", names.len());
    assert!(names.len() >= 70, "only {names:?}");
}
