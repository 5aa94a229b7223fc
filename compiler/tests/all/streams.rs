//! Streams: words of any width and of mixed lengths, computed values, conditions, aliases, generations.

use std::path::{Path, PathBuf};

use isaforge_compiler::load::{Refusal, load};
use isaforge_compiler::{Settings, check_spec, compile};
use isaforge_core::Tables;
use isaforge_core::print::Style;
use isaforge_core::stream::listing::{disassemble, disassemble_as, parts};
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{DecodeError, Engine, registers, target};
use isaforge_core::text::Line;

use crate::support::{self, assembled, open};

/// The engine of a specification given as text.
fn of_text(name: &str, text: &str, generation: u32) -> Result<Engine, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.yaml"));
    std::fs::write(&path, text).expect("the file can be written");
    open(&path, generation)
}

fn fixture(name: &str) -> Engine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs").join(name);
    open(&path, 0).unwrap_or_else(|why| panic!("{why}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    support::bytes(&hex.split_whitespace().collect::<String>())
}

fn text(engine: Engine, hex: &str) -> Result<String, DecodeError> {
    let bytes = bytes(hex);
    let decoded = engine.decode(&bytes)?;
    assert_eq!(usize::from(decoded.len), bytes.len(), "{hex} is one instruction");
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    Ok(line.as_str().to_owned())
}

/// Checks that each of the bytes prints as the text, and that the text assembles to the bytes.
fn both_ways(engine: Engine, rows: &[(&str, &str)]) {
    for (bytes, expected) in rows {
        assert_eq!(text(engine, bytes).as_deref(), Ok(*expected), "{bytes}");
        assert_eq!(assembled(engine, expected), Ok(bytes.replace(' ', "")), "{expected}");
    }
}

#[test]
fn risc_v_of_two_lengths_reads_both_ways() {
    let engine = fixture("rv32imc.yaml");
    both_ways(
        engine,
        &[
            ("33 05 b5 00", "add a0, a0, a1"),
            ("33 05 b5 40", "sub a0, a0, a1"),
            ("13 05 b5 ff", "addi a0, a0, -5"),
            ("13 00 00 00", "nop"),
            ("13 05 a0 00", "li a0, 10"),
            ("13 85 05 00", "mv a0, a1"),
            ("13 c5 f5 ff", "not a0, a1"),
            ("67 80 00 00", "ret"),
            ("03 25 81 00", "lw a0, 8(sp)"),
            ("23 2c a1 fe", "sw a0, -8(sp)"),
            ("37 55 34 12", "lui a0, 0x12345"),
            ("e3 0c 05 fe", "beq a0, zero, -8"),
            ("ef 00 c0 00", "jal 12"),
            ("6f f0 9f ff", "j -8"),
            ("73 15 00 30", "csrrw a0, mstatus, zero"),
            ("73 15 30 30", "csrrw a0, 771, zero"),
            ("05 05", "c.addi a0, 1"),
            ("79 71", "c.addi16sp sp, -48"),
            ("7d 75", "c.lui a0, 0xfffff"),
            ("08 45", "c.lw a0, 8(a0)"),
            ("f5 bf", "c.j -4"),
            ("75 dd", "c.beqz a0, -4"),
            ("2e 85", "c.mv a0, a1"),
            ("82 80", "c.jr ra"),
            ("82 90", "c.jalr ra"),
            ("02 90", "c.ebreak"),
            ("2e 95", "c.add a0, a1"),
        ],
    );
    assert_eq!(text(engine, "00 00"), Err(DecodeError::Unknown));
    assert_eq!(text(engine, "01 65"), Err(DecodeError::Unknown), "c.lui of zero is reserved");
    assert_eq!(engine.decode(&[0x33, 0x05]), Err(DecodeError::Short { needed: 4, have: 2 }));
    assert_eq!(assembled(engine, "addi fp, fp, 0x10"), Ok("13040401".to_owned()), "other names and bases are read");
    assert!(assembled(engine, "addi a0, a0, 2048").is_err(), "12 bits hold no more");
    assert!(assembled(engine, "c.mv zero, a1").is_err());
    assert!(assembled(engine, "beq a0, a1, 3").is_err(), "an odd distance has no bits");
}

#[test]
fn a_label_out_of_the_range_of_its_field_is_refused() {
    let engine = of_text(
        "far",
        "isa: far\nword: [16, 32]\nprovenance: document\ninstructions:\n  nop: { doc: Nothing., word: 16, fixed: { 15..0: 0 } }\n  \
         b: { doc: Near., word: 16, fixed: { 15..12: 1 }, operands: { to: { immediate: signed, bits: 11..0, prefix: '', \
         target: { from: this, unit: 2 } } } }\n  \
         fwd: { doc: Forward., word: 16, fixed: { 15..12: 2 }, operands: { to: { immediate: decimal, bits: 11..0, \
         prefix: '', target: { from: this, unit: 2 } } } }\n",
        0,
    )
    .unwrap_or_else(|why| panic!("{why}"));
    let far = |nops: usize| assemble(engine, &format!("b y\n{}y: nop\n", "nop\n".repeat(nops)));
    assert_eq!(far(2046).map(|bytes| bytes[..2].to_vec()), Ok(vec![0xff, 0x17]));
    let errors = far(2047).expect_err("2048 is too far");
    assert_eq!((errors[0].line, errors[0].message.as_str()), (1, "`y` is out of the range of `to`"));
    let errors = assemble(engine, "y: nop\nfwd y\n").expect_err("it is behind");
    assert_eq!((errors[0].line, errors[0].message.as_str()), (2, "`y` is out of the range of `to`"));
}

#[test]
fn labels_are_right_in_a_stream_of_two_lengths() {
    let engine = fixture("rv32imc.yaml");
    let program = "start:\n c.addi a0, -1\nloop: beq a0, zero, start\n c.j loop\n jal ra, end\n c.nop\nend: ret\n";
    let made = assemble(engine, program).unwrap_or_else(|e| panic!("{e:?}"));
    let mut listing = String::new();
    assert_eq!(disassemble(engine, &made, &mut listing), 0);
    assert_eq!(listing, "l0:\nc.addi a0, -1\nl1:\nbeq a0, zero, l0\nc.j l1\njal l7\nc.nop\nl7:\nret\n");
    assert_eq!(assemble(engine, &listing), Ok(made));
    let errors = assemble(engine, "4: c.j 4\n").expect_err("4 is a number");
    assert_eq!(errors[0].message, "the label `4` starts with a digit");
    let errors = assemble(engine, "finish: j finsh\n").expect_err("there is no `finsh`");
    assert_eq!((errors[0].line, errors[0].column, errors[0].help.as_str()), (1, 11, "did you mean `finish`?"));
}

#[test]
fn branches_that_grow_do_not_push_others_out_of_reach() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/riscv/isa.yaml");
    let engine = open(&path, 0).unwrap_or_else(|why| panic!("{why}"));
    // Most branches are too far for their short form; their growth is more than a short jump reaches.
    let far = |n: usize| format!("{}{}far{n}:\n", format!("beqz a0, far{n}\n").repeat(800), "nop\n".repeat(100));
    let near = |n: usize| format!("near{n}: j near{n}\n");
    let program: String = (0..2).map(far).chain((0..100).map(near)).collect();
    let made = assemble(engine, &program).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(made[made.len() - 200..], [0x01, 0xa0].repeat(100), "all of them jump to themselves");
}

const VOLTA: &str = r#"
isa: volta
word: 128
provenance: document
every: { unused: zero }
banks: { r: { count: 255, prints: "R{n}" } }
enums:
  P: { bits: 3, values: [P0, P1, P2, P3, P4, P5, P6, PT] }
kinds:
  reg:
    width: 8
    alternatives:
      r: { where: "n != 255", fields: { n: { bits: 7..0, bank: r } }, text: "{n}" }
      z: { fixed: { 7..0: 255 }, text: RZ }
templates:
  guarded:
    fields:
      pred: { bits: 14..12, enum: P, default: 7 }
      not: { bits: 15 }
      stall: { bits: 108..105, number: decimal }
instructions:
  IADD3:
    like: guarded
    doc: Adds three numbers.
    fixed: { 11..0: 0x210 }
    fields: { nb: { bits: 63 }, wide: { bits: 72 } }
    operands:
      d: { kind: reg, at: 16, access: write }
      a: { kind: reg, at: 24 }
      b: { kind: reg, at: 32 }
      c: { kind: reg, at: 64 }
    syntax: "{?pred != 7 || not != 0|@{?not != 0|!}{pred} }{mnemonic}{?wide != 0|.X} {d}, {a}, {?nb != 0|-}{b}, {c};{?stall != 0| &{stall}}"
  BRA:
    like: guarded
    doc: Branches.
    fixed: { 11..0: 0x947 }
    operands: { to: { immediate: { base: 16, signed: true }, bits: [81..64, 63..34], value: bits * 16, prefix: "", target: { from: next, unit: 1 } } }
    syntax: "{?pred != 7 || not != 0|@{?not != 0|!}{pred} }{mnemonic} {to};{?stall != 0| &{stall}}"
"#;

#[test]
fn words_of_128_bits_have_text_before_the_mnemonic() {
    let engine = of_text("volta", VOLTA, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(
        engine,
        &[
            ("10720305060000000700000000000000", "IADD3 R3, R5, R6, R7;"),
            ("10020305060000000700000000000000", "@P0 IADD3 R3, R5, R6, R7;"),
            ("108203ff06000080ff01000000020000", "@!P0 IADD3.X R3, RZ, -R6, RZ; &1"),
            ("47f900000000000000000000001e0000", "@!PT BRA 0x0; &15"),
            ("47790000800000000000000000000000", "BRA 0x200;"),
        ],
    );
    let program = "top: @P0 BRA end;\n BRA top;\nend: BRA end;\n";
    let made = assemble(engine, program).unwrap_or_else(|e| panic!("{e:?}"));
    let mut listing = String::new();
    disassemble(engine, &made, &mut listing);
    assert_eq!(listing, "l0:\n@P0 BRA l2;\nBRA l0;\nl2:\nBRA l2;\n");
    assert_eq!(assemble(engine, &listing), Ok(made));
}

const GCN: &str = r#"
isa: gcn
word: [32, 64]
provenance: document
every: { unused: zero }
banks: { v: { count: 256, prints: "v{n}" }, s: { count: 106, prints: "s{n}" } }
kinds:
  src:
    width: 9
    parameters: [literal]
    alternatives:
      sgpr: { fixed: { 8..7: 0 }, where: "n < 106", fields: { n: { bits: 6..0, bank: s } }, text: "{n}" }
      positive: { fixed: { 8..7: 1 }, where: "n >= 0 && n <= 64", fields: { code: { bits: 6..0 }, n: { value: "code as i64", number: signed } }, text: "{n}" }
      negative: { fixed: { 8..7: 1 }, where: "n >= -16 && n <= -1", fields: { code: { bits: 6..0 }, n: { value: "64 - (code as i64)", number: signed } }, text: "{n}" }
      literal: { fixed: { 8..0: 255 }, fields: { value: { value: literal, number: { base: 16 } } }, text: "{value}" }
      vgpr: { fixed: { 8: 1 }, fields: { n: { bits: 7..0, bank: v } }, text: "{n}" }
templates:
  vop1:
    length: "if src0 == 255 { 8 } else { 4 }"
    fields: { literal: { bits: 63..32, number: hex } }
    operands: { vdst: { bank: v, bits: 24..17, access: write }, src0: { kind: src, at: 0 } }
instructions:
  v_mov_b32_e32: { doc: Moves., like: vop1, fixed: { 31..25: 0x3f, 16..9: 1 } }
  v_not_b32_e32: { doc: Inverts., like: vop1, fixed: { 31..25: 0x3f, 16..9: 0x37 } }
  v_fma_f32:
    doc: Multiplies and adds.
    fixed: { 31..16: 0xd54b, 15..8: 0 }
    fields: { neg: { bits: 63 } }
    operands: { vdst: { bank: v, bits: 7..0, access: write }, a: { bank: v, bits: 39..32 }, b: { bank: v, bits: 47..40 } }
    where: "generation >= 10"
  s_endpgm: { doc: Ends., word: 32, fixed: { 31..0: 0xbf810000 } }
"#;

#[test]
fn a_literal_follows_when_an_operand_says_so() {
    let engine =
        of_text("gcn", &GCN.replace("    where: \"generation >= 10\"\n", ""), 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(
        engine,
        &[
            ("0503 047e", "v_mov_b32_e32 v2, v5"),
            ("0402 047e", "v_mov_b32_e32 v2, s4"),
            ("8102 047e", "v_mov_b32_e32 v2, 1"),
            ("c102 047e", "v_mov_b32_e32 v2, -1"),
            ("ff02 047e 78563412", "v_mov_b32_e32 v2, 0x12345678"),
            ("0000 81bf", "s_endpgm"),
        ],
    );
    // Bytes after an instruction do not affect it.
    let decoded = engine.decode(&bytes("0503047e ffffffff")).expect("a move");
    assert_eq!((decoded.len, decoded.word.get(32, 32)), (4, 0));
    assert_eq!(engine.decode(&bytes("ff02047e 7856")), Err(DecodeError::Short { needed: 8, have: 6 }));
}

const G13: &str = r#"
isa: g13
word: [16, 32, 48]
provenance: document
every: { unused: zero }
banks: { r: { count: 64, prints: "r{n}" } }
instructions:
  stop: { doc: Stops., word: 16, fixed: { 15..0: 0x0088 } }
  mov_imm:
    doc: Moves a number.
    word: 48
    length: "if long != 0 { 6 } else { 4 }"
    fixed: { 6..0: 0x62 }
    fields: { long: { bits: 15 } }
    operands:
      d: { bank: r, bits: 14..9, access: write }
      imm: { immediate: { base: 16 }, bits: [47..32, 31..16], prefix: "" }
    where: "(imm > 0xffff) == (long != 0)"
  rpt:
    doc: Repeats.
    word: 16
    fixed: { 7..0: 0x11 }
    fields: { n: { bits: 9..8 }, count: { value: n + 1, number: decimal }, sy: { bits: 10 } }
    syntax: "{?sy != 0|(sy)}{?count != 1|(rpt{count})}add"
"#;

#[test]
fn the_length_follows_from_a_value() {
    let engine = of_text("g13", G13, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(
        engine,
        &[
            ("8800", "stop"),
            ("62 06 34 12", "mov_imm r3, 0x1234"),
            ("62 86 34 12 01 00", "mov_imm r3, 0x11234"),
            ("1100", "add"),
            ("1101", "(rpt2)add"),
            ("1107", "(sy)(rpt4)add"),
        ],
    );
    // A long form of a value that fits the short form would read back as other bytes.
    assert_eq!(text(engine, "62 86 34 12 00 00"), Err(DecodeError::Unknown));
}

#[test]
fn generations_decide_what_there_is() {
    let spec = "isa: gens\nword: 8\ngenerations: [5, 7]\nprovenance: document\ninstructions:\n  \
                old: { doc: Old., until: 5, fixed: { 7..0: 1 } }\n  new: { doc: New., since: 6, fixed: { 7..0: 1 } }\n  \
                late: { doc: Late., where: generation >= 7, fixed: { 7..0: 2 } }\n";
    for (generation, one, two) in [(5, "old", None), (6, "new", None), (7, "new", Some("late"))] {
        let engine = of_text("gens", spec, generation).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(text(engine, "01").as_deref(), Ok(one));
        assert_eq!(text(engine, "02").ok().as_deref(), two);
        assert_eq!(assembled(engine, "old").is_ok(), generation == 5);
    }
    let clash = spec.replace("since: 6", "since: 5");
    assert!(of_text("clash", &clash, 5).expect_err("both are there in 5").contains("match the same word"));
}

#[test]
fn mistakes_are_told() {
    let base = "isa: wrong\nword: 24\nprovenance: document\n";
    let wrong = |name: &str, rest: &str, code: &str| {
        let told = of_text(name, &format!("{base}{rest}"), 0).expect_err(name);
        assert!(told.contains(code), "{name}: {told}");
    };
    wrong("unsaid", "instructions: { a: { doc: A., fixed: { 23..8: 1 } } }", "E0105");
    wrong("outside", "instructions: { a: { doc: A., fixed: { 31..0: 1 } } }", "E0104");
    wrong("twice", "instructions: { a: { doc: A., fixed: { 23..0: 1 }, fields: { f: { bits: 3 } } } }", "E0107");
    wrong(
        "same",
        "instructions: { a: { doc: A., fixed: { 23..1: 1 }, fields: { f: { bits: 0 } } }, b: { doc: B., fixed: { 23..1: 1 }, fields: { f: { bits: 0 } } } }",
        "E0106",
    );
    wrong(
        "circle",
        "instructions: { a: { doc: A., fixed: { 23..0: 1 }, fields: { f: { value: g }, g: { value: f } } } }",
        "E0131",
    );
    wrong(
        "nested",
        "kinds: { k: { width: 4, alternatives: { a: { fields: { x: { bits: 3..0, kind: k } }, text: '-{x}' } } } }\n\
         instructions: { a: { doc: A., fixed: { 23..4: 1 }, operands: { f: { kind: k, at: 0 } } } }",
        "E0131",
    );
    wrong(
        "half",
        "instructions: { a: { doc: A., fixed: { 23..20: 1 }, fields: { x: { bits: 19..10 }, y: { bits: 9..0 }, \
         z: { number: decimal, value: 'x * 1024 + y', encode: { x: 'value >> 10' } } }, syntax: 'a {z}' } }",
        "E0132",
    );
    wrong("swapped", "swap: 2\ninstructions: { a: { doc: A., fixed: { 23..0: 1 } } }", "E0033");
    wrong(
        "lost",
        "instructions: { a: { doc: A., fixed: { 23..20: 1 }, operands: { f: { immediate: decimal, bits: 19..0, value: bits * bits * 3 + (bits >> 3) } } } }",
        "E0132",
    );
    wrong(
        "silent",
        "every: { unused: zero }\ninstructions: { a: { doc: A., fixed: { 23..20: 1 }, fields: { f: { bits: 3..0 }, g: { bits: 7..4 } }, syntax: '{mnemonic} {f}{g}' } }",
        "E0133",
    );
    let modifier = |keys: &str| {
        format!(
            "enums: {{ E: {{ values: [x, y] }} }}\ninstructions: {{ a: {{ doc: A., fixed: {{ 23..1: 1 }}, modifiers: {{ m: {{ bits: 0, {keys} }} }} }} }}"
        )
    };
    wrong("implied", &modifier("implied: true"), "E0045");
    wrong("words", &modifier("enum: E, prints: z"), "E0045");
    let kind = "banks: { r: { count: 8, prints: 'r{n}' } }\nkinds: { k: { width: 3, alternatives: { a: { fields: { n: { bits: 2..0, bank: r } }, text: 'r{n}' } } } }\ninstructions: { a: { doc: A., fixed: { 23..3: 1 }, operands: { k: { kind: k, at: 0 } } } }";
    wrong("named twice", kind, "`r{n}` writes `r` twice");
    assert!(of_text("named", &format!("{base}{}", kind.replace("text: 'r{n}'", "text: '{n}'")), 0).is_ok());
    wrong("type", "instructions: { a: { doc: A., fixed: { 23..0: 1 }, where: '1 + 1' } }", "E0122");
    wrong("template", "instructions: { a: { like: b, fixed: { 23..0: 1 } } }", "E0101");
}

#[test]
fn excluded_values_tell_two_forms_apart() {
    let spec = "isa: apart\nword: 24\nprovenance: document\ninstructions:\n  \
                zero: { doc: Z., fixed: { 23..4: 1 }, fields: { f: { bits: 3..0, number: decimal } }, where: f < 8, syntax: 'zero {f}' }\n  \
                one: { doc: O., fixed: { 23..4: 1 }, fields: { f: { bits: 3..0, number: decimal } }, where: f >= 8, syntax: 'one {f}' }\n";
    let engine = of_text("apart", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("130000", "zero 3"), ("190000", "one 9")]);
    assert!(of_text("near", &spec.replace("f < 8", "f <= 8"), 0).expect_err("8 is both").contains("E0106"));
    // An instruction without conditions has the words that the other one leaves.
    let engine = of_text("rest", &spec.replace(", where: f >= 8", ""), 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("130000", "zero 3"), ("190000", "one 9")]);
    assert!(assembled(engine, "one 3").is_err(), "this word is `zero 3`");
}

/// Two instructions of 40 bits with the same constant bits, distinguished by conditions on two fields of 16 bits.
fn told_apart(name: &str, one: &str, other: &str) -> Result<Engine, String> {
    let instruction = |mnemonic: &str, condition: &str| {
        format!(
            "  {mnemonic}: {{ doc: M., fixed: {{ 39..32: 1 }}, fields: {{ x: {{ bits: 31..16 }}, y: {{ bits: 15..0 }} }}, \
             where: '{condition}', syntax: '{mnemonic} {{x}}, {{y}}' }}\n"
        )
    };
    let spec = "isa: apart\nword: 40\nprovenance: document\ninstructions:\n".to_owned();
    of_text(name, &(spec + &instruction("one", one) + &instruction("other", other)), 0)
}

#[test]
fn conditions_over_many_bits_are_proved_to_exclude_each_other() {
    let apart = [
        ("x < 10", "x > 9 && y != 3"),
        ("(x ^ y) == 0xa5a5", "(x ^ y) == 0xa5a4"),
        ("x == y + 77", "x == y + 78"),
        ("x >> 3 == 5", "x & 0xf == 7"),
        ("x == y", "x > y"),
        ("x * 3 == y", "x * 3 == y + 1"),
        ("x / 7 == y", "x / 7 == y + 1"),
        ("popcount(x ^ y) == 2", "popcount(x ^ y) == 3"),
        ("clz(x) == y", "clz(x) == y + 1"),
        ("min(x, y) == 12345", "max(x, y) < 12345"),
    ];
    for (number, (one, other)) in apart.into_iter().enumerate() {
        told_apart(&format!("apart-{number}"), one, other).unwrap_or_else(|why| panic!("{one} | {other}: {why}"));
    }
}

#[test]
fn the_one_word_in_millions_that_is_both_is_found() {
    let both = [
        ("x > 7", "x == 0xabcd && y == 0x1234", "0x1abcd1234"),
        ("(x ^ y) == 0xa5a5", "x == 0x1234 && y < 0xb792", "0x11234b791"),
        ("x == y + 77", "x + y == 1077", "0x1024101f4"),
    ];
    for (number, (one, other, word)) in both.into_iter().enumerate() {
        let told = told_apart(&format!("both-{number}"), one, other).expect_err(one);
        assert!(
            told.contains("E0106") && told.contains(&format!("for example {word} is both")),
            "{one} | {other}: {told}"
        );
    }
}

#[test]
fn what_cannot_be_decided_is_refused_at_once() {
    let start = std::time::Instant::now();
    let hard = "((x * y) % 60013) * ((x + 3) * (y + 5) % 59999) % 65521";
    let told = told_apart("hard", &format!("{hard} == 17"), &format!("{hard} == 18")).expect_err(hard);
    assert!(told.contains("E0134") && told.contains("6 |   other"), "{told}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// The warnings about an otherwise valid specification of 40-bit words, each with its code and message.
fn warnings(name: &str, rest: &str) -> Vec<String> {
    warnings_of(name, &format!("isa: warned\nword: 40\nprovenance: document\n{rest}"))
}

fn warnings_of(name: &str, text: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.yaml"));
    std::fs::write(&path, text).expect("it can be written");
    let checked = check_spec(&Settings::new(&path)).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    checked.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
}

#[test]
fn two_words_with_one_text_are_named() {
    let one = |keys: &str| format!("instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n");
    let two = |keys: &str, other: &str| {
        format!(
            "instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }}, b: {{ doc: B., fixed: {{ 39..32: 2 }}, {other} }} }}\n"
        )
    };
    let d = "fields: { d: { number: decimal, bits: 31..0 } }";
    let shared = [
        ("hidden", one("fields: { d: { number: decimal, bits: 31..16 }, e: { bits: 15..0 } }, syntax: 'a {d}'")),
        ("halved", one("ignored: 31..12, operands: { d: { immediate: decimal, bits: 11..0, value: bits / 2 } }")),
        ("masked", one("operands: { d: { immediate: decimal, bits: 31..0, value: bits & 0xffffff } }")),
        (
            "sometimes",
            one(
                "fields: { m: { number: decimal, bits: 31..16 }, d: { number: decimal, bits: 15..0 } }, syntax: 'a {m}{?m != 0x1234|, {d}}'",
            ),
        ),
        (
            "alias",
            one(&format!(
                "{d}, syntax: 'a {{d}}', aliases: {{ inc: {{ where: d < 100, syntax: 'inc', prints: true }} }}"
            )),
        ),
        ("twins", two(&format!("{d}, syntax: 'go {{d}}'"), &format!("{d}, syntax: 'go {{d}}'"))),
        (
            "named",
            two(
                "operands: { d: { immediate: decimal, bits: 31..0 } }, aliases: { nop: { with: { d: 0 }, prints: true } }",
                &format!("{d}, where: d == 7, syntax: nop"),
            ),
        ),
    ];
    for (name, spec) in shared {
        let found = warnings(name, &spec);
        assert!(found.iter().any(|found| found.starts_with("W0213")), "{name}: {found:?}");
    }
    let fine = [
        ("shown", one(&format!("{d}, syntax: 'a {{d}}'"))),
        ("ignored", one("ignored: 15..0, fields: { d: { number: decimal, bits: 31..16 } }, syntax: 'a {d}'")),
        ("chosen", one("operands: { d: { immediate: decimal, bits: 31..0, value: bits & 0xffffff, encode: value } }")),
    ];
    for (name, spec) in fine {
        assert_eq!(warnings(name, &spec), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_bar_may_be_the_text_of_a_condition() {
    let spec = "isa: bars\nprovenance: document\nword: 24\nbanks: { r: { doc: R., count: 16, prints: 'r{n}' } }\n\
                instructions: { a: { doc: A., fixed: { 23..8: 1 }, ignored: 7..6, fields: { abs: { bits: 5 }, neg: { bits: 4 } }, \
                operands: { x: { bank: r, bits: 3..0 } }, \
                syntax: 'a {?neg != 0 || abs != 0|{?neg != 0|-}}{?abs != 0||}{x}{?abs != 0|| }' } }\n";
    let engine = of_text("bars", spec, 0).unwrap_or_else(|told| panic!("{told}"));
    for (bits, text) in [(5, "a r5"), (0x15, "a -r5"), (0x25, "a |r5|"), (0x35, "a -|r5|")] {
        let decoded = engine.decode(&[bits, 1, 0]).expect("it is an instruction");
        let mut line = Line::new();
        engine.print(&decoded, &mut line);
        assert_eq!(line.as_str().trim_end(), text);
        assert_eq!(engine.parse(text).expect(text).decoded, decoded);
    }
}

/// A branch target may be part of an operand that has other readings.
#[test]
fn a_kind_may_be_a_branch_target() {
    let spec = "isa: kinds\nprovenance: document\nword: 16\nbanks: { r: { doc: R., count: 16, prints: 'r{n}' } }\n\
                kinds: { place: { width: 8, alternatives: { \
                there: { fixed: { 7: 0 }, fields: { to: { bits: 6..0, number: signed, target: { from: next, unit: 2 } } }, text: '{to}' }, \
                held: { fixed: { 7..4: 8 }, fields: { n: { bits: 3..0, bank: r } }, text: '[{n}]' } } } }\n\
                instructions: { go: { doc: G., fixed: { 15..8: 1 }, operands: { p: { kind: place, at: 0 } }, syntax: 'go {p}' } }\n";
    let engine = of_text("kinds", spec, 0).unwrap_or_else(|told| panic!("{told}"));
    let text = "l0:\ngo [r3]\ngo l0\ngo 5\n";
    let code = assemble(engine, text).expect("it is assembly");
    assert_eq!(code, [0x83, 1, 0x7e, 1, 5, 1]);
    let mut back = String::new();
    assert_eq!(disassemble(engine, &code, &mut back), 0);
    assert_eq!(back, text);
    let targets: Vec<Option<u64>> =
        parts(engine, &code).map(|part| target(engine, &part.decoded.expect("it decodes"), part.at as u64)).collect();
    assert_eq!(targets, [None, Some(0), Some(16)]);
}

/// Generations, values of enums and registers may be given by name wherever numbers are allowed.
#[test]
fn names_stand_for_numbers() {
    let spec = |since: &str, with: &str| {
        format!(
            "isa: named\nprovenance: document\nword: 24\ngenerations: {{ v7: 70, v5: 50, v6: 60 }}\n\
             banks: {{ r: {{ doc: R., count: 16, prints: 'r{{n}}', names: [zero] }} }}\n\
             enums: {{ Cond: {{ doc: C., values: [eq, ne] }} }}\n\
             instructions:\n  j: {{ doc: J., fixed: {{ 23..8: 1 }}, since: {since}, ignored: 7..5, \
             fields: {{ c: {{ bits: 4, enum: Cond }} }}, operands: {{ a: {{ bank: r, bits: 3..0 }} }}, syntax: 'j.{{c}} {{a}}', \
             aliases: {{ jz: {{ with: {with}, prints: true, syntax: jz }} }} }}\n"
        )
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join("named.yaml");
    let load_in = |text: &str, generation: &str| {
        std::fs::write(&path, text).expect("it can be written");
        let settings = Settings { generation: Some(generation.to_owned()), ..Settings::new(&path) };
        load(&settings).map_err(|refusal| match refusal {
            Refusal::Mistakes(failure) => failure.to_string(),
            Refusal::Generation { message, help } => format!("{message}; {help}"),
        })
    };
    let by_number = spec("60", "{ c: 1, a: 0 }");
    for text in [spec("v6", "{ c: ne, a: zero }"), spec("v6", "{ c: ne, a: r0 }"), by_number] {
        for generation in ["v6", "70"] {
            let loaded = load_in(&text, generation).unwrap_or_else(|told| panic!("{told}"));
            let Tables::Streams(engine) = loaded.tables else { panic!("it is a stream") };
            let mut line = Line::new();
            engine.print(&engine.decode(&[0x10, 1, 0]).expect("it is an instruction"), &mut line);
            assert_eq!(line.as_str(), "jz", "{text}");
        }
        let Tables::Streams(engine) = load_in(&text, "v5").expect("it is right").tables else {
            panic!("it is a stream")
        };
        assert!(engine.decode(&[0x10, 1, 0]).is_err());
    }
    let mistakes = [
        (spec("v8", "{ c: 1 }"), "there is no generation called `v8`"),
        (spec("v6", "{ c: lt }"), "there is no value called `lt`"),
        (spec("v6", "{ a: r16 }"), "there is no register `r16` in `r`"),
        (spec("v6", "{ c: 1 }").replace("v7: 70", "v7: 50"), "are the same generation"),
    ];
    for (text, message) in mistakes {
        let told = load_in(&text, "v6").map(drop).expect_err(message);
        assert!(told.contains(message), "{told}");
    }
    let none = "has no generation 51";
    let told = load_in(&spec("v6", "{ c: 1 }"), "51").map(drop).expect_err(none);
    assert!(told.ends_with("has no generation 51; its generations are `v5`, `v6` or `v7`"), "{told}");
    // A crate of one generation accepts the same names and numbers.
    let compiled = |generation: &str| {
        compile(&Settings { generation: Some(generation.to_owned()), ..Settings::new(&path) })
            .map(|compiled| compiled.checked.isa.stream().map(|stream| stream.generations))
            .map_err(|failure| failure.to_string())
    };
    assert_eq!((compiled("v7"), compiled("70")), (Ok(Some((70, 70))), Ok(Some((70, 70)))));
    assert!(compiled("51").is_err_and(|told| told.contains(none)));
}

#[test]
fn what_says_nothing_is_refused() {
    let check = |name: &str, text: &str| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let path = folder.join(format!("{name}.yaml"));
        std::fs::write(&path, text).expect("it can be written");
        check_spec(&Settings::new(&path)).map(drop).map_err(|failure| failure.to_string())
    };
    let one = |head: &str, keys: &str| {
        format!(
            "isa: idle\nprovenance: document\n{head}\ninstructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n"
        )
    };
    let x = "fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {x}'";
    assert_eq!(check("said", &one("word: 40", x)), Ok(()));
    let cases = [
        ("lifetime", one("word: 40", &format!("{x}, since: 3")), "the set has no generations"),
        ("lengths", one("word: [40, 40]", x), "the length 40 is given twice"),
        (
            "way-back",
            one("word: 40", "fields: { x: { number: decimal, bits: 31..0, encode: value } }, syntax: 'a {x}'"),
            "`encode` inverts a `value`",
        ),
        (
            "float",
            one("word: 40", "fields: { x: { number: { float: 16 }, bits: 31..0 } }, syntax: 'a {x}'"),
            "a float of 16 bits, but `x` has 32",
        ),
    ];
    for (name, text, message) in cases {
        let told = check(name, &text).expect_err(name);
        assert!(told.contains(message), "{name}: {told}");
    }
}

#[test]
fn what_never_is_is_named() {
    let one = |keys: &str| format!("instructions: {{ a: {{ doc: A., fixed: {{ 39..32: 1 }}, {keys} }} }}\n");
    let x = "fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {x}'";
    let dead = [
        ("dead-word", one(&format!("{x}, where: x < 1 && x > 1")), "no word is `a`"),
        (
            "dead-reading",
            "kinds: { k: { width: 32, parameters: [P], alternatives: { \
             p: { where: 'P == 0', fields: { n: { bits: 31..0, number: decimal } }, text: '+{n}' }, \
             q: { where: 'P == 0 && n > 5', fields: { n: { bits: 31..0, number: decimal } }, text: '-{n}' }, \
             r: { where: 'P != 0', fields: { n: { bits: 31..0, number: decimal } }, text: '*{n}' } } } }\n\
             instructions: { a: { doc: A., fixed: { 39..33: 1 }, fields: { p: { bits: 32 } }, operands: { o: { kind: k, at: 0, with: { P: p } } } } }\n"
                .to_owned(),
            "no `k` is read as `q`",
        ),
        (
            "dead-generation",
            format!(
                "generations: [1, 9]\n{}",
                one(&format!("{x}, where: generation == 77"))
            ),
            "no word is `a`",
        ),
        ("dead-length", one(&format!("{x}, length: '3 + (x & 1)'")), "no word is `a`"),
    ];
    for (name, spec, message) in dead {
        let found = warnings(name, &spec);
        assert!(found.iter().any(|found| found.starts_with("W0212") && found.contains(message)), "{name}: {found:?}");
    }
    let idle = format!("templates: {{ t: {{ doc: T. }}, u: {{ like: t }} }}\n{}", one(x));
    let found = warnings("idle", &idle);
    assert!(found.iter().filter(|found| found.starts_with("W0202: the template `")).count() == 2, "{found:?}");
    let told = "word: [32, 64]\nkinds: { k: { width: 8, alternatives: { \
                s: { where: 'length == 4', fields: { n: { bits: 7..0, number: decimal } }, text: '+{n}' }, \
                l: { where: 'length == 8', fields: { n: { bits: 7..0, number: decimal } }, text: '-{n}' } } } }\n\
                instructions: { a: { doc: A., word: 32, fixed: { 31..8: 1 }, operands: { o: { kind: k, at: 0 } } }, \
                b: { doc: B., word: 64, fixed: { 63..8: 2 }, operands: { o: { kind: k, at: 0 } } } }\n";
    assert_eq!(warnings_of("told", &format!("isa: warned\nprovenance: document\n{told}")), Vec::<String>::new());
    let turned = format!("generations: [1, 9]\n{}", one(&format!("{x}, since: 3, until: 2")));
    assert!(warnings("turned", &turned).iter().any(|found| found.starts_with("W0212")), "since comes after until");
    let alive = format!("generations: [1, 9]\n{}", one(&format!("{x}, where: generation == 7")));
    let both = |more: &str| {
        format!(
            "instructions: {{ zero: {{ doc: Z., fixed: {{ 39..1: 1, 0: 0 }} }}, {more}any: {{ doc: A., fixed: {{ 39..1: 1 }}, fields: {{ x: {{ bits: 0 }} }}, syntax: 'any {{x}}' }} }}\n"
        )
    };
    assert_eq!(warnings("half", &both("")), Vec::<String>::new());
    let found = warnings("all", &both("one: { doc: O., fixed: { 39..1: 1, 0: 1 } }, "));
    assert!(found.len() == 1 && found[0].contains("no word is `any`"), "{found:?}");
    assert_eq!(warnings("alive", &alive), Vec::<String>::new());
}

#[test]
fn the_one_case_in_millions_that_a_text_does_not_print_is_found() {
    let spec = "isa: rare\nword: 40\nprovenance: document\ninstructions: { a: { doc: A., fixed: { 39..32: 1 }, \
                fields: { x: { number: decimal, bits: 31..0 } }, syntax: 'a {?x != 0x1234567|{x}}' } }\n";
    let told = of_text("rare", spec, 0).expect_err("`a` alone reads as the default");
    assert!(told.contains("E0133"), "{told}");
}

#[test]
fn a_way_back_may_be_given() {
    let spec = "isa: masks\nword: 24\nprovenance: document\ninstructions:\n  \
                m: { doc: M., fixed: { 23..5: 1 }, operands: { mask: { immediate: { base: 16 }, bits: 4..0, value: '2 << bits', \
                encode: '62 - clz(value)', prefix: '' } } }\n";
    let engine = of_text("masks", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("230000", "m 0x10"), ("3f0000", "m 0x100000000")]);
    assert!(assembled(engine, "m 0x11").is_err());
}

const HALVES: &str = r#"
isa: halves
word: [32]
provenance: document
kinds:
  source:
    width: 8
    parameters: [FULL]
    alternatives:
      half: { where: FULL == 0, fields: { n: { bits: 7..0, number: decimal } }, text: "hr{n}" }
      full: { where: FULL != 0, fields: { n: { bits: 7..0, number: decimal } }, text: "r{n}" }
instructions:
  mov:
    doc: Moves.
    fixed: { 31..17: 1 }
    fields: { full: { bits: 16 } }
    operands:
      dst: { kind: source, at: 8, with: { FULL: full }, access: write }
      src: { kind: source, at: 0, with: { FULL: full } }
"#;

#[test]
fn what_is_read_of_an_operand_flows_back_to_its_parameters() {
    let engine = of_text("halves", HALVES, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("05030200", "mov hr3, hr5"), ("05030300", "mov r3, r5")]);
    assert!(assembled(engine, "mov r3, hr5").is_err(), "one flag cannot be both");
}

#[test]
fn ranges_and_groups_of_bytes_in_the_other_order() {
    let spec = "isa: ranges\nword: [32]\nswap: 4\nprovenance: document\nevery: { unused: zero }\ninstructions:\n  \
                load: { doc: L., fixed: { 31..16: 7 }, fields: { first: { bits: 7..0 }, last: { value: first + 3 } }, syntax: \"load v[{first}:{last}]\" }\n";
    let engine = of_text("ranges", spec, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("00 07 00 04", "load v[4:7]")]);
    assert!(assembled(engine, "load v[4:8]").is_err(), "a range of four");
}

#[test]
fn the_risc_v_example_reads_and_writes_as_binutils_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine = open(&folder.join("../examples/riscv/isa.yaml"), 0).unwrap_or_else(|why| panic!("{why}"));
    let rows = include_str!("../data/riscv-binutils.tsv").lines().filter(|row| !row.starts_with('#'));
    let plain = |text: &str| text.replace(", ", ",");
    for row in rows {
        let (bits, expected) = row.split_once('\t').expect("two columns");
        let printed = text(engine, bits).unwrap_or_else(|why| panic!("{bits}: {why}"));
        assert_eq!(plain(&printed), expected, "{bits}");
        // Among words with the same text, the assembler chooses the shortest.
        let again = assembled(engine, expected).unwrap_or_else(|why| panic!("{expected}: {why}"));
        assert_eq!(plain(&text(engine, &again).unwrap_or_default()), expected, "{again}");
        assert!(again.len() <= bits.len(), "{expected}: {again} and {bits}");
    }
    both_ways(
        engine,
        &[("0505", "add a0, a0, 1"), ("2e85", "mv a0, a1"), ("8280", "ret"), ("1385 1500", "add a0, a1, 1")],
    );
}

const SPECIAL: &str = r#"
isa: special
word: 8
provenance: document
enums:
  Colour: { bits: 2, values: [red, green, blue, none] }
  Dye: { bits: 2, values: [red, green, blue, ~] }
kinds:
  colour: { width: 2, alternatives: { c: { fields: { c: { bits: 1..0, enum: Colour } }, text: "{c}" } } }
  dye: { width: 2, alternatives: { c: { fields: { c: { bits: 1..0, enum: Dye } }, text: "{c}" } } }
instructions:
  dye: { doc: Dyes., fixed: { 7..4: 1 }, operands: { cloth: { kind: colour, at: 2, access: write }, by: { kind: dye, at: 0 } } }
  bleach: { doc: Bleaches., fixed: { 7..4: 1, 1..0: 3 }, operands: { cloth: { kind: colour, at: 2, access: write } } }
"#;

#[test]
fn one_who_means_a_special_case_is_told_how_to_say_so() {
    let told = of_text("special", SPECIAL, 0).expect_err("nothing says which one is meant");
    assert!(told.contains("E0106") && told.contains("`bleach` is a special case of `dye`"), "{told}");
    let said = SPECIAL.replace("dye: { doc: Dyes.,", "dye: { doc: Dyes., where: by != 3,");
    let engine = of_text("special-said", &said, 0).unwrap_or_else(|why| panic!("{why}"));
    both_ways(engine, &[("17", "bleach green"), ("16", "dye green, blue")]);
}

#[test]
fn bitmask_immediates_are_computed_both_ways() {
    let engine = fixture("bitmask.yaml");
    both_ways(
        engine,
        &[
            ("20 1c 40 92", "and x0, x1, #0xff"),
            ("20 f0 00 92", "and x0, x1, #0x5555555555555555"),
            ("20 cc 04 92", "and x0, x1, #0xf0f0f0f0f0f0f0f0"),
            ("20 04 41 92", "and x0, x1, #0x8000000000000001"),
            ("83 7c 40 b2", "orr x3, x4, #0xffffffff"),
        ],
    );
    assert!(assembled(engine, "and x0, x1, #0x1234").is_err_and(|why| why.contains("0x1234")));
    // All bits set is not a valid immediate, nor is a value without a size.
    for none in ["20 fc 40 92", "20 fc 00 92", "20 f8 00 92"] {
        assert!(text(engine, none).is_err(), "{none}");
    }
    let mut values = std::collections::BTreeSet::new();
    for bits in 0..1u32 << 13 {
        let word = 0x9200_0020 | bits << 10;
        let Ok(decoded) = engine.decode(&word.to_le_bytes()) else { continue };
        let scope = engine.scope(&decoded);
        let immediate = scope.layout.fields.iter().position(|field| field.name == "imm").expect("it is there");
        let value = scope.value(immediate as u8);
        values.insert(value);
        // Each pattern has a single encoding whose rotation is less than its length.
        if bits % 97 == 0 {
            let text = format!("and x0, x1, #{value:#x}");
            let parsed = engine.parse(&text).expect("it assembles").decoded;
            assert_eq!(engine.scope(&parsed).value(immediate as u8), value, "{text}");
        }
    }
    assert_eq!(values.len(), 5334);
}

/// An instruction with one computed operand.
fn computed(name: &str, fields: &str) -> Result<Engine, String> {
    let spec = format!(
        "isa: {name}\nword: 64\nprovenance: document\nevery: {{ unused: zero }}\ninstructions:\n  m: {{ doc: M., fixed: {{ 63..56: 1 }}, {fields} }}\n"
    );
    of_text(name, &spec, 0)
}

#[test]
fn wide_values_that_are_sums_of_bits_or_scaled_numbers_need_no_way_back() {
    let accepted = [
        ("scaled", "operands: { f: { immediate: signed, bits: 39..0, value: bits * -12 + 7 } }"),
        (
            "shifted",
            "fields: { a: { bits: 31..0 }, b: { bits: 47..32 } }, operands: { f: { immediate: decimal, value: '(a << 20) + (b ^ (a & 15))' } }",
        ),
        (
            "turned",
            "operands: { f: { immediate: { base: 16 }, bits: 31..0, value: 'bits << 7 & 0xffffffff | bits >> 25' } }",
        ),
        (
            "chosen",
            "fields: { s: { bits: 40 } }, operands: { f: { immediate: { base: 16 }, bits: 31..0, value: 'bits | (if s != 0 { 0x100000000 } else { 0 }) | 1 << 40' } }",
        ),
        (
            "given",
            "operands: { f: { immediate: { base: 16 }, bits: 31..0, value: bits ^ bits >> 16, encode: value ^ value >> 16 } }",
        ),
        ("negated", "operands: { f: { immediate: signed, bits: 39..0, value: 0 - bits, encode: 0 - value } }"),
        (
            "bounded",
            "where: high < 0x100, fields: { low: { bits: 31..0 }, high: { bits: 47..32 }, f: { number: decimal, value: 'low + high * 0x100000000 + 5', \
             encode: { low: 'value - 5 & 0xffffffff', high: '(value - 5) >> 32' } } }, syntax: '{mnemonic} {f}'",
        ),
    ];
    for (name, fields) in accepted {
        let engine = computed(name, fields).unwrap_or_else(|why| panic!("{name}: {why}"));
        for low in [0u64, 1, 0x1234_5678, 0xffff_ffff] {
            let mut word = [0; 32];
            word[..8].copy_from_slice(&(low | 1 << 56).to_le_bytes());
            let decoded = engine.decode(&word[..8]).expect("it is one");
            let mut line = Line::new();
            engine.print(&decoded, &mut line);
            assert_eq!(engine.parse(line.as_str()).map(|read| read.decoded), Ok(decoded), "{name}: {}", line.as_str());
        }
    }
}

#[test]
fn a_wide_value_without_a_way_back_is_refused_at_its_place() {
    // Few words show that these are wrong: only one in four billion values cannot be encoded.
    let refused = [
        (
            "product",
            "fields: { a: { bits: 19..0 }, b: { bits: 39..20 } }, operands: { f: { immediate: decimal, value: a * b } }",
        ),
        (
            "rare",
            "operands: { f: { immediate: decimal, bits: 31..0, value: 'if bits == 0x12345678 { 5000000000 } else { bits }' } }",
        ),
        (
            "carried",
            "fields: { a: { bits: 19..0 }, b: { bits: 39..20 } }, operands: { f: { immediate: decimal, value: '(a << 20) + b + 1' } }",
        ),
        (
            "given",
            "operands: { f: { immediate: decimal, bits: 31..0, value: 'if bits == 0x12345678 { 5000000000 } else { bits }', encode: value } }",
        ),
        (
            "other",
            "operands: { f: { immediate: decimal, bits: 19..0, value: bits ^ bits >> 9, encode: 'if value == 777777 { 0 } else { value ^ value >> 9 ^ value >> 18 }' } }",
        ),
        ("lossy", "operands: { f: { immediate: decimal, bits: 31..0, value: bits ^ bits >> 16, encode: value } }"),
    ];
    for (name, fields) in refused {
        let told = computed(name, fields).expect_err(name);
        assert!(told.contains("E0132") && told.contains(":6:") && told.contains("`f` of `m`"), "{name}: {told}");
    }
}

#[test]
fn values_are_tried_within_bounds_in_all_of_a_specification() {
    let mut spec = "isa: many\nword: 128\nprovenance: document\nevery: { unused: zero }\ninstructions:\n".to_owned();
    for number in 0..60 {
        spec += &format!("  m{number}: {{ doc: M., fixed: {{ 127..120: {number} }}, fields: {{ ");
        for field in 0..5 {
            let low = field * 20;
            let (value, encode) =
                (format!("bits * 5 + (bits >> 1) + {number}"), format!("((value - {number}) * 2 + 1) / 11"));
            spec += &format!("v{field}: {{ bits: {}..{low}, value: {value}, encode: {encode} }}, ", low + 19);
        }
        spec += "}, syntax: '{mnemonic} {v0}, {v1}, {v2}, {v3}, {v4}' }\n";
    }
    let start = std::time::Instant::now();
    let told = of_text("many", &spec, 0).expect_err("there are too many to try them all");
    // Only the first ones are tried.
    assert!(told.contains("E0132") && !told.contains("`v0` of `m0`"), "{told}");
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

/// Checks that every word decodes to the wanted value or not at all, and that its text assembles to a word with that
/// value.
fn every_word(engine: Engine, words: impl Iterator<Item = u32>, wanted: impl Fn(u32) -> Option<u64>) -> usize {
    let value = |decoded: &isaforge_core::stream::Decoded| {
        let scope = engine.scope(decoded);
        scope.value(scope.layout.fields.iter().position(|field| field.name == "imm").expect("it is there") as u8)
    };
    let mut values = std::collections::BTreeSet::new();
    for word in words {
        let decoded = engine.decode(&word.to_le_bytes()).ok();
        assert_eq!(decoded.as_ref().map(value), wanted(word), "{word:#x}");
        let Some(decoded) = decoded.filter(|decoded| values.insert(value(decoded))) else { continue };
        let mut line = Line::new();
        engine.print(&decoded, &mut line);
        let read = engine.parse(line.as_str()).unwrap_or_else(|why| panic!("{}: {why}", line.as_str())).decoded;
        assert_eq!(value(&read), value(&decoded), "{}", line.as_str());
    }
    values.len()
}

#[test]
fn modified_immediates_are_computed_both_ways() {
    let engine = fixture("modified.yaml");
    both_ways(
        engine,
        &[
            ("00 10 6e 1e", "fmov d0, #1.000000"),
            ("00 f0 7d 1e", "fmov d0, #-0.968750"),
            ("25 e4 00 2f", "movi d5, #0xff"),
            ("20 e5 01 2f", "movi d0, #0xff00ff0000ff"),
            ("ff 00 a0 e3", "mov r0, #255"),
            ("ff 14 a0 e3", "mov r1, #4278190080"),
        ],
    );
    assert!(assembled(engine, "mov r0, #257").is_err_and(|why| why.contains("257")));
    assert!(assembled(engine, "fmov d0, #0.1").is_err());
    let floats = every_word(engine, (0..256).map(|byte| 0x1e60_1000 | byte << 13), |word| {
        let byte = word >> 13 & 255;
        let scale = [2.0, 4.0, 8.0, 16.0, 0.125, 0.25, 0.5, 1.0][(byte >> 4 & 7) as usize];
        let size = scale * f64::from(16 + (byte & 15)) / 16.0;
        Some((if byte > 127 { -size } else { size }).to_bits())
    });
    assert_eq!(floats, 256);
    let turned = every_word(engine, (0..4096).map(|bits| 0xe3a0_0000 | bits), |word| {
        Some((word & 255).rotate_right(word >> 7 & 30).into())
    });
    assert_eq!(turned, 3073);
    let spread = |byte: u32| (0..8).filter(|at| byte >> at & 1 != 0).fold(0, |all, at| all | 0xff << (8 * at));
    let words = (0..1u32 << 13).map(|bits| {
        0x0f00_0400 | (bits & 31) << 5 | (bits >> 5 & 7) << 16 | (bits >> 8 & 15) << 12 | (bits >> 12) << 29
    });
    let lanes = every_word(engine, words, |word| {
        let (byte, op) = (word >> 11 & 0xe0 | word >> 5 & 31, word >> 29 & 1);
        let lane = match (word >> 12 & 15, op) {
            (14, 1) => return Some(spread(byte)),
            (_, 1) | (1 | 3 | 5 | 7 | 9 | 11, _) => return None,
            (mode @ 0..=6, _) => byte << (4 * mode),
            (8, _) => byte * 0x1_0001,
            (10, _) => (byte << 8) * 0x1_0001,
            (12, _) => byte << 8 | 0xff,
            (13, _) => byte << 16 | 0xffff,
            (14, _) => byte * 0x101_0101,
            _ => {
                let exponent = [2.0, 4.0, 8.0, 16.0, 0.125, 0.25, 0.5, 1.0][(byte >> 4 & 7) as usize];
                let size: f32 = exponent * (16 + (byte & 15)) as f32 / 16.0;
                (if byte > 127 { -size } else { size }).to_bits()
            }
        };
        Some(u64::from(lane) << 32 | u64::from(lane))
    });
    assert!(lanes > 2000, "{lanes}");
}

#[test]
fn a_set_of_three_lengths_has_aliases_constraints_computed_fields_generations_and_a_sub_language() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs/nova.yaml");
    let engines = [1, 2, 3].map(|generation| open(&path, generation).unwrap_or_else(|why| panic!("{why}")));
    let all = [
        ("b3 10", "mov g2, g3.hi"),
        ("83 18", "mov.w g2, g3"),
        ("00 10", "nop"),
        ("ce 1b", "ret"),
        ("0c 24 ff 0f", "li g4, #-16"),
        ("5f 24 ff 0f", "addi g4, g5, #-4"),
    ];
    engines.iter().for_each(|engine| both_ways(*engine, &all));
    for (engine, (small, several, constant)) in
        engines.iter().zip([(false, true, false), (true, true, false), (true, false, true)])
    {
        for (bytes, row, there) in [
            ("93 10", "mov g2, #4", small),
            ("5e 52", "ldm [g2:g7], sp", several),
            ("00 42 34 12 00 00", "ldi g2, #0x1234", constant),
        ] {
            assert_eq!(text(*engine, bytes).ok().as_deref(), there.then_some(row));
            assert_eq!(assembled(*engine, row).ok(), there.then(|| bytes.replace(' ', "")));
        }
    }
    let last = engines[2];
    assert_eq!(assembled(last, "subi g4, g5, #-4").as_deref(), Ok("5f24ff0f"));
    assert_eq!(assembled(last, "mov g2, fp"), assembled(last, "mov g2, g13"));
    assert!(
        assembled(last, "mov zero, one").is_err_and(|why| !why.is_empty()),
        "the first register is none to be written"
    );
    assert!(text(engines[0], "fe 52").is_err(), "there is no register 17");
}

/// A specification with one operand whose value is given by a table.
fn tabled(rest: &str) -> String {
    format!(
        "isa: tabled\nprovenance: document\nword: 24\nenums: {{ Size: {{ values: [byte, half, word, ~] }} }}\n\
         instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, {rest} }}\n"
    )
}

/// A computed value may be a table over a number or over names; the assembler searches for the entry.
#[test]
fn tables_read_both_ways() {
    let steps = "operands: { n: { immediate: decimal, prefix: '', bits: 7..5, \
                 value: 'match bits { 0 => 1, 1 => 3, 2 => 5, 3 => 10, 4 => 20, 5 => 100, 6 => 1000, 7 => 0x4000_0000 }' } }, \
                 ignored: 4..0";
    both_ways(
        of_text("table", &tabled(steps), 0).expect("it is right"),
        &[("00 01 00", "set 1"), ("a0 01 00", "set 100"), ("e0 01 00", "set 1073741824")],
    );
    let refused = of_text("table", &tabled(steps), 0).expect("it is right").parse("set 2").expect_err("no entry");
    assert_eq!(refused.to_string(), "`n` cannot be `2` here");
    // Negative entries, several numbers for one entry, and a default.
    let signed = "fields: { code: { bits: 7..0 } }, where: 'n != 0', operands: { n: { immediate: signed, prefix: '', \
                  value: 'match code { 0 => -1, 5 => -100, 6 => 7, 0x80 => 8, 9 => 9, _ => 0 }' } }";
    both_ways(
        of_text("signed_table", &tabled(signed), 0).expect("it is right"),
        &[("00 01 00", "set -1"), ("05 01 00", "set -100"), ("80 01 00", "set 8")],
    );
    assert!(of_text("signed_table", &tabled(signed), 0).expect("it is right").decode(&[7, 1, 0]).is_err());
    // The number that selects an entry may be computed.
    let parts = "fields: { code: { bits: 7..0 } }, operands: { n: { immediate: decimal, prefix: '', \
                 value: 'match code[7:4] { 0 => 1, 1 => 2, 9 => 7, 15 => 9, _ => 5 } * 100 + match code & 15 { 4 => 64, _ => code & 15 }' } }";
    both_ways(
        of_text("parts", &tabled(parts), 0).expect("it is right"),
        &[("02 01 00", "set 102"), ("94 01 00", "set 764"), ("ff 01 00", "set 915")],
    );
    // Names may select entries, and arms may be computed; two fields determine the value.
    let sized = "fields: { size: { bits: 7..6, enum: Size }, count: { bits: 5..2 } }, ignored: 1..0, \
                 syntax: 'set.{size} {n}', operands: { n: { immediate: decimal, prefix: '', \
                 value: 'match size { byte => count, half => count * 2, word => (count + 1) * 4 }' } }";
    both_ways(
        of_text("sized", &tabled(sized), 0).expect("it is right"),
        &[("28 01 00", "set.byte 10"), ("68 01 00", "set.half 20"), ("a8 01 00", "set.word 44")],
    );
}

/// A table of 256 8-bit entries is the largest that an expression may hold.
#[test]
fn large_tables_are_exact() {
    let entry = |number: u64| (number * 167 % 256) ^ 0x5a;
    let arms: Vec<String> = (0..256).map(|number| format!("{number} => {}", entry(number))).collect();
    let rest = |arms: &str| {
        format!("operands: {{ n: {{ immediate: decimal, prefix: '', bits: 7..0, value: 'match bits {{ {arms} }}' }} }}")
    };
    let engine = of_text("large", &tabled(&rest(&arms.join(", "))), 0).expect("it is right");
    for number in 0..256 {
        let (bytes, expected) = (format!("{number:02x}0100"), format!("set {}", entry(number)));
        both_ways(engine, &[(&bytes, &expected)]);
    }
    let wide: Vec<String> = (0..256).map(|number| format!("{number} => {}", number * 257)).collect();
    let told = of_text("large", &tabled(&rest(&wide.join(", "))), 0).expect_err("it has too many bits");
    assert!(told.contains("E0127") && told.contains("an encoding has room for"), "{told}");
}

#[test]
fn tables_say_what_they_leave_open() {
    let of = |arms: &str| {
        tabled(&format!(
            "operands: {{ n: {{ immediate: decimal, bits: 7..6, value: 'match bits {{ {arms} }}' }} }}, ignored: 5..0"
        ))
    };
    let named = |arms: &str| {
        tabled(&format!(
            "fields: {{ size: {{ bits: 7..6, enum: Size }}, n: {{ value: 'match size {{ {arms} }}' }} }}, ignored: 5..0, \
             syntax: 'set.{{size}} {{n}}'"
        ))
    };
    let mistakes = [
        (of("0 => 1, 1 => 2"), "`bits` may also be `2` or `3`"),
        (of("0 => 1, 1 => 2, 1 => 3, _ => 4"), "`1` is already matched by an earlier arm"),
        (of("0 => 1, 4 => 2, _ => 3"), "`bits` is never 4: it is 0 to 3"),
        (of("0 => 1, low => 2, _ => 3"), "`bits` is a number and has no names"),
        (of("0 => 1, 3 => 2, _ => 3").replace("decimal", "signed"), "it is in two's complement: write -1"),
        (of("0 => 1, _ => 3").replace("match bits", "match bits > 1"), "but this is of type `bool`"),
        (of("0 => 0xffff_ffff_ffff_ffff, 1 => -1, _ => 3"), "this value is negative, and others are too large"),
        (of("0 => 1, 1 => 2, 2 => 3, 3 => true"), "expected `u64`, found `bool`"),
        (named("byte => 1, half => 2"), "`size` may also be `word`"),
        (named("byte => 1, half => 2, long => 3, _ => 4"), "`size` has no value `long`"),
    ];
    for (text, message) in mistakes {
        let told = of_text("open_table", &text, 0).map(drop).expect_err(message);
        assert!(told.contains(message), "{message}: {told}");
    }
}

/// The encoding of a field may depend on other fields.
#[test]
fn a_way_back_names_other_fields() {
    let shown = "fields: { size: { bits: 21..20 } }, syntax: 'set.{size} {n}', \
                 operands: { n: { immediate: decimal, prefix: '', bits: 19..0, value: bits << size, encode: value >> size } }";
    let spec = |rest: &str| tabled(rest).replace("23..8: 1", "23..22: 1");
    both_ways(
        of_text("scaled", &spec(shown), 0).expect("it is right"),
        &[("05 00 40", "set.0 5"), ("05 00 50", "set.1 10"), ("ff ff 7f", "set.3 8388600")],
    );
    // In sequence: the exponent is the smallest with which the number fits.
    let float = "fields: { e: { bits: 21..18 }, m: { bits: 11..0 } }, ignored: 17..12, operands: { n: { immediate: decimal, \
                 prefix: '', value: m << e, encode: { e: 'if value < 0x1000 { 0 } else { 52 - clz(value) }', m: value >> e } } }";
    let engine = of_text("floating", &spec(float), 0).expect("it is right");
    both_ways(engine, &[("ff 0f 40", "set 4095"), ("01 08 44", "set 4098"), ("ff 0f 7c", "set 134184960")]);
    assert!(assembled(engine, "set 4097").is_err());
    let mistakes = [
        (
            shown.replace("value >> size", "value >> other").replace("size: {", "other: { bits: 22 }, size: {"),
            "does not follow from `other`",
        ),
        (float.replace("value >> e", "value >> e, x: 1"), "`x`"),
        (float.replace("52 - clz(value)", "m"), "`m` is not known yet"),
    ];
    for (rest, message) in mistakes {
        let told = of_text("mistaken_way", &spec(&rest), 0).map(drop).expect_err(message);
        assert!(told.contains(message), "{message}: {told}");
    }
}

/// A kind may take a computed value, and assembling an operand that depends on it recovers the bits.
#[test]
fn lists_of_registers_say_their_count() {
    let spec = "isa: lists\nprovenance: document\nword: 24\nbanks: { r: { count: 16, width: 32, prints: 'r{n}' } }\n\
        kinds:\n  list:\n    width: 4\n    parameters: [N]\n    alternatives:\n      \
        one: { where: N == 1, fields: { first: { bank: r, bits: 3..0 } }, text: '{{{first}}}' }\n      \
        many: { where: [N != 1, last < 16], fields: { first: { bank: r, bits: 3..0 }, last: { bank: r, value: first + N - 1 } }, \
        text: '{{{first}-{last}}}' }\n\
        instructions:\n  ldm:\n    doc: L.\n    fixed: { 23..8: 1 }\n    ignored: 7\n    \
        fields: { n: { bits: 6..4 }, count: { value: n + 1 } }\n    \
        operands: { list: { kind: list, at: 0, with: { N: count }, access: write } }\n";
    let engine = of_text("lists", spec, 0).expect("it is right");
    both_ways(engine, &[("05 01 00", "ldm {r5}"), ("15 01 00", "ldm {r5-r6}"), ("78 01 00", "ldm {r8-r15}")]);
    assert!(engine.decode(&[0x79, 1, 0]).is_err(), "there is no r16");
    assert!(assembled(engine, "ldm {r0-r8}").is_err(), "the count has three bits");
}

#[test]
fn texts_that_are_alike_are_told_where_they_stand() {
    let spec = |kinds: &str, enums: &str, operand: &str| {
        format!(
            "isa: alike\nprovenance: document\nword: 24\nbanks: {{ r: {{ count: 16, prints: 'r{{n}}' }} }}\n\
             enums: {{ Mode: {{ values: [{enums}] }} }}\nkinds:\n  source:\n    width: 5\n    alternatives:\n{kinds}\
             instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, operands: {{ {operand} }} }}\n"
        )
    };
    let warnings = |text: &str| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams").join("alike.yaml");
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(&path, text).expect("the file can be written");
        let told = |sources: &_, diagnostics: &isaforge_compiler::diagnostic::Diagnostics| {
            diagnostics.render(sources, isaforge_compiler::diagnostic::Style::default())
        };
        match check_spec(&Settings::new(&path)) {
            Ok(checked) => told(&checked.sources, &checked.diagnostics),
            Err(failure) => told(&failure.sources, &failure.diagnostics),
        }
    };
    let alternatives = "      low: { fixed: { 4: 0 }, fields: { n: { bank: r, bits: 3..0 } }, text: '{n}' }\n      \
                        high: { fixed: { 4: 1 }, fields: { n: { bank: r, bits: 3..0 } }, text: '{n}' }\n";
    let operand = "a: { kind: source, at: 0 }, m: { immediate: decimal, bits: 7..5 }";
    let told = warnings(&spec(alternatives, "a, b", operand));
    assert!(told.contains("`r0` is the text of two values of a `source`: 0x0 and 0x10"), "{told}");
    assert_eq!(told.matches("W0213").count(), 1, "{told}");
    let apart = alternatives.replace("text: '{n}' }\n      high", "text: '-{n}' }\n      high");
    assert!(!warnings(&spec(&apart, "a, b", operand)).contains("W0213"));
    let twice = "a: { kind: source, at: 0 }, m: { immediate: decimal, bits: 7..5, value: 'match bits { 3 => 5, 6 => 5, _ => bits }' }, ";
    let told = warnings(&spec(&apart, "a, b", twice));
    assert!(told.contains("W0213") && told.contains("#5` is the text of two words: 0x160 and 0x1a0"), "{told}");
    let named = "a: { kind: source, at: 0 }, m: { enum: Mode, immediate: decimal, prefix: '', bits: 7..5 }";
    let told = warnings(&spec(&apart, "'0', '5'", named));
    assert!(told.contains("`5` is 1 in `Mode`, and reads as 5") && told.contains("E0114"), "{told}");
}

/// Names of an enum may be limited to generations, and have other values in each.
#[test]
fn names_have_generations() {
    let spec = "isa: dated\nprovenance: document\nword: 24\ngenerations: { v5: 5, v6: 6, v7: 7 }\n\
        enums: { Mode: { values: [near, { name: far, until: v6 }, { name: wide, value: 1, since: v7 }, { name: deep, since: v6 }] } }\n\
        instructions:\n  set: { doc: S., fixed: { 23..8: 1 }, ignored: 5..0, fields: { mode: { enum: Mode, bits: 7..6 } }, \
        syntax: 'set {mode}' }\n";
    let engine = |generation| of_text("dated", spec, generation).expect("it is right");
    both_ways(engine(5), &[("00 01 00", "set near"), ("40 01 00", "set far")]);
    both_ways(engine(6), &[("40 01 00", "set far"), ("80 01 00", "set deep")]);
    both_ways(engine(7), &[("40 01 00", "set wide"), ("80 01 00", "set deep")]);
    assert!(engine(5).decode(&[0x80, 1, 0]).is_err() && assembled(engine(5), "set deep").is_err());
    assert!(assembled(engine(7), "set far").is_err());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams/dated.yaml");
    let checked = check_spec(&Settings::new(path)).expect("it is right");
    assert!(checked.diagnostics.is_empty(), "{}", checked.diagnostics.render(&checked.sources, Default::default()));
    let told = of_text("dated", &spec.replace("since: v7", "since: v8"), 5).map(drop).expect_err("there is no v8");
    assert!(told.contains("there is no generation called `v8`"), "{told}");
    let told = of_text("dated", &spec.replace("until: v6", "until: v7"), 5).map(drop).expect_err("two are 1 in v7");
    assert!(told.contains("E0103") && told.contains("two values of `Mode since v7` are 1"), "{told}");
}

/// The number of registers that an instruction reads may depend on its bits.
#[test]
fn registers_are_as_many_as_a_field_says() {
    let spec = "isa: counted\nprovenance: document\nword: 24\nbanks: { r: { count: 16, width: 32, prints: 'r{n}' } }\n\
        instructions:\n  ldm:\n    doc: L.\n    fixed: { 23..8: 1 }\n    \
        fields: { n: { bits: 7..4 }, size: { value: n * 32 } }\n    syntax: 'ldm {list}, {n}'\n    \
        operands: { list: { bank: r, bits: 3..0, access: write, size: size } }\n";
    let engine = of_text("counted", spec, 0).expect("it is right");
    let written = |byte: u8| {
        let mut found = Vec::new();
        let decoded = engine.decode(&[byte, 1, 0]).expect("it is an instruction");
        registers(engine, &decoded, true, &mut |of| found.push((of.first, of.count)));
        found
    };
    assert_eq!([written(0x01), written(0x13), written(0x35)], [vec![], vec![(3, 1)], vec![(5, 3)]]);
}

/// If an instruction has the text of another one, its exact text identifies it.
#[test]
fn exact_texts_name_the_word() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/riscv/isa.yaml");
    let engine = open(&path, 0).expect("it is right");
    // `mv a0, a1` in four bytes and in two, and an instruction that has no other form.
    let code = bytes("13 85 05 00 2e 85 33 05 b5 02");
    let mut text = String::new();
    assert_eq!(disassemble_as(engine, &code, Style::Exact, &mut text), 0);
    assert_eq!(text, "mv a0, a1 ~13850500\nmv a0, a1\nmul a0, a0, a1\n");
    assert_eq!(assemble(engine, &text).as_deref(), Ok(&code[..]));
    let told = engine.parse("mv a0, a2 ~13850500").expect_err("that is a1");
    assert_eq!(told.to_string(), "`~13850500` is not an instruction with this text");
}

/// A number takes as many bytes as it needs; the encoder, too, treats bits after the last byte as 0.
#[test]
fn ways_back_know_which_bits_are_there() {
    let spec = "isa: leb\nprovenance: document\nword: [8, 16, 24, 32]\ninstructions:\n  const:\n    doc: C.\n    word: 32\n    \
        length: 'if c0 == 0 { 2 } else if c1 == 0 { 3 } else { 4 }'\n    fixed: { 7..0: 0x41 }\n    where: c2 == 0\n    \
        fields:\n      b0: { bits: 14..8 }\n      c0: { bits: 15 }\n      b1: { bits: 22..16 }\n      c1: { bits: 23 }\n      \
        b2: { bits: 30..24 }\n      c2: { bits: 31 }\n      n: { value: b0 | b1 << 7 | b2 << 14, encode: { b0: value & 127, \
        c0: 'if value >= 128 { 1 } else { 0 }', b1: value >> 7 & 127, c1: 'if value >= 0x4000 { 1 } else { 0 }', b2: value >> 14 } }\n    \
        syntax: 'const {n}'\n  end: { doc: E., word: 8, fixed: { 7..0: 11 }, syntax: end }\n";
    let engine = of_text("leb", spec, 0).expect("it is right");
    both_ways(engine, &[("41 05", "const 5"), ("41 80 01", "const 128"), ("41 ff ff 7f", "const 2097151")]);
    assert!(assembled(engine, "const 2097152").is_err());
}

/// Chains of computed values and nested operands are limited in depth; deeper ones are rejected at their place.
#[test]
fn chains_and_operands_have_a_depth() {
    let chain = |length: usize| {
        let field = |i: usize| format!("f{i}: {{ value: f{} + 1 }}", i - 1);
        let fields: Vec<String> = (1..=length).map(field).collect();
        tabled(&format!("fields: {{ f0: {{ bits: 7..0 }}, {} }}, syntax: 'set {{f{length}}}'", fields.join(", ")))
    };
    both_ways(of_text("chain", &chain(24), 0).expect("it is right"), &[("01 01 00", "set 25")]);
    let told = of_text("chain", &chain(25), 0).map(drop).expect_err("it is too long");
    assert!(told.contains("a chain of more than 24 computed values leads to `f25`"), "{told}");
    let nested = |depth: usize| {
        let kind = |i: usize| match i + 1 == depth {
            true => format!(
                "  k{i}: {{ width: 8, alternatives: {{ x: {{ fields: {{ n: {{ bank: r, bits: 7..0 }} }}, text: '<{{n}}>' }} }} }}\n"
            ),
            false => format!(
                "  k{i}: {{ width: 8, alternatives: {{ x: {{ fields: {{ n: {{ kind: k{}, bits: 7..0 }} }}, text: '<{{n}}>' }} }} }}\n",
                i + 1
            ),
        };
        let kinds: String = (0..depth).map(kind).collect();
        format!(
            "isa: nested\nprovenance: document\nword: 24\nbanks: {{ r: {{ count: 256, width: 32, prints: 'r{{n}}' }} }}\nkinds:\n{kinds}\
             instructions:\n  set: {{ doc: S., fixed: {{ 23..8: 1 }}, operands: {{ a: {{ kind: k0, at: 0 }} }} }}\n"
        )
    };
    let engine = of_text("nested", &nested(4), 0).expect("it is right");
    both_ways(engine, &[("07 01 00", "set <<<<r7>>>>")]);
    let mut read = Vec::new();
    registers(engine, &engine.decode(&[7, 1, 0]).expect("it decodes"), false, &mut |of| read.push(of.first));
    assert_eq!(read, [7]);
    let told = of_text("nested", &nested(5), 0).map(drop).expect_err("it is too deep");
    assert!(told.contains("operands nest more than 4 deep"), "{told}");
}
