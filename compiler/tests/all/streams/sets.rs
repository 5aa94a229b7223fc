//! Sets of several widths and lengths read both ways.

use super::*;

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
fn the_risc_v_example_reads_and_writes_as_binutils_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine = open(&folder.join("../examples/riscv/isa.yaml"), 0).unwrap_or_else(|why| panic!("{why}"));
    let rows = include_str!("../../data/riscv-binutils.tsv").lines().filter(|row| !row.starts_with('#'));
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
