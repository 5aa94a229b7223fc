//! Programs made by the vendor's compiler.
//!
//! Two of them save and load the shared registers of a context. Their inputs were inferred from their groups: `vi1` and
//! `vi0` are the address (low, high) of a word with the size of the allocation, `vi3` and `vi2` the address of the
//! registers' memory, and special register 103 is the size in units of 16 registers. The first program writes the size
//! and the registers, in runs of 1024 and a remainder; the second reads the size and that many blocks of 16.

use isaforge_runtime::Memory;
use isaforge_runtime::usc::{Machine, Program, Register, Software, Task, Trap};

const SIZE_AT: u64 = 0x1_0000_2000;
const DATA_AT: u64 = 0x2_0000_4000;

fn program(hex: &str) -> Program {
    let bytes: Vec<u8> = hex.split_whitespace().map(|b| u8::from_str_radix(b, 16).expect("a byte")).collect();
    Program::load(&bytes).expect("the vendor's program loads")
}

fn register(name: &str) -> Register {
    name.parse().expect("a register")
}

fn machine(bytes: usize) -> Machine<Software> {
    let mut memory = Memory::new();
    memory.map(SIZE_AT, vec![0; 4]).expect("free");
    memory.map(DATA_AT, vec![0; bytes.max(4)]).expect("free");
    Machine::new(Software { memory, ..Software::default() })
}

fn task(units: u32, instances: usize) -> Task {
    let mut task = Task::new(instances).expect("so many");
    let address = [("vi1", SIZE_AT as u32), ("vi0", (SIZE_AT >> 32) as u32), ("vi3", DATA_AT as u32)];
    for (name, value) in address.into_iter().chain([("vi2", (DATA_AT >> 32) as u32), ("sr103", units)]) {
        task.fill(register(name), value).expect("a register of the task");
    }
    task
}

fn shared(n: u32) -> Register {
    register(&format!("sh{n}"))
}

#[test]
fn what_is_stored_of_the_shared_registers_can_be_loaded_back() {
    let store = program(include_str!("../data/usc/img-pvr_vdm_store_sr_code.hex"));
    let load = program(include_str!("../data/usc/img-pvr_vdm_load_sr_code.hex"));
    let value = |n: u32| n.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    for units in [0, 1, 2, 17, 63, 64, 65, 127, 128, 200, 255] {
        for instances in [1, 32] {
            let registers = units * 16;
            let mut saved = machine(registers as usize * 4);
            for n in 0..registers {
                saved.set(shared(n), value(n)).expect("a shared register");
            }
            saved.run(&store, &mut [task(units, instances)], 100_000).expect("the program ends");
            assert_eq!(saved.host.memory.region(SIZE_AT), Some(&units.to_le_bytes()[..]));
            let bytes: Vec<u8> = (0..registers).flat_map(|n| value(n).to_le_bytes()).collect();
            assert_eq!(&saved.host.memory.region(DATA_AT).expect("mapped")[..bytes.len()], bytes, "{units} units");

            let mut loaded = machine(4);
            loaded.host.memory = saved.host.memory.clone();
            loaded.run(&load, &mut [task(0, instances)], 100_000).expect("the program ends");
            for n in 0..registers {
                assert_eq!(loaded.get(shared(n)), Some(value(n)), "sh{n} of {units} units");
            }
            let behind = if registers < 4096 { loaded.get(shared(registers)) } else { Some(0) };
            assert_eq!(behind, Some(0), "no register more is written");
        }
    }
}

#[test]
fn an_address_that_nothing_is_at_is_told_with_the_group() {
    let load = program(include_str!("../data/usc/img-pvr_vdm_load_sr_code.hex"));
    let mut machine = Machine::new(Software::default());
    let error = machine.run(&load, &mut [task(0, 1)], 1000).expect_err("nothing is mapped");
    assert!(matches!(error.trap, Trap::Memory { instance: 0, .. }), "{error}");
    assert!(error.to_string().contains("ld.bypass.slcwriteback r16"), "{error}");
}

#[test]
fn the_fragment_shader_writes_shared_register_0_to_every_pixel() {
    let program = program(include_str!("../data/usc/img-pvr_usc_fragment_shader.hex"));
    let mut machine = Machine::new(Software::default());
    machine.set(shared(0), 0xff80_4020).expect("a shared register");
    let mut tasks = [Task::new(32).expect("32")];
    machine.run(&program, &mut tasks, 10).expect("it ends");
    assert_eq!(machine.host.pixels.len(), 32);
    assert!(machine.host.pixels.iter().all(|(_, outputs)| outputs[0] == 0xff80_4020));
}

#[test]
fn the_end_of_task_program_emits_and_ends() {
    let program = program(include_str!("../data/usc/img-state_update.hex"));
    let mut machine = Machine::new(Software::default());
    let mut tasks = [Task::new(1).expect("1")];
    let report = machine.run(&program, &mut tasks, 10).expect("it ends");
    assert_eq!((report.groups, machine.host.emitted.len()), (1, 1));
    assert!(tasks[0].has_ended());
}
