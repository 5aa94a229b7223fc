//! What texts say: conditions, names, registers, labels.

use super::*;

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
    assert_eq!(disassemble_at(engine, &code, 0, Style::Exact, &mut text), 0);
    assert_eq!(text, "mv a0, a1 ~13850500\nmv a0, a1\nmul a0, a0, a1\n");
    assert_eq!(assemble(engine, &text).as_deref(), Ok(&code[..]));
    let told = engine.parse("mv a0, a2 ~13850500").expect_err("that is a1");
    assert_eq!(told.to_string(), "`~13850500` is not an instruction with this text");
}

/// A label may stand for the whole operand, unless that is the text of another instruction.
#[test]
fn a_label_needs_no_prefix() {
    let spec = |prefix: &str| {
        let to = |from: &str| {
            format!("to: {{ immediate: signed, bits: 15..8, prefix: '{prefix}', target: {{ from: {from}, unit: 1 }} }}")
        };
        format!(
            "isa: marked\nprovenance: document\nword: [16, 32]\nbanks: {{ r: {{ count: 4, prints: 'r{{n}}' }} }}\n\
             enums: {{ Cond: {{ values: [always, zero], default: always }} }}\ninstructions:\n  \
             jmp: {{ doc: J., word: 16, fixed: {{ 7..1: 1 }}, modifiers: {{ k: {{ enum: Cond, bits: 0 }} }}, \
             operands: {{ {} }} }}\n  \
             jr: {{ doc: J., word: 16, fixed: {{ 15..2: 8 }}, operands: {{ a: {{ bank: r, bits: 1..0 }} }}, \
             syntax: 'jmp {{a}}' }}\n  \
             bz: {{ doc: B., word: 16, fixed: {{ 7..2: 2 }}, operands: {{ a: {{ bank: r, bits: 1..0 }}, {} }} }}\n",
            to("next"),
            to("this")
        )
    };
    for prefix in ["#", "to:", "@", ""] {
        let engine = of_text("marked", &spec(prefix), 0).unwrap_or_else(|told| panic!("{told}"));
        let listed = format!("l0:\njmp {prefix}l0\njmp.zero {prefix}l0\nbz r1, {prefix}l0\njmp r1\n");
        let made = assemble(engine, &listed).unwrap_or_else(|errors| panic!("{prefix}: {errors:?}"));
        let mut printed = String::new();
        assert_eq!(disassemble(engine, &made, &mut printed), 0);
        assert_eq!(printed, listed, "what is printed has the prefix");
        let bare = "x: jmp x\njmp.zero  x\nbz r1,x\njmp r1\n";
        assert_eq!(assemble(engine, bare), Ok(made), "{prefix}");
        // A register stays one.
        if !prefix.is_empty() {
            assert_eq!(assemble(engine, "r1: jmp r1"), Ok(vec![0x21, 0]), "{prefix}");
        }
        let told = assemble(engine, "here: jmp.zero hare").expect_err("there is none");
        let told = (told[0].column, told[0].message.as_str(), told[0].help.as_str());
        assert_eq!(told, (16, "there is no label `hare`", "did you mean `here`?"), "{prefix}");
    }
    let engine = of_text("marked", &spec("#"), 0).expect("it is right");
    let told = assemble(engine, "jmp.zero 5").expect_err("a number has its prefix");
    assert_eq!(told[0].message, "expected `#`, found `5`");
}
