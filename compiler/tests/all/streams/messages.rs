//! What the assembler says about a text that is no instruction, and what it suggests.

use super::*;

const SPEC: &str = r##"
isa: said
word: [8, 16]
generations: { v1: 1, v2: 2 }
provenance: document
banks:
  r: { count: 8, prints: "r{n}" }
enums:
  Cond: { bits: 2, values: [always, z, nz, { name: le, since: v2 }], default: always }
  Dir: { bits: 1, values: [shl, shr] }
kinds:
  src: { width: 4, alternatives: { reg: { fixed: { 3: 0 }, fields: { n: { bank: r, bits: 2..0 } }, text: "{n}" },
    imm: { fixed: { 3: 1 }, fields: { v: { number: decimal, bits: 2..0 } }, text: "#{v}" } } }
instructions:
  nop: { doc: N., word: 8, fixed: { 7..0: 0 } }
  mul: { doc: M., since: v2, word: 8, operands: { r: { bank: r, bits: 2..0 } }, fixed: { 7..3: 0b10100 } }
  addi: { doc: A., word: 16, fixed: { 7..0: 0x81 }, operands: { imm: { immediate: signed, bits: 15..8 } } }
  shf: { doc: S., word: 16, fixed: { 7..0: 0x84, 15..14: 0 }, modifiers: { dir: { enum: Dir, bits: 8 } }, operands: { n: { immediate: decimal, bits: 13..9 } } }
  j: { doc: J., word: 16, fixed: { 7..2: 0b100100 }, modifiers: { cond: { enum: Cond, bits: 1..0 } }, operands: { to: { immediate: signed, bits: 15..8, prefix: "", target: { from: next, unit: 1 } } } }
  swap: { doc: S., word: 16, fixed: { 7..0: 0x98, 15..14: 0 }, where: d != a, operands: { d: { bank: r, bits: 10..8 }, a: { bank: r, bits: 13..11 } } }
  pair: { doc: P., word: 16, fixed: { 7..0: 0xa8, 15..11: 0 }, operands: { a: { bank: r, bits: 10..8 }, b: { bank: r, value: "(a + 1) & 7" } } }
  addq: { doc: A., word: 16, fixed: { 7..0: 0xaa, 15..14: 0 }, operands: { n: { immediate: decimal, bits: 13..11, value: bits + 1 }, d: { bank: r, bits: 10..8 } } }
  lea.1: { doc: L., word: 16, fixed: { 7..0: 0xac, 15..14: 0 }, where: d != a, syntax: "lea {d}, {a}", operands: { d: { bank: r, bits: 10..8 }, a: { bank: r, bits: 13..11 } } }
  mov: { doc: M., word: 16, fixed: { 7..0: 0xa9, 15: 0 }, operands: { d: { bank: r, bits: 14..12 }, s: { kind: src, at: 8 } } }
"##;

#[test]
fn a_text_that_is_no_instruction_is_told_why() {
    let engine = of_text("said", SPEC, 1).expect("the specification is valid");
    let later = Engine { generation: 2, ..engine };
    let told = |engine: Engine, text: &str| {
        let errors = assemble(engine, text).expect_err(text);
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    for (text, expected) in [
        // Not the register after it is wrong.
        ("addq #9, r1", "1:7: `n` cannot be `9` here"),
        ("addq #8, q1", "1:10: expected a register for `d`, found `q1` (the registers of `r` are `r0` to `r7`)"),
        ("shf #3", "1:1: `shf` needs a value of `dir` after a dot (write one of `.shl`, `.shr`)"),
        ("shf.shx #3", "1:5: expected a name for `dir`, found `shx` (did you mean `shl`?)"),
        ("shf.left #3", "1:5: expected a name for `dir`, found `left` (write one of `shl`, `shr`)"),
        ("mul r1", "1:1: `mul` exists only since v2"),
        ("j.le 5", "1:3: `le` exists only since v2"),
        ("j.q 5", "1:3: expected a name for `cond`, found `q` (write one of `always`, `z`, `nz`)"),
        ("jmp 5", "1:1: no instruction is called `jmp`"),
        ("jj 5", "1:1: no instruction is called `jj` (did you mean `j`?)"),
        ("addi #128", "1:7: `128` is out of range for `imm`: -128 to 127 is allowed"),
        ("addi r1", "1:6: expected `#`, found `r1`"),
        ("addi #x", "1:7: expected a number for `imm`, found `x`"),
        ("addi", "1:5: `#` is missing"),
        ("swap r1, r1", "1:1: `swap` requires `d != a`"),
        // The name of its entry is for the specification alone.
        ("lea r1, r1", "1:1: `lea` requires `d != a`"),
        ("swap r1, r9", "1:10: there is no register `r9`: `r` has 8"),
        ("swap r1, x1", "1:10: expected a register for `a`, found `x1` (the registers of `r` are `r0` to `r7`)"),
        ("pair r1, r3", "1:1: `b` must be `r2` here"),
        ("mov r1, x", "1:9: expected an operand for `s`, found `x` (it is one of: reg, imm)"),
        ("mov r1, #9", "1:10: `9` is out of range for `v`: 0 to 7 is allowed"),
        ("nop r1", "1:5: unexpected `r1` after the end of the instruction"),
        (
            ".word 0x1234",
            "1:1: `.word` is for sets whose instructions are words (write its bytes in memory order: `.byte 0x34, 0x12`)",
        ),
        ("j nowhere", "1:3: there is no label `nowhere`"),
    ] {
        assert_eq!(told(engine, text), expected, "{text}");
    }
    assert_eq!(assembled(later, "mul r1"), Ok("a1".to_owned()));
    assert_eq!(assembled(later, "j.le 5"), Ok("9305".to_owned()));
    assert_eq!(assembled(engine, "pair r1, r2"), Ok("a801".to_owned()));
    assert_eq!(assemble(engine, "loop: j.nz loop"), Ok(vec![0x92, 0xfe]));
}
