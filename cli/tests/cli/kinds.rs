//! What operands of one's own kinds read and write.

use super::*;

/// Operands with a sign, a predicate, and a register that is always zero.
const SIGNED: &str = "isa: signed
doc: Operands with signs.
word: 24
provenance: document
banks:
  p: { count: 7, width: 1, prints: \"P{n}\" }
  r: { count: 15, width: 32, prints: \"R{n}\" }
kinds:
  predicate:
    width: 3
    alternatives:
      some: { doc: A predicate., where: n != 7, fields: { n: { bits: 2..0, bank: p } }, text: \"{n}\" }
      true: { doc: Always true., fixed: { 2..0: 7 }, value: 1, text: PT }
  guard:
    width: 4
    alternatives:
      one: { doc: A predicate., fields: { not: { bits: 3 }, p: { bits: 2..0, kind: predicate } }, value: p, text: \"{?not != 0|!}{p}\" }
  register:
    width: 4
    alternatives:
      some: { doc: A register., where: n != 15, fields: { n: { bits: 3..0, bank: r } }, text: \"{n}\" }
      zero: { doc: Always zero., fixed: { 3..0: 15 }, value: 0 as u32, discards: true, text: RZ }
  source:
    width: 8
    alternatives:
      register: { doc: A register., fixed: { 7: 0, 5..4: 0 }, fields: { neg: { bits: 6 }, n: { bits: 3..0, kind: register } }, value: n, text: \"{?neg != 0|-}{n}\" }
      number: { doc: A number., fixed: { 7: 1 }, fields: { OTHER n: { bits: 6..0, number: decimal } }, value: n as u32, text: \"{n}\" }
semantics:
  pc: u32
  functions:
    value(a): \"if a.neg? != 0 { 0 - a } else { a }\"
    place(a, n): \"match n { 0 => a, 1 => a + 4, _ => 0 }\"
instructions:
  MOV:
    doc: Copies.
    fixed: { 23..16: 1, 15..12: 0 }
    operands: { d: { kind: register, at: 8, access: write }, a: { kind: source, at: 0 } }
    does: d = value(a)
  INC:
    doc: Adds one.
    fixed: { 23..16: 2, 7..0: 0 }
    operands: { g: { kind: guard, at: 12 }, d: { bank: r, bits: 11..8, access: read-write } }
    syntax: \"@{g} {mnemonic} {d}\"
    does: \"if (g == 1) != (g.not != 0) { d = d + 1 }\"
  LD:
    doc: Loads.
    fixed: { 23..16: 3, 15..10: 0 }
    fields: { n: { bits: 9..8 } }
    operands: { d: { bank: r, bits: 7..4, access: write }, a: { bank: r, bits: 3..0 } }
    syntax: \"{mnemonic}.{n} {d}, {a}\"
    does: d = load(u32, place(a, n))
machine: {}
";

fn run(other: &str, program: &str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), SIGNED.replace("OTHER", other)).expect("it is written");
    let launch = format!(
        "program: {program}\nregisters: {{ P1: 1, R2: 5, R3: 0x1000, R4: 0 }}\nbuffers: {{ b: {{ address: 0x1000, words: [7, 9] }} }}\nshow: [R1, R4]\n"
    );
    fs::write(folder.path().join("launch.yaml"), launch).expect("it is written");
    isaforge_in(folder.path(), &["run", "--spec", "isa.yaml", "launch.yaml", "-q"], b"")
}

#[test]
fn a_part_that_some_readings_lack_is_no_part() {
    let refused = run("", "\"MOV R1, R2\"").expect(1);
    let message = "error[E0121]: not all readings of `a` have `neg`: `number` does not";
    assert!(refused.err.contains(message) && refused.err.contains("give `number` a `neg`"), "{}", refused.err);
    let lines = |program: &str| run("neg: { value: \"0\" },", program).expect(0).out().to_owned();
    assert_eq!(lines("\"MOV R1, -R2\""), "R1 = fffffffb\nR4 = 00000000\n");
    assert_eq!(lines("\"MOV R1, 12\""), "R1 = 0000000c\nR4 = 00000000\n");
}

#[test]
fn a_narrow_register_within_a_kind_is_read_alone() {
    let lines = |program: &str| run("neg: { value: \"0\" },", program).expect(0).out().to_owned();
    assert_eq!(lines("\"@P1 INC R4\""), "R1 = 00000000\nR4 = 00000001\n");
    assert_eq!(lines("\"@!P1 INC R4\\n@PT INC R4\\n@P2 INC R4\""), "R1 = 00000000\nR4 = 00000001\n");
}

#[test]
fn what_discards_writes_may_be_read() {
    let lines = |program: &str| run("neg: { value: \"0\" },", program).expect(0).out().to_owned();
    assert_eq!(lines("\"MOV R1, R2\\nMOV R4, RZ\\nMOV RZ, R2\""), "R1 = 00000005\nR4 = 00000000\n");
    assert_eq!(lines("\"MOV R1, R2\\nMOV R1, -RZ\""), "R1 = 00000000\nR4 = 00000000\n");
}

#[test]
fn numbers_in_arms_have_the_type_of_the_other_arms() {
    let lines = |program: &str| run("neg: { value: \"0\" },", program).expect(0).out().to_owned();
    assert_eq!(lines("\"LD.0 R1, R3\\nLD.1 R4, R3\""), "R1 = 00000007\nR4 = 00000009\n");
}

/// A number with a prefix of its own, and a branch to an address.
pub const PREFIXED: &str = "isa: prefixed
doc: Numbers after a dollar sign.
word: 24
provenance: document
banks: { r: { count: 1, width: 32, prints: \"R{n}\" } }
semantics: { pc: u32 }
instructions:
  LD: { doc: Loads., fixed: { 23..16: 1 }, operands: { n: { immediate: { base: 16, prefix: \"$\" }, bits: 15..0, prefix: \"\" } }, does: nop }
  JMP:
    doc: Goes there.
    fixed: { 23..16: 2 }
    operands: { to: { immediate: { base: 16, prefix: \"$\" }, bits: 15..0, prefix: \"\", target: { from: 0, unit: 1 } } }
    does: branch(zext(u32, to))
machine: {}
";

#[test]
fn a_number_without_its_prefix_is_decimal() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), PREFIXED).expect("it is written");
    let run = |arguments: &[&str], text: &str| isaforge_in(folder.path(), arguments, text.as_bytes());
    let asm = ["asm", "--spec", "isa.yaml"];
    let numbers = run(&asm, "LD 16\nLD $10\nLD 0x10\nLD 0b10000\n").expect(0);
    assert_eq!(numbers.out().replace('\n', ""), "100001".repeat(4));
    let wrong = run(&asm, "LD ab\n").expect(1);
    assert!(wrong.err.contains("expected"), "{}", wrong.err);

    // An absolute target depends on the address of the program.
    let source = "LD 1\nagain: JMP again\n";
    let at =
        |address: &str| run(&["asm", "--spec", "isa.yaml", "--address", address], source).expect(0).out().to_owned();
    assert_eq!(at("0"), "010001030002\n");
    assert_eq!(at("0x400"), "010001030402\n");
    let wrong = run(&["asm", "--spec", "isa.yaml", "--address", "$400"], source).expect(2);
    assert!(wrong.err.contains("expected a number, such as 0x400"), "{}", wrong.err);

    // Disassembled at the same address, it has labels again.
    let placed = |command: &[&str], input: &str| {
        run(&[command, &["--spec", "isa.yaml", "--address", "0x400"]].concat(), input).expect(0).out().to_owned()
    };
    assert_eq!(placed(&["dis"], &at("0x400")), "LD $1\nl1:\nJMP l1\n");
    assert_eq!(run(&["dis", "--spec", "isa.yaml"], &at("0x400")).expect(0).out(), "LD $1\nJMP $403\n");
    assert!(placed(&["dis", "--comments"], &at("0x400")).contains("0x0403  "));
    let objects = placed(&["dis", "--json"], &at("0x400"));
    assert!(objects.contains("\"target\":\"l1\",\"target_address\":1027"), "{objects}");
    assert!(placed(&["graph", "--format", "dot"], source).contains("again"));
    assert_eq!(placed(&["lint"], &at("0x400")), "");
    let astray = run(&["lint", "--spec", "isa.yaml", "--address", "0x100"], &at("0x400")).expect(1);
    assert!(astray.out().contains("the branch target 0x403"), "{}", astray.out());
}

/// An operand that is a register or a place in memory.
const PLACES: &str = "isa: places
doc: Registers and memory.
word: 8
generations: [1, 2]
provenance: document
banks: { r: { count: 4, width: 32, prints: \"r{n}\" } }
kinds:
  place:
    width: 3
    alternatives:
      register: { doc: A register., where: mode == 0, fields: { mode: { bits: 2 }, n: { bits: 1..0, bank: r } }, text: \"{n}\" }
      memory: { doc: A word in memory., where: mode == 1, fields: { mode: { bits: 2 }, n: { bits: 1..0, bank: r } }, text: \"({n})\" }
semantics: { pc: u32 }
instructions:
  END: { doc: Ends., fixed: { 7..0: 0 }, does: end() }
  PUT:
    doc: Puts a value somewhere.
    fixed: { 7..5: 1 }
    operands: { d: { bank: r, bits: 4..3 }, p: { kind: place, at: 0, access: read-write, size: 32 } }
    does: \"match p.mode { 0 => { p = d }, _ => store(u32, p, d) }\"
machine: {}
";

#[test]
fn what_an_instruction_does_depends_on_the_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), PLACES).expect("it is written");
    let lint = |text: &str| {
        let arguments = ["lint", "--spec", "isa.yaml", "--generation", "2"];
        isaforge_in(folder.path(), &arguments, text.as_bytes())
    };
    let run = lint("PUT r0, (r1)\nEND\n").expect(0);
    assert!(run.out().is_empty(), "{}", run.out());
    let run = lint("PUT r0, r1\nEND\n").expect(1);
    assert!(run.out().contains("P0003"), "{}", run.out());
}

#[test]
fn blanks_in_brackets_are_free_and_defaults_are_named() {
    let spec = "isa: ms\nword: 16\nprovenance: document\nevery: { unused: zero }\n\
        banks: { r: { count: 4, width: 16, prints: 'r{n}', names: [za, zb, zc, zd] } }\n\
        enums: { When: { values: [always, lit, dark, ~], default: always } }\ninstructions:\n  \
        b: { doc: x., fixed: { 15..12: 1 }, modifiers: { when: { enum: When, bits: 11..10 } }, operands: { to: { immediate: signed, bits: 7..0, prefix: '' } } }\n  \
        ld: { doc: x., fixed: { 15..12: 2 }, operands: { d: { bank: r, bits: 1..0, access: write }, a: { bank: r, bits: 3..2 } }, syntax: '{mnemonic} {d}, [{a}]' }\n";
    let assembled = |text: &str| isaforge_of(spec, &["asm", "-"], text);
    assert_eq!(assembled("ld za, [ zb ]\nld za,[zb]\n").expect(0).out().trim(), "04200420");
    let run = assembled("b.always 3\n").expect(1);
    assert!(
        run.err.contains("<stdin>:1:2: error: `always` is the default of `when` and is not written"),
        "{}",
        run.err
    );
    assert_eq!(assembled("b.lit 3\n").expect(0).out().trim(), "0314");
}

#[test]
fn blanks_between_signs_are_free_in_words() {
    let spec = "isa: ww\nword: 16\nprovenance: document\nevery: { unused: zero }\n\
        banks: { r: { count: 4, width: 16, prints: 'r{n}' } }\ninstructions:\n  \
        b: { doc: x., fixed: { 15..12: 1 }, operands: { to: { immediate: signed, bits: 7..0, prefix: '', target: relative } } }\n  \
        ld: { doc: x., fixed: { 15..12: 2 }, operands: { d: { bank: r, bits: 1..0, access: write }, a: { bank: r, bits: 3..2 } }, syntax: '{mnemonic} {d}, [{a}]' }\n";
    let assembled = |text: &str| isaforge_of(spec, &["asm", "-"], text);
    assert_eq!(assembled("ld r0,[r1]\nld r0 , [ r1 ]\n").expect(0).out().trim(), "2004\n2004");
    let run = assembled("b\n").expect(1);
    assert!(run.err.contains("<stdin>:1:2: error: expected a label or a number"), "{}", run.err);
}

#[test]
fn a_number_beyond_the_floats_of_a_field_is_refused() {
    let spec = "isa: fl\nprovenance: document\nword: [32]\ninstructions:\n  ldh: { doc: L., fixed: { 31..16: 1 }, \
                fields: { x: { number: { float: 16 }, bits: 15..0 } }, syntax: 'LDH {x}' }\n";
    let wrong = isaforge_of(spec, &["asm", "-"], "LDH 65504.0\nLDH -inf\nLDH 65520.0\n").expect(1);
    assert!(wrong.err.contains("`65520.0` is too large for `x`, a float of 16 bits"), "{}", wrong.err);
    assert_eq!(wrong.err.matches("error").count(), 2, "{}", wrong.err);
}
