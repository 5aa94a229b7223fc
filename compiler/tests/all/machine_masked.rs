//! Machines with masked lanes, program memory, separate memories, and texts of their own.

use isaforge_core::machine::{Machine, Reason, Stop};
use isaforge_core::program::assemble;

use crate::support::compiled;

/// Four lanes with a scalar bank, a store to another memory, and a lock.
const SPEC: &str = r#"
isa: t
word: 16
provenance: document
every: { unused: zero }
banks:
  r: { count: 4, width: 32, prints: "r{n}" }
  s: { count: 4, width: 32, prints: "s{n}", uniform: true }
kinds:
  place:
    width: 4
    alternatives:
      own: { fixed: { 3..2: 0 }, fields: { n: { bank: r, bits: 1..0 } }, text: "{n}" }
      common: { fixed: { 3..2: 1 }, fields: { n: { bank: s, bits: 1..0 } }, text: "{n}" }
      other: { fixed: { 3..2: 2 }, fields: { n: { bank: s, bits: 1..0 } }, discards: true, text: "other.{n}" }
semantics:
  pc: u32
  spaces: [data, locks]
  faults: [held]
  states: { origin: { type: u32, doc: Where the lanes begin. } }
  intrinsics:
    "meet()": { doc: Masked lanes go on., effects: [flow] }
    "take(at: u32) -> u32": { doc: Takes a lock., effects: [reads, writes] }
    "ask()": { doc: Asks somebody else., effects: [waits] }
machine:
  lanes: 4
  divergence: masked
  unmasks: meet
  unit: 2
  program: 8
  spaces: { data: { size: 6, beyond: zeros }, locks: { size: 4 } }
  start: "origin = lane * 10"
  intrinsics:
    take: "if ballot(load(u8, locks, at) != 0) != 0 { fault(held, at) } store(u8, locks, at, 1); at + 100"
instructions:
  end: { doc: Ends., fixed: { 15..12: 0 }, does: end() }
  mov: { doc: Copies., fixed: { 15..12: 1 }, operands: { d: { kind: place, at: 0, access: write }, n: { immediate: decimal, bits: 11..4, prefix: "" } }, does: d = n }
  begin: { doc: Where the lane begins., fixed: { 15..12: 2 }, operands: { d: { kind: place, at: 0, access: write } }, does: d = origin }
  half: { doc: Sets a half., fixed: { 15..12: 3 }, operands: { d: { kind: place, at: 0, access: write }, s: { kind: place, at: 4 } }, does: d.h1 = s.h0 }
  less: { doc: Branches where a register is less., fixed: { 15..12: 4 }, operands: { s: { kind: place, at: 0 }, n: { immediate: decimal, bits: 7..4, prefix: "" }, to: { immediate: decimal, bits: 11..8, prefix: "", target: absolute } }, does: "if s < n { branch(to) }" }
  meet: { doc: All go on., fixed: { 15..12: 5 }, does: meet() }
  put: { doc: Stores., fixed: { 15..12: 6 }, operands: { s: { kind: place, at: 0 }, at: { immediate: decimal, bits: 11..4, prefix: "" } }, does: "store(u32, data, at, s)" }
  get: { doc: Loads., fixed: { 15..12: 7 }, operands: { d: { kind: place, at: 0, access: write }, at: { immediate: decimal, bits: 11..4, prefix: "" } }, does: "d = load(u32, data, at)" }
  take: { doc: Takes a lock., fixed: { 15..12: 8 }, operands: { d: { kind: place, at: 0, access: write }, n: { immediate: decimal, bits: 11..4, prefix: "" } }, does: d = take(n) }
  ask: { doc: Asks., fixed: { 15..12: 9 }, does: ask() }
"#;

fn booted(program: &str) -> Machine<4> {
    let compiled = compiled(SPEC).unwrap_or_else(|failure| panic!("{failure}"));
    let isa = compiled.lowered.words().expect("it has words").isa;
    let words = assemble(isa, program).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let code: Vec<u8> = words.iter().flat_map(|word| (*word as u16).to_le_bytes()).collect();
    let mut machine = Machine::new(isa, compiled.semantics.unwrap(), compiled.hardware.unwrap());
    machine.boot(&code).unwrap();
    machine
}

fn lanes(machine: &Machine<4>, register: &str) -> [u64; 4] {
    let register = machine.register(register).unwrap();
    std::array::from_fn(|lane| machine.read(register, lane).unwrap())
}

#[test]
fn lanes_that_do_not_branch_are_masked_until_all_meet() {
    // Lanes 0 and 1 branch over the first `mov`; the others wait at `meet`. Running past the program ends it.
    let mut machine = booted("begin r0\nless r0, 11, 3\nmov r1, 1\nmov r1, 2\nmeet\nmov r2, 3\n");
    for _ in 0..2 {
        machine.step(&mut ()).unwrap();
    }
    assert_eq!((machine.pc(), machine.masked()), (6, 0b1100));
    assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended));
    assert_eq!((lanes(&machine, "r0"), lanes(&machine, "r1")), ([0, 10, 20, 30], [2, 2, 0, 0]));
    assert_eq!(lanes(&machine, "r2"), [3; 4]);
}

#[test]
fn masked_lanes_go_on_when_the_others_have_ended() {
    let mut machine = booted("begin r0\nless r0, 1, 3\nend\nend\nmov r1, 1\nmeet\nmov r2, 2\nend\n");
    assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended));
    assert_eq!((lanes(&machine, "r1"), lanes(&machine, "r2")), ([0; 4], [0, 2, 2, 2]));
}

#[test]
fn the_program_counter_wraps_at_the_end_of_program_memory() {
    let mut machine = booted("mov r0, 1\n");
    machine.set_pc(14);
    // The last word is `end`, but all lanes are masked.
    machine.set_lanes(15, 15);
    machine.step(&mut ()).unwrap();
    assert_eq!(machine.pc(), 0);
    let compiled = compiled(SPEC).unwrap();
    let mut machine = Machine::<4>::new(
        compiled.lowered.words().expect("it has words").isa,
        compiled.semantics.unwrap(),
        compiled.hardware.unwrap(),
    );
    assert!(machine.boot(&[0; 17]).is_err());
}

#[test]
fn lanes_share_uniform_registers_and_the_highest_wins() {
    let mut machine = booted("begin s0\nbegin r0\nmov r1, 7\nhalf s0, r0\nhalf r0, r1\nmov other.s1, 9\nend\n");
    assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended));
    assert_eq!(lanes(&machine, "s0"), [30 << 16 | 30; 4]);
    assert_eq!(lanes(&machine, "r0"), [7 << 16, 7 << 16 | 10, 7 << 16 | 20, 7 << 16 | 30]);
    // The reading `other` discards writes.
    assert_eq!(lanes(&machine, "s1"), [0; 4]);
}

#[test]
fn address_spaces_are_memories_of_their_own() {
    let mut machine = booted("mov r0, 255\nhalf r0, r0\nput r0, 4\nget r1, 4\nget r2, 200\nend\n");
    assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended));
    // Two of the four bytes are beyond the end.
    assert_eq!((lanes(&machine, "r1"), lanes(&machine, "r2")), ([255; 4], [0; 4]));
    assert_eq!(machine.space("data").unwrap().bytes(0, 6), Some(&[0, 0, 0, 0, 255, 0][..]));
    assert_eq!(machine.space("locks").unwrap().bytes(0, 4), Some(&[0; 4][..]));
}

#[test]
fn intrinsics_do_what_the_machine_says_of_them() {
    let mut machine = booted("take r0, 3\ntake r1, 3\nend\n");
    assert_eq!(machine.run(&mut (), 100).unwrap_err().reason, Reason::Fault("held", 3));
    assert_eq!((lanes(&machine, "r0"), machine.pc()), ([103; 4], 2));
    let trap = booted("ask\n").run(&mut (), 1).unwrap_err();
    assert!(matches!(trap.reason, Reason::Intrinsic("ask", _)), "{trap}");
}

#[test]
fn mistakes_in_such_machines_are_marked() {
    for (from, to, words) in [
        ("unmasks: meet", "unmasks: met", "there is no intrinsic called `met`"),
        ("spaces: { data: {", "spaces: { date: {", "there is no address space called `date`"),
        ("program: 8", "program: 0", "the size of program memory cannot be 0"),
        ("size: 4 }", "size: 100000000 }", "the size of the memory cannot be 100000000"),
        ("take: \"if", "taken: \"if", "there is no intrinsic called `taken`"),
        ("at + 100", "ask(); at", "the text of an intrinsic cannot call the intrinsic `ask`"),
        ("origin = lane", "begin = lane", "`begin`"),
    ] {
        assert!(SPEC.contains(from), "{from}");
        let message = compiled(&SPEC.replace(from, to)).err().unwrap_or_else(|| panic!("{to} is no mistake"));
        assert!(message.contains(words), "{words}: {message}");
    }
}
