use super::*;

/// A modified copy of the test data's specification in its own folder.
fn changed(from: &str, to: &str) -> (tempfile::TempDir, String) {
    let (folder, good) = (tempfile::tempdir().expect("a folder"), text_of("blink.yaml"));
    assert!(good.contains(from), "nothing is changed by {from}");
    let spec = folder.path().join("isa.yaml");
    fs::write(&spec, good.replace(from, to)).expect("the file is written");
    let spec = spec.to_str().expect("the path is text").to_owned();
    (folder, spec)
}

const BLINK: &str = "tests/data/blink.yaml";

#[test]
fn nothing_changed_means_status_0() {
    for (old, new) in [("valhall", "valhall"), (BLINK, BLINK), ("vpu", "../specs/vpu")] {
        let run = isaforge(&["diff", old, new]).expect(0);
        assert!(run.out().contains("Old binaries decode the same"), "{}", run.out());
    }
    // A new name for the same bits does not affect old binaries until they are printed.
    let (_folder, more) = changed(
        "instructions:\n",
        "instructions:\n  STOP:\n    doc: Stops.\n    provenance: document\n    fixed: { 15..0: 0 }\n    syntax: \"{mnemonic}\"\n",
    );
    let run = isaforge(&["diff", BLINK, &more]).expect(0);
    assert!(run.out().contains("added instructions: 1"), "{}", run.out());
    isaforge(&["diff", &more, BLINK]).expect(1);
}

#[test]
fn words_that_read_differently_mean_status_1_and_are_shown() {
    let (_folder, new) = changed("name: lit", "name: bright");
    let run = isaforge(&["diff", BLINK, &new]).expect(1);
    assert!(run.out().contains("SET.u8.lit") && run.out().contains("SET.u8.bright"), "{}", run.out());
    let run = isaforge(&["diff", BLINK, &new, "--format", "json"]).expect(1);
    let json: serde_json::Value = serde_json::from_str(run.out()).expect("it is JSON");
    assert!(json.is_object());
    let run = isaforge(&["diff", BLINK, &new, "--format", "markdown"]).expect(1);
    assert!(run.out().contains('|') || run.out().contains('#'), "{}", run.out());
    // A name that is only accepted as input changes no word but is reported.
    let (_folder, new) = changed("name: lit,", "name: lit, also: [bright, on],");
    let run = isaforge(&["diff", BLINK, &new]).expect(0);
    assert!(run.out().contains("value `lit` changed: no other word → also `bright`, `on`"), "{}", run.out());
    let run = isaforge(&["diff", "valhall-2021", "valhall"]).expect(1);
    assert!(run.out().contains("removed instructions: "), "{}", run.out());
}

#[test]
fn what_cannot_be_compared_is_a_misuse() {
    let run = isaforge(&["diff", "valhall", "valhal-2021"]).expect(2);
    assert!(run.err.contains("`valhal-2021` is neither an instruction set nor a file"), "{}", run.err);
    assert!(run.err.contains("did you mean `valhall-2021`?"), "{}", run.err);
    let run = isaforge(&["diff", BLINK, "tests/data/wrong.yaml"]).expect(2);
    assert!(run.err.contains("^") && run.err.contains("nothing was compared"), "{}", run.err);
    isaforge(&["diff", "valhall"]).expect(2);
    isaforge(&["diff", "valhall", "valhall", "--format", "html"]).expect(2);
}

#[test]
fn text_becomes_text_and_words_words_unless_asked_otherwise() {
    let (_folder, new) = changed("fixed: { 15..12: 0b0001 }", "fixed: { 15..12: 0b0011 }");
    let translate = |arguments: &[&str], input: &[u8]| {
        isaforge_with(&[&["translate", BLINK, &new], arguments].concat(), input).expect(0).out
    };
    let text = "SET.u8.lit l3, #200\nSET.u8 l3, #7\n";
    assert_eq!(translate(&[], format!("// one\n{text}").as_bytes()), text.as_bytes());
    assert_eq!(translate(&[], b"0x1dc8 1c07\n"), b"3dc8\n3c07\n");
    assert_eq!(translate(&["-"], &[0xc8, 0x1d, 0x07, 0x1c]), [0xc8, 0x3d, 0x07, 0x3c]);
    assert_eq!(translate(&["--out", "asm"], b"1dc8 1c07"), text.as_bytes());
    assert_eq!(translate(&["--in", "asm", "--out", "hex"], text.as_bytes()), b"3dc8\n3c07\n");
    assert_eq!(translate(&[], b""), b"");
    // Built-in revisions, by name and without any specification file.
    let run = isaforge_with(&["translate", "valhall-2021", "valhall"], "FMA.f32 r1, r2, r3, r4\n").expect(0);
    assert_eq!(run.out(), "FMA.f32 r1, r2, r3, r4\n");
}

#[test]
fn what_the_other_revision_cannot_say_is_named_and_nothing_is_written() {
    let (folder, new) = changed("name: lit, doc: If the lamp shines.", "name: bright, doc: If it is more than half.");
    let (folder, blink) = (folder.path(), data("blink.yaml"));
    let blink = blink.to_str().expect("the path is text");
    fs::write(folder.join("old.s"), "SET.u8 l3, #7\n  SET.u8.dark l3, #200\nSET.u8.dim l1, #1\n")
        .expect("it is written");
    let arguments = ["translate", blink, &new, "old.s", "-o", "new.s"];
    let run = isaforge_in(folder, &arguments, b"").expect(1);
    assert!(run.err.contains("old.s:3:"), "{}", run.err);
    let (other, without) =
        changed("      - { name: dark, doc: If it does not. }\n      - ~\n", "      - ~\n      - ~\n");
    fs::write(folder.join("old.s"), "SET.u8 l3, #7\n  SET.u8.dark l3, #200\nSET.u8.dark l1, #1\n")
        .expect("it is written");
    let run = isaforge_in(folder, &["translate", blink, &without, "old.s", "-o", "new.s"], b"").expect(1);
    assert!(run.err.contains("old.s:2:3: error: blink has no value `dark` for `when` of `SET.u8`"), "{}", run.err);
    assert!(run.err.contains("old.s:3:1: ") && run.err.ends_with("error: 2 mistakes\n"), "{}", run.err);
    assert!(!folder.join("new.s").exists());
    let run = isaforge_with(&["translate", blink, &without, "--in", "hex"], "1c07 1ec8 ffff").expect(1);
    assert!(
        run.out.is_empty() && run.err.starts_with("<stdin>: word 1 (1ec8): error: blink has no value"),
        "{}",
        run.err
    );
    assert!(run.err.contains("word 2 (ffff): error: not an instruction of blink"), "{}", run.err);
    drop(other);
    isaforge_with(&["translate", blink, "tests/data/wrong.yaml"], "").expect(1);
    isaforge(&["translate", blink, "nothing"]).expect(2);
}

#[test]
fn a_listing_of_one_revision_assembles_in_the_other_where_both_say_it() {
    let recorded = fs::read_to_string("../tests/data/valhall-2021/words.tsv").expect("the words are there");
    let words = recorded.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    // A table has no labels: its words are not a program.
    let table = isaforge_with(&["dis", "valhall-2021", "--tsv"], words.collect::<Vec<_>>().join("\n")).expect(0);
    let (mut said, mut unsaid) = (Vec::new(), Vec::new());
    for line in table.out().lines().filter_map(|row| row.split('\t').nth(2)) {
        let run = isaforge_with(&["asm", "valhall"], line);
        if run.status == 0 { said.push(line) } else { unsaid.push((line.to_owned(), run.err)) }
    }
    // Instructions are translated only if the model proves that they mean the same.
    let said = said.join("\n");
    let assembled = isaforge_with(&["asm", "valhall"], &said).expect(0);
    let translated = isaforge_with(&["translate", "valhall-2021", "valhall", "--out", "hex"], &said).expect(0);
    assert_eq!(assembled.out(), translated.out());
    assert!(
        said.contains("`r1") && said.contains(".return") && said.contains("atest_datum") && said.lines().count() > 50,
        "{said}"
    );
    // The others do not exist any more and are named.
    let [(line, error)] = &unsaid[..] else { panic!("{unsaid:?}") };
    assert!(line.starts_with("TEX.computed.2d.slot0 "), "{line}");
    assert!(error.contains("no instruction is called `TEX.computed.2d.slot0`"), "{error}");
}

/// Two lengths, computed values, a kind, an alias and two generations.
pub(crate) const STREAM: &str = r##"isa: tiny
word: [16, 32]
provenance: document
generations: [1, 2]
banks: { r: { count: 16, width: 32, prints: "r{n}" } }
enums:
  Mode: { bits: 2, values: [up, down, fast, slow] }
kinds:
  source:
    width: 5
    alternatives:
      number: { fixed: { 4: 0 }, fields: { n: { bits: 3..0, number: decimal } }, text: "#{n}" }
      register: { fixed: { 4: 1 }, fields: { n: { bits: 3..0, bank: r } }, text: "{n}" }
instructions:
  add:
    doc: Adds.
    word: 16
    fixed: { 15..12: 1, 3..3: 0 }
    operands: { d: { bank: r, bits: 11..8, access: write }, s: { bank: r, bits: 7..4 } }
    fields: { mode: { bits: 1..0, enum: Mode }, wide: { bits: 2 } }
    syntax: "add.{mode}{?wide != 0|.w} {d}, {s}"
  mov:
    doc: Moves.
    fixed: { 15..12: 15, 31..17: 0 }
    fields: { p: { bits: 16 } }
    operands: { d: { bank: r, bits: 11..8, access: write }, s: { kind: source, at: 3 }, k: { immediate: decimal, bits: 2..0, value: bits * 4, prefix: "" } }
    syntax: "{?p != 0|@}mov {d}, {s}, {k}"
    aliases: { clear: { with: { s: 0, k: 0, p: 0 }, syntax: "clear {d}", prints: true } }
  jump:
    doc: Jumps.
    word: 16
    fixed: { 15..12: 2 }
    operands: { to: { immediate: signed, bits: 11..0, prefix: "", target: { from: this, unit: 2 } } }
  halt: { doc: Stops., word: 16, fixed: { 15..0: 0x3000 }, since: 2 }
"##;

fn streams(changes: &[(&str, &str)]) -> (tempfile::TempDir, [String; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = STREAM.to_owned();
    let mut paths = Vec::new();
    for (name, changes) in [("old", &[][..]), ("new", changes)] {
        for (from, to) in changes {
            assert!(text.contains(from), "nothing is changed by {from}");
            text = text.replace(from, to);
        }
        let path = folder.path().join(format!("{name}.yaml"));
        fs::write(&path, &text).expect("the file is written");
        paths.push(path.to_str().expect("the path is text").to_owned());
    }
    let paths = paths.try_into().expect("there are two");
    (folder, paths)
}

const GENERATION: [&str; 4] = ["--old-generation", "2", "--new-generation", "2"];
const TO: [&str; 4] = ["--from-generation", "2", "--to-generation", "2"];

#[test]
fn revisions_of_a_stream_are_compared_by_their_layouts() {
    let compare = |changes: &[(&str, &str)], status| {
        let (_folder, [old, new]) = streams(changes);
        isaforge(&[&["diff", &old, &new][..], &GENERATION].concat()).expect(status).out().to_owned()
    };
    let same = compare(&[], 0);
    assert!(same.contains("Old binaries decode the same (proved for every instruction)"), "{same}");
    assert!(same.contains("4 the same"), "{same}");
    for (from, to, status, said) in [
        (
            "bits: 11..8, access: write }, s: { bank: r, bits: 7..4",
            "bits: 7..4, access: write }, s: { bank: r, bits: 11..8",
            1,
            "operand `d` moved: bits 11..8 → bits 7..4",
        ),
        ("value: bits * 4", "value: bits * 8", 1, "value `k` changed: = bits * 4 → = bits * 8"),
        ("[up, down, fast, slow]", "[up, down, quick, slow]", 1, "value `fast` renamed: `quick`"),
        ("number: { fixed: { 4: 0 }", "number: { where: n != 7, fixed: { 4: 0 }", 1, "kind `source` changed"),
        ("fixed: { 15..12: 2 }", "fixed: { 15..12: 4 }", 1, "moved instructions: 1\n  jump"),
        ("text: \"#{n}\"", "text: \"{n}\"", 1, "reading `number` changed"),
        (
            "  halt:",
            "  rest: { doc: Rests., word: 16, fixed: { 15..0: 0x4000 } }\n  halt:",
            0,
            "added instructions: 1\n  rest",
        ),
        (
            "unit: 2 }",
            "unit: 4 }",
            1,
            "changed: counted from the branch itself in units of 2 bytes → counted from the branch itself in units of 4",
        ),
        ("prints: true }", "prints: false }", 1, "alias `clear` changed: `clear {d}`"),
        // A special case takes words from a more general instruction.
        (
            "  jump:",
            "  stay: { doc: Stays., word: 16, fixed: { 15..0: 0x2000 } }\n  jump:",
            1,
            "0020  old: jump 0\n          new: stay",
        ),
    ] {
        let out = compare(&[(from, to)], status);
        assert!(out.contains(said), "{from} → {to}: {out}");
    }
    let (_folder, [old, new]) = streams(&[("value: bits * 4", "value: bits * 8")]);
    for (format, said) in [("json", "\"decodes_alike\": false"), ("markdown", "⚠️")] {
        let arguments = [&["diff", &old, &new, "--format", format][..], &GENERATION].concat();
        let run = isaforge(&arguments).expect(1);
        assert!(run.out().replace("\":false", "\": false").contains(said), "{}", run.out());
    }
}

#[test]
fn two_generations_of_one_stream_are_compared_and_translated() {
    let (_folder, [spec, _]) = streams(&[]);
    let run = isaforge(&["diff", &spec, &spec, "--old-generation", "1", "--new-generation", "2"]).expect(0);
    assert!(run.out().contains("added instructions: 1\n  halt"), "{}", run.out());
    isaforge(&["diff", &spec, &spec, "--old-generation", "2", "--new-generation", "1"]).expect(1);
    let run = isaforge(&["diff", &spec, &spec]).expect(2);
    assert!(run.err.contains("describes several generations"), "{}", run.err);
    assert!(run.err.contains("choose one with `--old-generation`: "), "{}", run.err);
    for (command, given, missing) in [
        ("diff", "--old-generation", "--new-generation"),
        ("diff", "--new-generation", "--old-generation"),
        ("translate", "--from-generation", "--to-generation"),
        ("translate", "--to-generation", "--from-generation"),
    ] {
        let run = isaforge(&[command, &spec, &spec, given, "1"]).expect(2);
        assert!(run.err.contains(&format!("choose one with `{missing}`: ")), "{}", run.err);
    }
    let run = isaforge(&["diff", "valhall", "valhall", "--old-generation", "1"]).expect(2);
    assert!(run.err.contains("has no generations"), "{}", run.err);
    let translate = ["translate", &spec, &spec, "--from-generation", "2", "--to-generation", "1"];
    let run = isaforge_with(&translate, "add.up r1, r2\nhalt\n").expect(1);
    assert!(run.err.contains("<stdin>:2:1") || run.err.contains(":2:1:"), "{}", run.err);
    assert!(run.err.contains("tiny has no instruction `halt`"), "{}", run.err);
    assert!(run.out.is_empty());
    assert_eq!(isaforge_with(&translate, "add.up r1, r2\n").expect(0).out(), "add.up r1, r2\n");
}

#[test]
fn a_program_of_one_revision_of_a_stream_is_said_in_the_other() {
    let program = "start: add.fast.w r1, r2\nclear r4\n@mov r3, r5, 12\nmov r3, #7, 8\njump start\nhalt\n";
    let translated = |changes: &[(&str, &str)], arguments: &[&str], status| {
        let (_folder, [old, new]) = streams(changes);
        isaforge_with(&[&["translate", &old, &new][..], &TO, arguments].concat(), program).expect(status)
    };
    let back = "l0:\nadd.fast.w r1, r2\nclear r4\n@mov r3, r5, 12\nmov r3, #7, 8\njump l0\nhalt\n";
    assert_eq!(translated(&[], &[], 0).out(), back);
    // Fields moved, other factors, other names for the same bits, another syntax.
    let moved = [
        (
            "bits: 11..8, access: write }, s: { bank: r, bits: 7..4",
            "bits: 7..4, access: write }, s: { bank: r, bits: 11..8",
        ),
        ("value: bits * 4", "value: bits * 2"),
        ("[up, down, fast, slow]", "[down, up, quick, slow]"),
        ("text: \"#{n}\"", "text: \"={n}\""),
    ];
    let run = translated(&moved, &[], 0);
    assert_eq!(run.out(), back.replace("fast", "quick").replace("#7", "=7"));
    // A longer instruction moves those that follow, and branches still have the same targets.
    let grown = [("word: 16\n    fixed: { 15..12: 1, 3..3: 0 }", "fixed: { 15..12: 1, 3..3: 0, 31..16: 0 }")];
    assert_eq!(translated(&grown, &[], 0).out(), back);
    let bytes = |changes: &[(&str, &str)]| translated(changes, &["--out", "hex"], 0).out().trim().len();
    assert_eq!(bytes(&grown), bytes(&[]) + 4);
    // Instructions that cannot be expressed are named with their lines, and no output is written.
    for (from, to, said) in [
        ("value: bits * 4", "value: bits * 8", ":3:1: error: tiny has no value `12` for `k` of `mov`"),
        ("count: 16", "count: 5", ":3:1: error: tiny has no value `r5` for `s.n` of `mov`"),
        (", wide: { bits: 2 }", "", ":1:1: error: tiny has no `wide` for `add`, which is `1` here"),
        (
            "number: { fixed: { 4: 0 }",
            "number: { where: n != 7, fixed: { 4: 0 }",
            ":4:1: error: tiny has no `#7` (number) for `s` of `mov`",
        ),
    ] {
        let changes = [(from, to)];
        let also: &[(&str, &str)] = match from {
            ", wide: { bits: 2 }" => &[changes[0], ("3..3: 0", "3..2: 0"), ("{?wide != 0|.w}", "")],
            _ => &changes,
        };
        let run = translated(also, &[], 1);
        assert!(run.err.contains(said) && run.out.is_empty(), "{from}: {}", run.err);
    }
    // Streams and words of one length are different kinds.
    let (_folder, [old, _]) = streams(&[]);
    let run = isaforge(&["diff", &old, BLINK, "--old-generation", "1"]).expect(2);
    assert!(run.err.contains("is a stream, and"), "{}", run.err);
}

/// Branches of two generations: of two lengths of another instruction, and of two lengths of their own.
const JUMPS: [&str; 2] = [
    r#"isa: jumps
doc: Jumps.
word: [8, 16]
generations: { v1: 1, v2: 2 }
provenance: document
instructions:
  nop:
    doc: Nothing.
    word: 16
    length: "if generation == 1 { 1 } else { 2 }"
    fixed: { 7..0: 0 }
    fields: { z: { bits: 15..8 } }
    where: z == 0
  j:
    doc: Jumps.
    word: 16
    fixed: { 7..0: 0x90 }
    fields: { hi: { bits: 15..12 }, lo: { bits: 11..8 } }
    operands:
      to:
        immediate: signed
        value: "(((hi << 4 | lo) << 56) as i64) >> 56"
        prefix: ""
        target: { from: next, unit: 1 }
"#,
    r#"isa: jumps
doc: Jumps.
word: [8, 32]
generations: { v1: 1, v2: 2 }
provenance: document
instructions:
  nop: { doc: Nothing., word: 8, fixed: { 7..0: 0 } }
  j:
    doc: Jumps.
    word: 32
    length: "if generation == 1 { 2 } else { 4 }"
    fixed: { 7..0: 0x90 }
    fields: { hi: { bits: 31..16 }, lo: { bits: 15..8 } }
    operands:
      to:
        immediate: signed
        value: >-
          if generation == 1 { ((lo << 56) as i64) >> 56 } else { (((hi << 8 | lo) << 40) as i64) >> 40 }
        encode: { lo: value & 255, hi: "if generation == 1 { 0 } else { (value >> 8) & 0xffff }" }
        prefix: ""
        target: { from: next, unit: 1 }
"#,
];

#[test]
fn branches_lead_to_the_same_instructions_though_these_have_other_lengths() {
    let program = b"a: nop\n j b\n nop\n nop\nb: j a\n nop\n j a\n";
    for spec in JUMPS {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("isa.yaml"), spec).expect("the folder is writable");
        let run = |arguments: &[&str]| isaforge_in(folder.path(), arguments, program).expect(0).out().to_owned();
        let assembled = |generation| run(&["asm", "--spec", "isa.yaml", "--generation", generation, "-"]);
        assert_ne!(assembled("v1"), assembled("v2"));
        for (from, to) in [("v1", "v2"), ("v2", "v1"), ("v2", "v2")] {
            let generations = ["--from-generation", from, "--to-generation", to, "--in", "asm", "--out", "hex"];
            let translated = run(&[&["translate", "isa.yaml", "isa.yaml", "-"][..], &generations].concat());
            let bytes = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bytes(&translated), bytes(&assembled(to)), "{from} to {to}\n{spec}");
        }
    }
}

#[test]
fn another_machine_is_a_difference_though_words_read_the_same() {
    let spec = "isa: z\nword: 16\nprovenance: document\nbanks: { r: { count: 8, width: 32, prints: 'r{n}' } }\n\
        semantics: { pc: u32, states: { k: { type: u32 } } }\nmachine: { lanes: 4, divergence: lowest first }\n\
        instructions:\n  inc: { doc: A., fixed: { 15..3: 1 }, operands: { d: { bank: r, bits: 2..0, access: read-write } }, does: 'd = d + 1; k = k + lane' }\n";
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.yaml", "new.yaml"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    fs::write(&old, spec).unwrap();
    for (from, to, told) in [
        ("lanes: 4", "lanes: 8", "property `lanes` changed: 4 → 8"),
        ("lowest first", "masked", "property `divergence` changed: lowest first → masked"),
        ("'r{n}'", "'r{n}', zero: 0", "property `registers r` changed: 32 bits → 32 bits, register 0 is zero"),
        ("u32 } }", "u32, uniform: true } }", "property `state k` changed: u32 → u32, uniform"),
        ("lanes: 4", "lanes: 4, start: 'k = 5'", "property `start` changed: none → k = 5"),
    ] {
        fs::write(&new, spec.replacen(from, to, 1)).unwrap();
        let run = isaforge(&["diff", &old, &new]).expect(0);
        assert!(run.out().contains("definitions: 1 differ") && run.out().contains(told), "{to}: {}", run.out());
    }
}
