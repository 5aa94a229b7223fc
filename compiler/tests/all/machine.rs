//! Machines: the semantics of a specification execute.

use std::path::Path;

use isaforge_compiler::{Compiled, Settings, compile};
use isaforge_core::machine::{Access, Encoding, Host, Machine, MemoryFault, Reason, Stop};
use isaforge_core::program::{ProgramError, assemble};
use isaforge_core::stream::Engine;

use crate::support::compiled;

fn example(name: &str) -> Compiled {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).join("isa.yaml");
    compile(&Settings::new(path)).unwrap_or_else(|failure| panic!("{failure}"))
}

fn wrong<T>(errors: &[ProgramError]) -> T {
    panic!("{}", errors[0])
}

/// A machine with a program at address 0.
pub(super) fn loaded<const L: usize>(compiled: &Compiled, program: &str) -> Machine<L> {
    let (encoding, code) = match compiled.lowered.stream() {
        Some(stream) => {
            let engine = Engine { stream, generation: stream.generations.1 };
            (
                Encoding::from(stream),
                isaforge_core::stream::program::assemble(engine, program).unwrap_or_else(|errors| wrong(&errors)),
            )
        }
        None => {
            let isa = compiled.lowered.words().expect("it has words").isa;
            let words = assemble(isa, program).unwrap_or_else(|errors| wrong(&errors));
            let bytes = usize::from(isa.word_bits / 8);
            (Encoding::from(isa), words.iter().flat_map(|word| word.to_le_bytes()[..bytes].to_vec()).collect())
        }
    };
    let mut machine = Machine::new(encoding, compiled.semantics.unwrap(), compiled.hardware.unwrap());
    machine.memory.map(0, code, true).unwrap();
    machine
}

pub(super) fn get<const L: usize>(machine: &Machine<L>, register: &str) -> u64 {
    machine.read(machine.register(register).unwrap(), 0).unwrap()
}

pub(super) fn set<const L: usize>(machine: &mut Machine<L>, register: &str, value: u64) {
    machine.write(machine.register(register).unwrap(), 0, value).unwrap();
}

#[derive(Default)]
struct Console(Vec<u8>);

impl<const L: usize> Host<L> for Console {
    fn write(&mut self, _: u64, bytes: &[u8]) -> Result<(), String> {
        self.0.extend(bytes);
        Ok(())
    }
}

#[test]
fn division_has_the_corners_of_the_manual() {
    let text = "div x5, x1, x2\ndivu x6, x1, x2\nrem x7, x1, x2\nremu x8, x1, x2\nmulh x9, x1, x2\nmulhsu x10, x1, x2\nmulhu x11, x1, x2\n";
    let riscv = example("riscv");
    let min = 0x8000_0000u32;
    for (a, b) in [(7u32, 0u32), (min, u32::MAX), (min, 0), (u32::MAX - 6, 2), (7, u32::MAX - 1), (min, min), (0, 5)] {
        let mut machine = loaded::<1>(&riscv, text);
        set(&mut machine, "x1", a.into());
        set(&mut machine, "x2", b.into());
        assert!(matches!(machine.run(&mut (), 7).unwrap_err().reason, Reason::Budget(7)));
        let (sa, sb) = (a as i32, b as i32);
        let expected = [
            if b == 0 { u32::MAX } else { sa.wrapping_div(sb) as u32 },
            a.checked_div(b).unwrap_or(u32::MAX),
            if b == 0 { a } else { sa.wrapping_rem(sb) as u32 },
            a.checked_rem(b).unwrap_or(a),
            ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
            ((i64::from(sa) * i64::from(b)) >> 32) as u32,
            ((u64::from(a) * u64::from(b)) >> 32) as u32,
        ];
        let found: Vec<u64> = (5..12).map(|n| get(&machine, &format!("x{n}"))).collect();
        assert_eq!(found, expected.map(u64::from), "{a:#x} and {b:#x}");
    }
}

#[test]
fn conditional_zeros_look_at_the_second_register() {
    let text = "czero.eqz x5, x1, x2\nczero.nez x6, x1, x2\n";
    for (b, expected) in [(0, [0, 9]), (1, [9, 0]), (0x8000_0000, [9, 0])] {
        let mut machine = loaded::<1>(&example("riscv"), text);
        set(&mut machine, "x1", 9);
        set(&mut machine, "x2", b);
        let _ = machine.run(&mut (), 2);
        assert_eq!([get(&machine, "x5"), get(&machine, "x6")], expected, "{b:#x}");
    }
}

#[test]
fn zero_stays_zero() {
    let mut machine = loaded::<1>(&example("riscv"), "addi x0, x0, 5\naddi x1, x0, 3\n");
    let _ = machine.run(&mut (), 2);
    assert_eq!((get(&machine, "x0"), get(&machine, "x1")), (0, 3));
}

#[test]
fn a_program_writes_and_ends_with_its_status() {
    let text = "addi x17, x0, 64\naddi x11, x0, 40\naddi x12, x0, 2\necall\naddi x5, x10, 0\naddi x10, x0, 300\naddi x17, x0, 93\n\
                ecall\n.byte 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x0a\n";
    let mut machine = loaded::<1>(&example("riscv"), text);
    let mut console = Console::default();
    assert_eq!(machine.run(&mut console, 100), Ok(Stop::Exit(300)));
    assert_eq!(console.0, b"A\n");
    assert_eq!((get(&machine, "x5"), machine.executed()), (2, 8));
}

#[test]
fn traps_say_what_and_where() {
    let riscv = example("riscv");
    let trap = |text: &str| {
        let mut machine = loaded::<1>(&riscv, text);
        set(&mut machine, "x2", 0x10_0002);
        machine.run(&mut (), 100).unwrap_err()
    };
    let unmapped = Reason::Memory { access: Access::Read, fault: MemoryFault::Unmapped, address: 0x10_0000, size: 4 };
    let found = trap("addi x1, x0, 1\nlw x3, -2(x2)\n");
    assert_eq!((found.pc, &found.reason), (4, &unmapped));
    assert_eq!(found.to_string(), "at 0x4: 4 bytes at 0x100000 cannot be read: nothing is mapped there");
    assert!(matches!(trap("jalr x1, 0(x2)\n").reason, Reason::Memory { access: Access::Fetch, .. }));
    assert!(matches!(trap(".byte 0, 0, 0, 0\n").reason, Reason::Undecodable { word: 0, .. }));
    assert_eq!(trap("ebreak\n").reason, Reason::Fault("breakpoint", 0));
    assert_eq!(trap("csrrw x1, 0xc00, x0\n").reason, Reason::Fault("illegal_instruction", 0));
    assert_eq!(trap("ecall\n").reason, Reason::NoService(0));
    assert_eq!(trap("jal x0, 0\n").reason, Reason::Budget(100));
}

#[test]
fn what_is_stored_over_code_is_executed() {
    // The word at 12 is replaced by `addi x1, x0, 7` before the second pass.
    let text = "lw x5, 32(x0)\naddi x6, x6, 1\naddi x7, x0, 2\naddi x1, x0, 1\nsw x5, 12(x0)\nbne x6, x7, -16\necall\n\
                .byte 0, 0, 0, 0, 0x93, 0, 0x70, 0\n";
    let mut machine = loaded::<1>(&example("riscv"), text);
    assert!(matches!(machine.run(&mut (), 100).unwrap_err().reason, Reason::NoService(0)));
    assert_eq!(get(&machine, "x1"), 7);
}

#[test]
fn a_breakpoint_stops_before_its_instruction_and_lets_go_on() {
    let mut machine = loaded::<1>(&example("riscv"), "addi x1, x1, 1\njal x0, -4\n");
    machine.breakpoints.insert(4);
    for turn in 1..4 {
        assert_eq!(machine.run(&mut (), 100), Ok(Stop::Breakpoint(4)));
        assert_eq!((get(&machine, "x1"), machine.pc()), (turn, 4));
    }
}

#[test]
fn every_mistake_in_a_machine_is_marked() {
    let head = "isa: t\nword: 8\nprovenance: document\nbanks: { r: { count: 4, width: 8, zero: 4 } }\n\
                semantics: { pc: u32, intrinsics: { \"call()\": { doc: Calls., effects: [flow] } }, states: { s: { type: u8, register: r9 } } }\n\
                kinds: { k: { width: 2, alternatives: { a: { fields: { n: { bits: 1..0, bank: r } }, value: m, text: \"{n}\" } } } }\n\
                instructions: { C: { doc: Calls., fixed: { 7..2: 1 }, operands: { k: { kind: k, at: 0 } }, does: \"s = trunc(u8, k); call()\" } }\n\
                machine: { lanes: 65, calls: { call: { number: q1, services: { 1: {} } }, cal: { number: r1, services: {} } } }\n";
    let message = compiled(head).err().unwrap();
    for (code, words) in [
        ("E0033", "the number of the register cannot be 4"),
        ("E0033", "the number of lanes cannot be 65"),
        ("E0101", "there is no register called `r9`"),
        ("E0101", "there is no register called `q1`"),
        ("E0101", "there is no intrinsic called `cal`"),
        ("E0121", "`m`"),
    ] {
        assert!(message.contains(code) && message.contains(words), "{words}: {message}");
    }
    let message = compiled(&head.replace("number: q1", "number: r1")).err().unwrap();
    assert!(message.contains("a service needs exactly one of `write` or `exit`"), "{message}");
    let source = DSP.replace("BITS", "24");
    let wide = source.replace("text: \"#{n}\" }", "value: \"zext(u64, n)\", text: \"#{n}\" }");
    let message = compiled(&wide).err().unwrap();
    assert!(
        message.contains("operands of the kind `source` are read as 32 bits, the greatest `size` of one"),
        "{message}"
    );
    let part = compiled(&source.replace("p = moved(p)", "p.n = moved(p)")).err().unwrap();
    assert!(part.contains("`p` is the register itself: `p = …` writes all of it"), "{part}");
    let nothing = "isa: t\nword: 8\nprovenance: document\nmachine: {}\ninstructions: { N: { doc: Nothing., fixed: { 7..0: 0 } } }\n";
    assert!(compiled(nothing).err().unwrap().contains("a machine with nothing to execute"));
}

/// The values of a register in all lanes.
fn lanes(machine: &Machine<32>, register: &str) -> Vec<u64> {
    let register = machine.register(register).unwrap();
    (0..32).map(|lane| machine.read(register, lane).unwrap()).collect()
}

#[test]
fn lanes_part_and_meet_again() {
    // Every lane multiplies as often as its number says; then each adds the result of its neighbour.
    let text = "lane r0\nmov r1, #1\nmov r2, #0\nagain: bne r2, r0, work\nbne r0, #-1, done\nwork: mul r1, r1, #3\nadd r2, r2, #1\n\
                bne r2, #99, again\ndone: swap r3, r1, #1\nadd r4, r1, r3\nend\n";
    let mut machine = loaded::<32>(&example("lanes"), text);
    assert_eq!(machine.run(&mut (), 1000), Ok(Stop::Ended));
    let power = |n: u64| (0..n).fold(1u64, |all, _| (all * 3) & 0xffff_ffff);
    let expected: Vec<u64> = (0..32).map(power).collect();
    assert_eq!(lanes(&machine, "r1"), expected);
    let sums: Vec<u64> = (0..32).map(|n| (power(n) + power(n ^ 1)) & 0xffff_ffff).collect();
    assert_eq!(lanes(&machine, "r4"), sums);
    // The lanes reach the end together: 31 iterations of four instructions, the first three, and the last ones.
    assert!(machine.executed() < 31 * 5 + 16, "{}", machine.executed());
}

#[test]
fn lanes_that_may_not_part_trap_when_they_do() {
    let source =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/lanes/isa.yaml")).unwrap();
    let strict = compiled(&source.replace("  divergence: lowest first\n", "")).unwrap();
    let text = "lane r0\nbne r0, #5, there\nmov r1, #1\nthere: mov r2, #2\nend\n";
    let mut machine = loaded::<32>(&strict, text);
    let trap = machine.run(&mut (), 100).unwrap_err();
    assert_eq!((trap.pc, trap.reason), (8, Reason::Diverged));
    let mut together = loaded::<32>(&strict, "lane r0\nbne r0, #77, there\nmov r1, #1\nthere: mov r2, #2\nend\n");
    assert_eq!(together.run(&mut (), 100), Ok(Stop::Ended));
    assert_eq!(lanes(&together, "r1"), vec![0; 32]);
}

#[test]
fn an_operand_reads_what_its_alternative_says() {
    let mut machine = loaded::<32>(&example("lanes"), "mov r1, #-3\nmov r2, r1\nshl r3, r2, #-4\nend\n");
    assert_eq!(machine.run(&mut (), 10), Ok(Stop::Ended));
    assert_eq!((get(&machine, "r2"), get(&machine, "r3")), (0xffff_fffd, 0x0fff_ffff));
}

#[test]
fn accesses_are_aligned_where_they_must_be() {
    let mut machine = loaded::<32>(&example("lanes"), "mov r1, #2\nload r0, [r1]\nend\n");
    let trap = machine.run(&mut (), 10).unwrap_err();
    assert_eq!(trap.reason, Reason::Misaligned { access: Access::Read, address: 2, size: 4 });
}

/// A stream specification with words of `bits` bits.
fn dsp(bits: &str) -> Compiled {
    compiled(&DSP.replace("BITS", bits)).unwrap_or_else(|why| panic!("{why}"))
}

const DSP: &str = r##"
isa: dsp
doc: Adds numbers that are scaled, negated and inverted, and walks over memory.
word: BITS
provenance: document
every: { unused: zero }
banks:
  r: { count: 8, width: 32, prints: "r{n}" }
enums:
  Mode: { values: [plain, twice, half, ~], default: plain }
  Scale: { values: [one, two], default: one }
  Step: { values: [{ name: stay, prints: "" }, { name: up, prints: "+" }, { name: down, prints: "-" }, ~] }
kinds:
  source:
    width: 4
    alternatives:
      register: { fixed: { 3: 0 }, fields: { n: { bits: 2..0, bank: r } }, text: "{n}" }
      number: { fixed: { 3: 1 }, fields: { n: { bits: 2..0, number: decimal } }, text: "#{n}" }
    suffixes: { inv: { bits: 4 } }
  place:
    width: 6
    alternatives:
      low: { fixed: { 5: 0 }, fields: { step: { bits: 4..3, enum: Step }, n: { bits: 2..0, bank: r } }, text: "[{n}{step}]" }
      high: { fixed: { 5: 1 }, fields: { n: { bits: 2..0, bank: r }, step: { bits: 4..3, enum: Step } }, text: "high[{n}{step}]" }
semantics:
  pc: u32
  functions:
    moved(p): "match p.step { stay => p, up => p + 4, down => p - 4 }"
machine: {}
instructions:
  add:
    doc: Adds.
    fixed: { 23..20: 1 }
    modifiers: { mode: { enum: Mode, bits: 19..18 }, carry: { bits: 17 } }
    operands:
      d: { bank: r, bits: 16..14, access: write }
      a: { bank: r, bits: 13..11, suffixes: { neg: { bits: 10 }, scale: { enum: Scale, bits: 9 } } }
      b: { kind: source, at: 0 }
    does: |
      let x = if a.neg { 0 - a } else { a };
      let y = match a.scale { one => x, two => x * 2 };
      let z = if b.inv { ~b } else { b };
      let s = y + z + (if carry { 1 } else { 0 });
      d = match mode { plain => s, twice => s + s, half => s >> 1 }
  load:
    doc: Loads a word, and moves on.
    fixed: { 23..20: 2 }
    operands: { d: { bank: r, bits: 16..14, access: write }, p: { kind: place, at: 0, access: read-write } }
    does: "d = load(u32, p); p = moved(p)"
  two:
    rows: { shl: { f: 4, how: "(a << b)" }, low: { f: 5, how: "min(a, b)" } }
    doc: Computes.
    fixed: { 23..20: $f }
    operands: { d: { bank: r, bits: 10..8, access: write }, a: { bank: r, bits: 7..5 }, b: { bank: r, bits: 4..2 } }
    does: "d = $how + 1"
  end:
    doc: Ends.
    fixed: { 23..20: 3 }
    does: end()
"##;

#[test]
fn modifiers_of_a_stream_choose_as_those_of_words_do() {
    let program = "add r1, r2, #5\nadd.twice.carry r3, r2.neg, #1\nadd r4, r2.two, r2.inv\n\
                   add.half r5, r2.neg.two, r2\nend\n";
    for bits in ["24", "40"] {
        let mut machine: Machine<1> = loaded(&dsp(bits), program);
        set(&mut machine, "r2", 7);
        assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended), "{bits}");
        let found = ["r1", "r3", "r4", "r5"].map(|register| get(&machine, register) as u32 as i32);
        assert_eq!(found, [12, -10, 14 + !7, ((7 - 14) as u32 >> 1) as i32], "{bits}");
    }
}

#[test]
fn a_field_that_all_readings_of_an_operand_have_chooses() {
    let program = "load r1, [r7+]\nload r2, high[r7-]\nload r3, [r7]\nend\n";
    for bits in ["24", "40"] {
        let mut machine: Machine<1> = loaded(&dsp(bits), program);
        let data = [11u32, 22].iter().flat_map(|word| word.to_le_bytes()).collect();
        machine.memory.map(0x1000, data, false).unwrap();
        set(&mut machine, "r7", 0x1000);
        assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended), "{bits}");
        assert_eq!(["r1", "r2", "r3", "r7"].map(|register| get(&machine, register)), [11, 22, 11, 0x1000], "{bits}");
    }
}

#[test]
fn what_a_row_says_may_be_a_part_of_a_text() {
    let mut machine: Machine<1> = loaded(&dsp("24"), "shl r1, r2, r3\nlow r4, r2, r3\nend\n");
    set(&mut machine, "r2", 5);
    set(&mut machine, "r3", 3);
    assert_eq!(machine.run(&mut (), 100), Ok(Stop::Ended));
    assert_eq!(["r1", "r4"].map(|register| get(&machine, register)), [41, 4]);
    let wrong = compiled(&DSP.replace("BITS", "24").replace("min(a, b)", "min(a, c)")).err().unwrap();
    assert!(wrong.contains("`c`") && wrong.contains("does: \"d = $how + 1\""), "{wrong}");
}

/// A set with one entry whose rows compute `d` from `a`, with eight registers.
fn rows(word: &str, width: u32, [d, a]: [&str; 2], rows: &[&str]) -> Compiled {
    let row = |(number, how): (usize, &&str)| format!("      t{number}: {{ f: {number}, how: \"{how}\" }}\n");
    let rows: String = rows.iter().enumerate().map(row).collect();
    let last = if word.starts_with('[') { "word: 16\n    " } else { "" };
    compiled(&format!(
        "isa: small\ndoc: Small.\nword: {word}\nprovenance: document\n\
         banks: {{ r: {{ count: 8, width: {width}, prints: \"r{{n}}\" }} }}\n\
         semantics: {{ states: {{ c: {{ type: u32, count: 4 }}, s: {{ type: u32 }} }} }}\nmachine: {{}}\n\
         instructions:\n  T:\n    {last}rows:\n{rows}    doc: Does what its row says.\n    fixed: {{ 15..6: $f }}\n    \
         operands: {{ d: {{ bank: r, bits: 5..3, access: {d} }}, a: {{ bank: r, bits: 2..0, access: {a} }} }}\n    \
         does: $how\n  Nothing:\n    doc: Nothing.\n    fixed: {{ {} }}\n    does: nop\n",
        if last.is_empty() { "15..0: 0xffff" } else { "31..0: 0xffffffff" }
    ))
    .unwrap_or_else(|failure| panic!("{failure}"))
}

/// The value of r1 after each instruction, with r1 = 0x33445 and r2 = 0x1122 before.
fn left(set: &Compiled, count: usize) -> Vec<u64> {
    let one = |number: usize| {
        let mut machine = loaded::<1>(set, &format!("t{number} r1, r2\n"));
        set_both(&mut machine);
        let _ = machine.run(&mut (), 1);
        get(&machine, "r1")
    };
    (0..count).map(one).collect()
}

fn set_both(machine: &mut Machine<1>) {
    set(machine, "r1", 0x33445);
    set(machine, "r2", 0x1122);
}

#[test]
fn a_part_of_a_register_is_written_alone_whatever_the_width() {
    let parts = ["d.b0 = a.b0", "d.b1 = a.b0", "d.h0 = a.h0", "d.b0 = a.b1; d.b1 = a.b0"];
    for (word, width) in
        [("16", 32), ("16", 24), ("16", 20), ("16", 64), ("[16, 32]", 32), ("[16, 32]", 24), ("[16, 32]", 20)]
    {
        let found = left(&rows(word, width, ["read-write", "read"], &parts), parts.len());
        assert_eq!(found, [0x33422, 0x32245, 0x31122, 0x32211], "words of {word} bits, registers of {width}");
    }
}

#[test]
fn what_was_assigned_to_an_element_of_a_state_is_read_behind_it() {
    let how = [
        "c[1] = 5; d = c[1]",
        "c[2] = 7; c[2] = c[2] + 1; d = c[2]",
        "c[a & 3] = 6; d = c[2]",
        "c[2] = 6; d = c[a & 3]",
        "c[1] = 6; d = c[a & 3]",
        "if a == 0 { c[2] = 9 }; d = c[2]",
        "if a != 0 { c[2] = 9 }; d = c[2]",
        "s = 5; d = s",
    ];
    assert_eq!(left(&rows("16", 32, ["write", "read"], &how), how.len()), [5, 8, 6, 6, 0, 0, 9, 5]);
}

#[test]
fn of_two_writes_of_one_register_the_later_counts() {
    let mut machine =
        loaded::<1>(&rows("16", 32, ["write"; 2], &["d = 1; a = 2", "a = 2; d = 1"]), "t0 r3, r3\nt1 r4, r4\n");
    let _ = machine.run(&mut (), 2);
    assert_eq!((get(&machine, "r3"), get(&machine, "r4")), (2, 1));
}

#[test]
fn instructions_of_a_stream_that_share_a_name_do_what_each_says() {
    let set = "isa: two\ndoc: Two.\nword: [16, 32]\nprovenance: document\n\
        banks: { r: { count: 8, width: 16, prints: \"r{n}\" } }\nmachine: {}\ninstructions:\n  \
        Two:\n    word: 16\n    rows: { inc: { f: 0, how: d = a + 1 }, pop: { f: 1, how: d = popcount(a) } }\n    doc: Short.\n    \
        fixed: { 15..6: $f }\n    operands: { d: { bank: r, bits: 5..3, access: write }, a: { bank: r, bits: 2..0 } }\n    \
        does: $how\n  Three:\n    rows: { pop: { f: 2 } }\n    doc: Long.\n    fixed: { 31..6: $f }\n    \
        operands: { d: { bank: r, bits: 5..3, access: write }, a: { bank: r, bits: 2..0 } }\n    does: d = a + 0x100\n";
    let set = compiled(set).unwrap_or_else(|failure| panic!("{failure}"));
    for (bytes, expected) in [(".byte 0x53, 0x00\n", 8), (".byte 0x93, 0x00, 0x00, 0x00\n", 0x1ff)] {
        let mut machine = loaded::<1>(&set, bytes);
        set_register(&mut machine);
        let _ = machine.run(&mut (), 1);
        assert_eq!(get(&machine, "r2"), expected, "{bytes}");
    }
}

fn set_register(machine: &mut Machine<1>) {
    set(machine, "r3", 0xff);
}

#[test]
fn lanes_that_do_not_exist_hold_zero() {
    let set = "isa: few\ndoc: Few.\nword: 16\nprovenance: document\n\
        banks: { r: { count: 8, width: 32, prints: \"r{n}\" } }\nmachine: { lanes: 8 }\ninstructions:\n  \
        T:\n    rows: { far: { f: 0, how: \"d = permute(lane + 1, 9)\" }, near: { f: 1, how: \"d = permute(lane + 1, 7)\" } }\n    \
        doc: Looks at another lane.\n    fixed: { 15..3: $f }\n    operands: { d: { bank: r, bits: 2..0, access: write } }\n    \
        does: $how\n";
    let set = compiled(set).unwrap_or_else(|failure| panic!("{failure}"));
    let mut machine = loaded::<32>(&set, "far r1\nnear r2\n");
    let _ = machine.run(&mut (), 16);
    let lanes = |register: &str| -> Vec<u64> {
        let register = machine.register(register).unwrap();
        (0..8).map(|lane| machine.read(register, lane).unwrap()).collect()
    };
    assert_eq!((lanes("r1"), lanes("r2")), (vec![0; 8], vec![8; 8]));
}
