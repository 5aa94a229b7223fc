use super::*;

#[test]
fn values_do_not_have_the_names_of_operands() {
    let lanes = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/lanes");
    for (set, text, wrong) in [
        (&["vpu"][..], "AddFloat16.sign r3.xy?_w!, r1.xyzw, g4.xxxx", ["let a = ", "let b = "]),
        (&["--spec", lanes], "00002050", ["let a = ", "let d = "]),
    ] {
        let run = isaforge(&[&["explain"], set, &[text]].concat()).expect(0);
        assert!(run.out().contains("let c = ") || run.out().contains("let b = "), "{}", run.out());
        wrong.iter().for_each(|wrong| assert!(!run.out().contains(wrong), "{wrong}: {}", run.out()));
    }
}

#[test]
fn a_field_of_an_instruction_is_explained_value_by_value() {
    let run = isaforge(&["explain", "valhall", "FMA.f32", "clamp"]).expect(0);
    for part in ["bits 33..32", "clamp_0_inf", "FMA.f32.clamp_0_1 r0, r2, r4, r6"] {
        assert!(run.out().contains(part), "{part}\n{}", run.out());
    }
    // The operation for each value.
    assert!(
        run.out().lines().filter(|line| line.contains("f32(dest) =") || line.contains("dest =")).count() >= 4,
        "{}",
        run.out()
    );
    let run = isaforge(&["explain", "valhall", "FMA.f32", "NEG"]).expect(0);
    assert_eq!(run.out().lines().filter(|line| line.starts_with("FMA.f32 src")).count(), 3, "{}", run.out());
    let run = isaforge(&["explain", "valhall", "FMA.f32", "src0"]).expect(0);
    assert!(run.out().contains("0..63") && run.out().contains("r0 to r63"), "{}", run.out());
    let run = isaforge(&["explain", "valhall", "MOV.i32", "dest"]).expect(0);
    assert_eq!(run.out().lines().count(), 2, "{}", run.out());
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge(&["explain", "--spec", spec, "fence", "before"]).expect(0);
    assert!(run.out().contains("iorw"), "{}", run.out());
    let run = isaforge(&["explain", "valhall", "FMA.f32", "frobnicate"]).expect(1);
    assert!(run.err.contains("the fields of `FMA.f32` are flow, fau_page, dest.half"), "{}", run.err);
    let run = isaforge(&["explain", "--spec", spec, "addi", "frobnicate"]).expect(1);
    assert!(run.err.contains("the fields of `addi` are "), "{}", run.err);
    assert!(isaforge(&["explain", "usc", "FMAD", "frobnicate"]).expect(1).err.contains("header.oporg, "));
}

#[test]
fn a_word_and_its_text_have_the_same_explanation() {
    let by_word = isaforge(&["explain", "valhall", "0x0091c10000000002"]).expect(0);
    for what in [&["0091C10000000002"][..], &["MOV.i32 r1, r2"], &["MOV.i32", "r1,", "r2"], &["0x91c1_0000_0000_02"]] {
        let arguments = [&["explain", "valhall"], what].concat();
        assert_eq!(isaforge(&arguments).expect(0).out(), by_word.out(), "{what:?}");
    }
}

#[test]
fn the_explanation_shows_bits_fields_and_what_the_specification_says() {
    let run = isaforge(&["explain", "valhall", "MOV.i32 r1, r2"]).expect(0);
    let out = run.out();
    assert!(out.starts_with("0091c10000000002  MOV.i32 r1, r2\n"), "{out}");
    for part in [
        "56                      48",
        "0  1  0  0  1  0  0  0  1",
        "45..40",
        "reads     r2 (src0)",
        "writes    r1 (dest)",
        "isa.xml:",
    ] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    assert!(!out.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn an_instruction_of_a_stream_says_what_it_does_with_which_registers() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge(&["explain", "--spec", spec, "sub a2, a0, a1"]).expect(0);
    for part in ["reads     a0 (rs1), a1 (rs2)", "writes    a2 (rd)", "does      rd = rs1 - rs2"] {
        assert!(run.out().contains(part), "{part} is missing in\n{}", run.out());
    }
}

#[test]
fn colours_come_when_asked_for() {
    let run = isaforge(&["explain", "valhall", "MOV.i32 r1, r2", "--color", "always"]).expect(0);
    assert!(run.out().contains("\x1b["));
}

#[test]
fn an_invalid_word_is_explained_as_far_as_it_is_known() {
    let run = isaforge(&["explain", "valhall", "0091c10000000102"]).expect(1);
    assert!(
        run.out().contains("not an instruction: MOV.i32: reserved bits 15..8 must be zero, found 0x1"),
        "{}",
        run.out()
    );
    assert!(run.out().contains("15..8   reserved    00000001  0x1   must be zero"), "{}", run.out());
    assert!(run.out().contains("MOV.i32  "), "{}", run.out());
    // The first error is the reason; the others are marked, too.
    let run = isaforge(&["explain", "valhall", "7091d28d250e0d89"]).expect(1);
    assert_eq!(
        run.out().matches("must be zero").count() + run.out().matches("reserved value").count(),
        4,
        "{}",
        run.out()
    );
    let run = isaforge(&["explain", "valhall", "0xffffffffffffffff"]).expect(1);
    assert!(run.out().contains("unknown opcode"), "{}", run.out());
}

#[test]
fn a_name_alone_is_explained_with_an_example() {
    let run = isaforge(&["explain", "valhall", "FMA.f32"]).expect(0);
    assert!(run.out().contains("FMA.f32 r0, r2, r4, r6   (an example of it)"), "{}", run.out());
}

#[test]
fn text_that_is_no_instruction_gets_a_caret_and_help() {
    let run = isaforge(&["explain", "valhall", "MOV.i23 r1, r2"]).expect(1);
    assert!(run.err.starts_with("text:1:1: error: no instruction is called `MOV.i23`"), "{}", run.err);
    assert!(run.err.contains("did you mean `MOV.i32`?"), "{}", run.err);
    isaforge(&["explain", "valhall", "0x123456789abcdef01"]).expect(2);
}

#[test]
fn any_word_can_be_explained() {
    let isa = isaforge_cli::builtin::find("valhall").and_then(|found| found.words()).expect("it is built in");
    let set = isaforge_analysis::Set::new(isaforge_core::Tables::Words(isa), None, None);
    let mut random = isaforge_core::sample::Random(seed::seed(3));
    for round in 0..3000u64 {
        let opcode = (round % isa.forms.len() as u64) as u16;
        // Valid words, nearly valid words, and noise.
        let word = match round % 3 {
            0 => isaforge_core::sample::sample(isa, opcode, &mut random),
            1 => isaforge_core::sample::sample(isa, opcode, &mut random) ^ 1 << random.below(64),
            _ => random.next(),
        };
        for width in [40, 100] {
            let (text, _) = isaforge_cli::explain::render(&set, isa, word, "", width);
            assert!(text.contains(&format!("{word:016x}")));
        }
    }
}

#[test]
fn assumptions_of_a_specification_are_shown_each_on_a_line_of_its_own() {
    let run = isaforge(&["explain", "vpu", "DivideFloat16 r1.xyzw, s2.xyzw, g3.xxxx"]).expect(0);
    for part in ["reads     s2 (a), g3 (b)", "writes    r1 (dst)", "\n            Q02 (assumed): x/0 is", "Reason: "] {
        assert!(run.out().contains(part), "{part} is missing in\n{}", run.out());
    }
}

/// Without anything to explain, the overview is shown, for every kind of instruction set.
#[test]
fn a_set_by_itself_is_shown_as_a_whole() {
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge(&["explain", "--spec", riscv]).expect(0);
    for part in ["length        2, 4 bytes, in units of 2", "registers     zero to t6, 32 of 32 bits"] {
        assert!(run.out().contains(part), "{part} is missing in\n{}", run.out());
    }
    let run = isaforge(&["explain", "usc"]).expect(0);
    assert!(run.out().contains("a group     up to 32 bytes in steps of 2"), "{}", run.out());
    let ways = ["beq a0, a1, 8", "c.j -4"].map(|text| isaforge(&["explain", "--spec", riscv, text]).expect(0));
    for run in &ways {
        assert!(run.out().contains("branch target, counted from the branch itself in bytes"), "{}", run.out());
    }
    let enums = isaforge(&["explain", "usc", "regbank"]).expect(0);
    assert!(enums.out().starts_with("regbank\n"), "{}", enums.out());
}

#[test]
fn bytes_in_the_order_of_memory_are_explained_as_such() {
    let word = isaforge(&["explain", "valhall", "0090c0000019003c"]).expect(0);
    for bytes in ["3c 00 19 00 00 c0 90 00", "3c00190000c09000"] {
        let run = isaforge(&["explain", "valhall", bytes]).expect(0);
        assert!(run.out() == word.out() && run.err.contains("in memory order"), "{}{}", run.out(), run.err);
    }
    // A word that is invalid in both byte orders is shown as written.
    let run = isaforge(&["explain", "valhall", "ffffffffffffff00"]).expect(1);
    assert!(run.out().starts_with("ffffffffffffff00") && run.err.is_empty(), "{}{}", run.out(), run.err);
}

#[test]
fn a_modifier_shows_its_other_values() {
    let run = isaforge(&["explain", "valhall", "FMA.f32"]).expect(0);
    assert!(run.out().contains("clamp: none, clamp_0_inf, clamp_m1_1, clamp_0_1"), "{}", run.out());
}

#[test]
fn an_example_of_a_branch_has_a_label() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    for (set, name, expected) in [
        (&["valhall"][..], "BRANCHZ", "with a label: BRANCHZ r0, loop)"),
        (&["usc"], "BA", "with a label: ba loop)"),
        (&["--spec", spec], "beq", "with a label: beq ra, sp, loop)"),
    ] {
        let run = isaforge(&[&["explain"], set, &[name]].concat()).expect(0);
        assert!(run.out().contains(expected), "{}", run.out());
    }
    assert!(!isaforge(&["explain", "valhall", "MOV.i32"]).expect(0).out().contains("label"));
}

#[test]
fn code_in_other_forms_is_explained_instruction_by_instruction() {
    let words = ["0091c10000000002", "0091c30000000004"];
    let each = words.map(|word| isaforge(&["explain", "valhall", word]).expect(0).out().to_owned());
    let both = each.join("\n");
    for text in [
        "0091c10000000002\n0091c30000000004\n",
        "0x0091c10000000002, 0x0091c30000000004",
        "const uint64_t code[] = {\n  0x0091c10000000002, 0x0091c30000000004 };\n",
        "0x02,0x00,0x00,0x00,0x00,0xc1,0x91,0x00,0x04,0x00,0x00,0x00,0x00,0xc3,0x91,0x00",
        "MOV.i32 r1, r2\nMOV.i32 r3, r4\n",
    ] {
        let run = isaforge_with(&["explain", "valhall", "-"], text).expect(0);
        assert_eq!(run.out(), both, "{text}");
        assert_eq!(isaforge(&["explain", "valhall", text]).expect(0).out(), both, "{text}");
        let objects = isaforge_with(&["explain", "valhall", "--json", "-"], text).expect(0);
        assert_eq!(objects.out().lines().count(), 2, "{}", objects.out());
    }
    for arguments in [&["explain", "valhall", "-"][..], &["explain", "valhall", "--json", "-"]] {
        let run = isaforge_with(arguments, "ff fe\n").expect(1);
        assert!(run.err.contains("the last word has only 4 of 16 hexadecimal digits"), "{}", run.err);
    }
    // A search and a misspelt mnemonic may consist of digits.
    assert!(isaforge(&["explain", "valhall", "add"]).expect(0).out().contains("instructions that match `add`"));
    let riscv = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/riscv");
    let run = isaforge(&["explain", "--spec", riscv, "13000000", "0145"]).expect(0);
    assert!(run.out().contains("nop") && run.out().contains("li a0, 0"), "{}", run.out());
}

#[test]
fn a_number_with_a_prefix_is_not_turned_around() {
    let turned = isaforge(&["explain", "valhall", "0x3c00190000c09000"]).expect(1);
    assert!(turned.out().starts_with("3c00190000c09000  not an instruction"), "{}", turned.out());
    assert!(turned.err.contains("`explain 0x0090c0000019003c`"), "{}", turned.err);
}

#[test]
fn instructions_are_found_by_what_they_compute() {
    for set in ["valhall", "valhall-2021"] {
        for (words, first) in [
            ("reciprocal", "FRCP.f32"),
            ("square root", "FRSQ.f32"),
            ("floor", "FROUND.f32"),
            ("divide", "FRCP.f32"),
            ("cosine", "FCOS_TABLE.u6"),
        ] {
            let run = isaforge(&["explain", set, words]).expect(0);
            assert!(run.out().contains(first), "{set} {words}: {}", run.out());
        }
    }
}

#[test]
fn instructions_are_found_by_words_of_the_same_stem() {
    for (words, first) in [("reverse", "BITREV.i32"), ("bit reverse", "BITREV.i32"), ("reversing", "BITREV.i32")] {
        for command in ["explain", "list"] {
            let arguments = [&[command, "valhall"][..], &words.split(' ').collect::<Vec<_>>()].concat();
            let run = isaforge(&arguments).expect(0);
            assert!(run.out().contains(first), "{command} {words}: {}", run.out());
        }
    }
    assert_eq!(isaforge(&["list", "valhall", "frobnicate"]).status, 1);
}

#[test]
fn codes_registers_and_values_are_explained() {
    let page = isaforge(&["check", "--explain", "P0003"]).expect(0);
    for set in ["valhall", "usc"] {
        assert_eq!(isaforge(&["explain", set, "p0003"]).expect(0).out(), page.out());
    }
    for (what, parts) in [
        ("r60", &["at the start of compute programs"][..]),
        ("r1", &["register"]),
        ("u0", &["uniform"]),
        ("wait0126", &["a value of Flow"]),
    ] {
        let run = isaforge(&["explain", "valhall", what]).expect(0);
        assert!(run.out().starts_with(what), "{}", run.out());
        assert!(parts.iter().all(|part| run.out().contains(part)), "{what}: {}", run.out());
    }
}
