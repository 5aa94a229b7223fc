//! Machines that execute groups, on a small set defined here: the lanes that execute a group, the registers that names
//! refer to, the stepping of repetitions, and moves between registers and memory.

use isaforge_core::group::listing::assemble_program;
use isaforge_core::machine::{Machine, Reason, Stop, Trap};

use crate::support::compiled;

const LANES: usize = 4;

/// Groups of four or six bytes: a header, an operation and two registers.
const SMALL: &str = r#"
isa: small
doc: Groups that execute.
provenance: assumed
enums:
  unit: { bits: 1, doc: What a group works on., values: [{ name: work }, { name: flow }] }
  who: { bits: 1, doc: Who executes a group., values: [{ name: all }, { name: flagged }] }
  op: { bits: 3, doc: Operations., values: [add, flag, go, shift, load, store, sum, stop] }
  file: { bits: 2, doc: Registers., values: [own, common, small, indexed] }
constants:
  small numbers: { doc: Numbers., values: [{ value: 0 }, { value: 1 }, { value: 40 }, { value: 7 }] }
banks:
  r: { count: 8, width: 32, prints: "r{n}", doc: Of each lane. }
  g: { count: 8, width: 32, prints: "g{n}", uniform: true, plus: base, doc: Of all lanes. }
  c: { count: 4, width: 32, prints: "c{n}", uniform: true, fixed: true, stays: true, holds: { small numbers: 0 }, doc: Constants. }
choices:
  head:
    fields:
      size: { number: decimal, wrap: true }
      unit: { enum: unit }
      who: { enum: who }
      turn: { doc: Lanes execute it one after another. }
      times: { number: decimal, minus: 1, default: 1, doc: How often. }
      last: { doc: Ends the program. }
    records:
      head: { bytes: 2, fixed: { 15..9: 0 }, fields: { size: 2..0, unit: 3, who: 4, turn: 5, last: 6, times: 8..7 } }
  op: { fields: { op: { enum: op } }, records: { op: { bytes: 1, fixed: { 7..3: 0 }, fields: { op: 2..0 } } } }
  regs:
    fields: { sb: { enum: file }, s: { number: decimal }, db: { enum: file }, d: { number: decimal } }
    records: { regs: { bytes: 2, fields: { sb: 1..0, s: 7..2, db: 9..8, d: 15..10 } } }
operands:
  S: { register: { slot: regs, bank: sb, number: s } }
  D: { register: { slot: regs, bank: db, number: d } }
registers:
  - { enum: file, bank: own, prints: "r{n}", at: r0 }
  - { enum: file, bank: common, prints: "g{n}", at: g0 }
  - { enum: file, bank: small, prints: "c{n}", at: c0 }
  - { enum: file, bank: indexed, prints: "r{n}[r7]", at: r0, index: r7 }
semantics:
  pc: u32
  states:
    executes: { type: bool, doc: Whether the lane executes the group. }
    flag: { type: bool, doc: A flag. }
    flags: { type: u32, bits of: flag, doc: The flags of all lanes. }
    base: { type: u32, uniform: true, doc: Added to numbers of common registers. }
    clock: { type: u32, register: r6, doc: Counts groups. }
  intrinsics:
    "fetch(operand, u64, u32)": { doc: Loads registers., effects: [reads] }
    "mix(to: operand, count: u32, from: u32, what: u64)":
      doc: Mixes registers.
      effects: [reads]
      registers: { to: { count: count, writes: true }, from: { bank: r, times: 4 } }
    "put(operand, u64, u32, u32)": { doc: Stores registers., effects: [writes] }
group:
  unit: 1
  longest: 5
  slots:
    head: { choice: head }
    op: { choice: op }
    regs: { choice: regs }
  derived: [{ field: size, length: true }]
  padding: { odd: 0xee, first: 0xd0, rest: 0xee }
  program: { align: 1, ends: { last: true } }
  repeats: times
  execution:
    before: "executes = match head.who { all => true, flagged => flag }; clock = clock + 1"
    mask: executes
    everyone: { unit: flow }
    in turn: { turn: true }
  does: op()
operations:
  head: { doc: The head., slots: head, does: nop, syntax: "{unit:|flow }{who:|if(flag) }{turn:|turn }{times?: times }{last:|last}" }
  ADD: { doc: Adds., slots: op, is: { op: add }, does: D = D + S, syntax: "add {D}, {S}" }
  SUM: { doc: Adds to the next one., slots: op, is: { op: sum }, does: "D = S[1] + S", syntax: "sum {D}, {S}" }
  FLAG: { doc: Says which lanes are flagged., slots: op, is: { op: flag }, does: flags = S, syntax: "flag {D}, {S}" }
  GO: { doc: Goes on somewhere else., slots: op, is: { op: go }, does: "if ballot(executes) != 0 { branch(S) }", syntax: "go {D}, {S}" }
  SHIFT: { doc: Moves common registers., slots: op, is: { op: shift }, does: base = S, syntax: "shift {D}, {S}" }
  LOAD: { doc: Loads two registers., slots: op, is: { op: load }, does: "fetch(D, zext(u64, S), 2)", syntax: "load {D}, {S}" }
  STORE: { doc: Stores two half words., slots: op, is: { op: store }, does: "put(D, zext(u64, S), 2, 1)", syntax: "store {D}, {S}" }
  STOP: { doc: Ends., slots: op, is: { op: stop }, does: "if lane == 2 { end() }", syntax: "stop {D}, {S}" }
machine:
  lanes: 4
  divergence: together
  start: "base = 0"
  bursts: { fetch: loads, put: stores }
"#;

/// A machine with a program of groups separated by semicolons, and initial values of registers by lane.
fn machine(program: &str, registers: &[(&str, [u64; LANES])]) -> Machine<LANES> {
    let compiled = compiled(SMALL).unwrap_or_else(|message| panic!("{message}"));
    let isa = compiled.lowered.groups().expect("it has groups");
    let groups = program.split(';').enumerate().map(|(number, group)| format!("{number} : {}\n", group.trim()));
    let code = assemble_program(isa, &groups.collect::<String>()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut machine = Machine::new(isa, compiled.semantics.expect("meanings"), compiled.hardware.expect("a machine"));
    machine.boot(&code).expect("nothing else is there");
    machine.memory.map(0x1000, (0..64).collect(), true).expect("it is apart");
    for (name, values) in registers {
        let register = machine.register(name).expect("there is one");
        values.iter().enumerate().for_each(|(lane, value)| machine.write(register, lane, *value).expect("a lane"));
    }
    machine
}

fn run(machine: &mut Machine<LANES>) -> Result<Stop, Trap> {
    machine.run(&mut (), 100)
}

fn get(machine: &Machine<LANES>, name: &str) -> [u64; LANES] {
    let register = machine.register(name).expect("there is one");
    std::array::from_fn(|lane| machine.read(register, lane).expect("a lane"))
}

#[test]
fn a_state_says_which_lanes_execute_a_group() {
    let text = "flag r0, c3; if(flag)\nadd r1, c2; last\nadd r2, c1";
    let mut machine = machine(text, &[]);
    assert_eq!(run(&mut machine), Ok(Stop::Ended));
    // 7 flags the lower three lanes; the group that ends the program is executed by all.
    assert_eq!(get(&machine, "r1"), [40, 40, 40, 0]);
    assert_eq!(get(&machine, "r2"), [1; LANES]);
    assert_eq!(machine.read_state("flags", 0, 0), Some(0));
    // The state that counts groups has a register of its own.
    assert_eq!(get(&machine, "r6"), [3; LANES]);
}

#[test]
fn groups_that_decide_for_all_are_evaluated_where_nobody_executes_them() {
    // No lane is flagged. The flow group is evaluated nevertheless, and finds that no lane goes.
    let mut machine = machine("flow if(flag)\ngo r0, c3; last\nadd r2, c1", &[]);
    assert_eq!(run(&mut machine), Ok(Stop::Ended));
    assert_eq!(machine.executed(), 2);
}

#[test]
fn repetitions_step_registers_but_those_that_stay() {
    let mut machine = machine("times 3 last\nadd r1, c2", &[]);
    assert_eq!(run(&mut machine), Ok(Stop::Ended));
    let all = ["r0", "r1", "r2", "r3", "r4"].map(|name| get(&machine, name)[0]);
    assert_eq!(all, [0, 40, 40, 40, 0]);
    let mut next = machine_of_two();
    assert_eq!((run(&mut next), get(&next, "r1")[0]), (Ok(Stop::Ended), 11));
}

/// A machine whose operation adds a register and the next one.
fn machine_of_two() -> Machine<LANES> {
    machine("last\nsum r1, r2", &[("r2", [5; LANES]), ("r3", [6; LANES])])
}

#[test]
fn an_index_leads_to_another_register_in_each_lane() {
    let registers = [("r7", [0, 1, 2, 3]), ("r1", [10; LANES]), ("r2", [20; LANES]), ("r3", [30; LANES])];
    let mut found = machine("last\nadd r5, r1[r7]\n", &[&registers[..], &[("r4", [40; LANES])]].concat());
    assert_eq!(run(&mut found), Ok(Stop::Ended));
    assert_eq!(get(&found, "r5"), [10, 20, 30, 40]);
    let mut written = machine("last\nadd r1[r7], c1\n", &registers);
    assert_eq!(run(&mut written), Ok(Stop::Ended));
    assert_eq!([get(&written, "r1"), get(&written, "r4")], [[11, 10, 10, 10], [0, 0, 0, 1]]);
    // Registers beyond the end do not exist.
    let trap = run(&mut machine("last\nadd r5, r1[r7]\n", &[("r7", [0, 0, 9, 0])])).expect_err("no register");
    assert!(matches!(trap.reason, Reason::Operand { operand: "S", .. }), "{trap}");
}

#[test]
fn a_bank_adds_a_state_to_its_numbers() {
    let text = "shift r0, c1; add g2, c2; last\nadd r1, g2";
    let mut moved = machine(text, &[]);
    assert_eq!(run(&mut moved), Ok(Stop::Ended));
    assert_eq!([get(&moved, "g2")[0], get(&moved, "g3")[0], get(&moved, "r1")[0]], [0, 40, 40]);
    // Beyond the end, reads return zero, and writes are ignored.
    let mut beyond = machine("shift r0, c3; add g7, c2; last\nadd r1, g7", &[]);
    assert_eq!((run(&mut beyond), get(&beyond, "r1")[0]), (Ok(Stop::Ended), 0));
}

#[test]
fn lanes_in_turn_see_what_those_before_them_wrote() {
    let own = ("r1", [1, 2, 3, 4]);
    // At once, the highest lane's value remains; in turn, the values add up.
    for (turn, sum) in [("", 4), ("turn ", 10)] {
        let mut machine = machine(&format!("{turn}last\nadd g0, r1\n"), &[own]);
        assert_eq!((run(&mut machine), get(&machine, "g0")[0]), (Ok(Stop::Ended), sum), "{turn}");
    }
}

#[test]
fn bursts_move_registers_lane_by_lane() {
    let addresses = ("r0", [0x1000, 0x1008, 0x1010, 0x1018]);
    let mut machine = machine("load r2, r0; last\nstore r2, r0", &[addresses]);
    assert_eq!(run(&mut machine), Ok(Stop::Ended));
    assert_eq!(get(&machine, "r2"), [0x0302_0100, 0x0b0a_0908, 0x1312_1110, 0x1b1a_1918]);
    assert_eq!(get(&machine, "r3")[1], 0x0f0e_0d0c);
    // Two bytes from each of two registers.
    assert_eq!(machine.memory.bytes(0x1008, 8), Some(&[8, 9, 12, 13, 12, 13, 14, 15][..]));
    let trap = run(&mut far_load()).expect_err("nothing is there");
    assert!(matches!(trap.reason, Reason::Memory { .. }), "{trap}");
}

/// A machine that loads from unmapped memory.
fn far_load() -> Machine<LANES> {
    machine("last\nload r2, r0\n", &[("r0", [0x1000, 0x9000, 0, 0])])
}

#[test]
fn constants_cannot_be_written_and_ends_are_for_all() {
    let trap = run(&mut machine("last\nadd c1, c2\n", &[])).expect_err("a constant");
    assert!(matches!(trap.reason, Reason::Operand { operand: "D", .. }), "{trap}");
    let mut machine = machine("stop r0, r0; last\nadd r1, c1", &[]);
    assert_eq!((run(&mut machine), machine.executed()), (Ok(Stop::Ended), 1));
}

#[test]
fn every_mistake_is_marked() {
    for (right, wrong, code, words) in [
        ("at: r0, index: r7", "at: r0, index: r9", "E0101", "there is no register called `r9`"),
        ("prints: \"g{n}\", at: g0", "prints: \"g{n}\", at: q0", "E0101", "there is no register called `q0`"),
        ("mask: executes", "mask: base", "E0122", "`base` cannot select the lanes that execute a group"),
        ("mask: executes", "mask: exec", "E0101", "there is no state called `exec`"),
        ("bits of: flag,", "bits of: base,", "E0122", "`flags` cannot be the bits of `base`"),
        ("flags: { type: u32,", "flags: { type: u2,", "E0122", "`flags` has 2 bits, but there are 4 lanes"),
        ("plus: base", "plus: bass", "E0101", "there is no state called `bass`"),
        ("holds: { small numbers: 0 }", "holds: { small numbers: 1 }", "E0033", "the number of the first register"),
        ("fetch: loads", "fetch: stores", "E0122", "`fetch` does not have the parameters of a burst"),
        ("everyone: { unit: flow }", "everyone: { unit: flows }", "E0101", "flows"),
        ("in turn: { turn: true }", "in turn: { turns: true }", "E0101", "turns"),
        ("executes = match", "D = match", "E0121", "`D`"),
        ("{ to: { count: count", "{ two: { count: count", "E0101", "there is no parameter called `two`"),
        ("{ count: count", "{ count: counts", "E0101", "there is no parameter called `counts`"),
        ("{ count: count", "{ count: what", "E0122", "`what` is not a number"),
        ("{ bank: r, ", "{ bank: q, ", "E0101", "there is no bank called `q`"),
        ("{ bank: r, ", "{ ", "E0122", "`from` is not the first of some registers"),
        ("{ to: { count", "{ to: { bank: r, count", "E0122", "`to` is not the first of some registers"),
    ] {
        let message = compiled(&SMALL.replace(right, wrong)).err().unwrap_or_else(|| panic!("{wrong} passes"));
        assert!(message.contains(code) && message.contains(words), "{wrong}: {message}");
    }
}

/// A field of an unknown enum has no type that its texts could be wrong about.
#[test]
fn a_field_with_a_mistake_causes_no_further_ones() {
    let flag =
        SMALL.replace("executes = match head.who { all => true, flagged => flag }", "executes = head.turn || flag");
    for (text, right, wrong) in [
        (SMALL, "who: { enum: who }", "who: { enum: whoever }"),
        (flag.as_str(), "turn: { doc", "turn: { enum: turns, doc"),
    ] {
        let message = compiled(&text.replace(right, wrong)).expect_err(wrong);
        assert_eq!((message.matches("error[").count(), message.matches("E0101").count()), (1, 1), "{message}");
    }
}
