//! What a machine holds: copies of memory, shared and zero registers, and what stays after a trap.

use std::ops::ControlFlow;

use isaforge_core::machine::{Executed, Host, Machine, Reason, Stop};

use super::machine::{get, loaded, set};
use crate::support::compiled;

const SCALAR: &str = "\
isa: scalar
word: 16
provenance: document
every: { unused: zero }
banks: { r: { count: 8, width: 32, prints: 'r{n}', zero: 7 } }
semantics:
  pc: u32
  faults: [refused]
  states: { none: { type: u32, register: r7 }, arr: { type: u32, count: 4 } }
  intrinsics: { 'ask()': { doc: Asks the host., effects: [reads, writes, flow] } }
machine:
  unit: 2
  calls: { ask: { number: r0, services: { 0: { write: { address: r1, size: r2, result: r3 } }, 1: { exit: { status: r1 } } } } }
instructions:
  inc: { doc: A., fixed: { 15..12: 1 }, operands: { d: { bank: r, bits: 2..0, access: read-write } }, does: 'd = d + 1' }
  dec: { doc: B., fixed: { 15..12: 2 }, operands: { d: { bank: r, bits: 2..0, access: read-write } }, does: 'd = d - 1' }
  fail: { doc: C., fixed: { 15..12: 3 }, does: 'ask(); fault(refused)' }
  call: { doc: D., fixed: { 15..12: 4 }, does: ask() }
  swap: { doc: E., fixed: { 15..12: 5 }, operands: { d: { bank: r, bits: 2..0, access: write }, a: { bank: r, bits: 5..3 } }, does: 'd = zext(u32, compare_exchange(u4, a, 1, 2))' }
  next: { doc: F., fixed: { 15..12: 6 }, does: branch(next) }
  get: { doc: G., fixed: { 15..12: 7 }, operands: { d: { bank: r, bits: 2..0, access: read-write }, k: { bank: r, bits: 5..3 } }, does: 'if k != 0 && arr[k - 1] == 0 { d = match k { 1 => 9, _ => arr[k - 1] + 5 } }' }
";

const LANES: &str = "\
isa: lanes
word: 16
provenance: document
every: { unused: zero }
banks: { v: { count: 4, width: 32, prints: 'v{n}' } }
semantics:
  pc: u32
  states: { arr: { type: u32, count: 4, uniform: true }, one: { type: u32, uniform: true } }
machine: { lanes: 4, divergence: lowest first, unit: 2 }
instructions:
  put: { doc: A., fixed: { 15..12: 0 }, operands: { a: { bank: v, bits: 1..0 }, b: { bank: v, bits: 3..2 } }, does: 'arr[a] = b; one = one' }
  get: { doc: B., fixed: { 15..12: 1 }, operands: { d: { bank: v, bits: 1..0, access: write }, a: { bank: v, bits: 3..2 } }, does: 'd = arr[a]' }
";

#[test]
fn a_copy_of_memory_brings_no_instructions_of_another_machine() {
    let spec = compiled(SCALAR).unwrap();
    let mut one = loaded::<1>(&spec, "inc r1\ndec r1\n");
    one.step(&mut ()).unwrap();
    one.step(&mut ()).unwrap();
    let mut other = loaded::<1>(&spec, "");
    other.memory = one.memory.clone();
    // The first instruction that the other machine sees is the second one.
    for (pc, value) in [(2, 0xffff_ffff), (0, 0), (0, 1)] {
        other.set_pc(pc);
        other.step(&mut ()).unwrap();
        assert_eq!(get(&other, "r1"), value, "{pc}");
    }
    // Memories that have changed places.
    std::mem::swap(&mut one.memory, &mut other.memory);
    one.set_pc(0);
    set(&mut one, "r1", 5);
    one.step(&mut ()).unwrap();
    assert_eq!(get(&one, "r1"), 6);
}

#[test]
fn a_trap_leaves_registers_as_they_were() {
    let spec = compiled(SCALAR).unwrap();
    let mut machine = loaded::<1>(&spec, "fail\n");
    set(&mut machine, "r2", 2);
    let trap = machine.step(&mut ()).unwrap_err();
    assert_eq!((trap.reason, get(&machine, "r3")), (Reason::Fault("refused", 0), 0));
    // Without the fault it is written.
    let mut machine = loaded::<1>(&spec, "call\n");
    set(&mut machine, "r2", 2);
    machine.step(&mut ()).unwrap();
    assert_eq!(get(&machine, "r3"), 2);
}

#[test]
fn a_trap_between_two_writes_leaves_both_undone() {
    let text = LANES.replace("uniform: true }, one", "uniform: false }, one").replace(
        "does: 'd = arr[a]' }",
        "does: 'd = arr[a]' }\n  both: { doc: C., fixed: { 15..12: 2 }, operands: { d: { bank: v, bits: 1..0, access: write }, a: { bank: v, bits: 3..2 } }, does: 'd = a; arr[a] = 7' }",
    );
    let mut machine = loaded::<4>(&compiled(&text).unwrap(), "both v0, v1\n");
    let [d, a] = ["v0", "v1"].map(|name| machine.register(name).unwrap());
    for lane in 0..4 {
        machine.write(d, lane, 5).unwrap();
        machine.write(a, lane, [1, 2, 9, 0][lane]).unwrap();
    }
    let trap = machine.step(&mut ()).unwrap_err();
    assert_eq!(trap.reason, Reason::State("arr", 9));
    let left = |machine: &Machine<4>, lane: usize| {
        let elements = (0..4).map(|element| machine.read_state("arr", element, lane).unwrap());
        (machine.read(d, lane).unwrap(), elements.sum::<u64>())
    };
    assert!((0..4).all(|lane| left(&machine, lane) == (5, 0)));
    // Without the trap, both are written.
    machine.write(a, 2, 3).unwrap();
    machine.step(&mut ()).unwrap();
    assert!((0..4).all(|lane| left(&machine, lane) == ([1, 2, 3, 0][lane], 7)));
}

#[test]
fn an_exchange_compares_the_bits_of_its_type() {
    let mut machine = loaded::<1>(&compiled(SCALAR).unwrap(), "swap r1, r2\n");
    machine.memory.map(0x100, vec![0xf1], true).unwrap();
    set(&mut machine, "r2", 0x100);
    machine.step(&mut ()).unwrap();
    assert_eq!((get(&machine, "r1"), machine.memory.read(0x100, 1)), (1, Ok(2)));
}

#[test]
fn a_program_counter_in_words_has_more_bytes() {
    let spec = compiled(SCALAR).unwrap();
    for instruction in ["inc r1", "next"] {
        let mut machine = loaded::<1>(&spec, "");
        let code = loaded::<1>(&spec, instruction).memory.bytes(0, 2).unwrap().to_vec();
        machine.memory.map(0x1_0000_0000, code, false).unwrap();
        machine.set_pc(0x1_0000_0000);
        machine.step(&mut ()).unwrap();
        assert_eq!(machine.pc(), 0x1_0000_0002, "{instruction}");
    }
}

#[test]
fn a_program_that_ends_has_ended_although_its_host_stops_it() {
    struct Stops;
    impl Host<1> for Stops {
        fn looks_on(&self) -> bool {
            true
        }

        fn executed(&mut self, _: &Executed<'_, 1>) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let mut machine = loaded::<1>(&compiled(SCALAR).unwrap(), "call\ninc r5\n");
    set(&mut machine, "r0", 1);
    set(&mut machine, "r1", 3);
    assert_eq!(machine.run(&mut Stops, 10), Ok(Stop::Exit(3)));
}

#[test]
fn conditions_guard_the_reads_of_elements() {
    let mut machine = loaded::<1>(&compiled(SCALAR).unwrap(), "get r1, r2\nget r1, r3\nget r1, r4\n");
    set(&mut machine, "r1", 7);
    set(&mut machine, "r3", 2);
    set(&mut machine, "r4", 6);
    machine.step(&mut ()).unwrap();
    assert_eq!(get(&machine, "r1"), 7);
    machine.step(&mut ()).unwrap();
    assert_eq!(get(&machine, "r1"), 5);
    assert_eq!(machine.step(&mut ()).unwrap_err().reason, Reason::State("arr", 5));
}

#[test]
fn lanes_share_the_elements_of_a_uniform_state() {
    let mut machine = loaded::<4>(&compiled(LANES).unwrap(), "put v0, v1\nget v2, v3\n");
    let (index, value, read) = ["v0", "v1", "v2"].map(|name| machine.register(name).unwrap()).into();
    for lane in 0..4 {
        // Beyond the last element in a lane whose index does not count.
        machine.write(index, lane, 9 * lane as u64).unwrap();
        machine.write(value, lane, 7 + lane as u64).unwrap();
    }
    machine.step(&mut ()).unwrap();
    machine.step(&mut ()).unwrap();
    let lanes = |machine: &Machine<4>, register| [0, 1, 2, 3].map(|lane| machine.read(register, lane).unwrap());
    assert_eq!(lanes(&machine, read), [7; 4]);
    machine.write_state("one", 0, 2, 5).unwrap();
    assert_eq!([0, 1, 2, 3].map(|lane| machine.read_state("one", 0, lane)), [Some(5); 4]);
}

#[test]
fn a_state_that_is_the_zero_register_stays_zero() {
    let mut machine = loaded::<1>(&compiled(SCALAR).unwrap(), "inc r7\n");
    machine.write_state("none", 0, 0, 9).unwrap();
    assert_eq!((get(&machine, "r7"), machine.read_state("none", 0, 0)), (0, Some(0)));
}
