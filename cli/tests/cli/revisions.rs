use super::*;

/// A specification in a folder of its own: that of the test data, changed.
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
    // Another name for the same bits is a change that old binaries do not notice until they are printed.
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
    // A word that is only read changes no word and is told all the same.
    let (_folder, new) = changed("name: lit,", "name: lit, also: [bright, on],");
    let run = isaforge(&["diff", BLINK, &new]).expect(0);
    assert!(run.out().contains("value `lit` changed: no other word → also `bright`, `on`"), "{}", run.out());
    let run = isaforge(&["diff", "valhall-2021", "valhall"]).expect(1);
    assert!(run.out().contains("removed instructions: "), "{}", run.out());
}

#[test]
fn what_cannot_be_compared_is_a_misuse() {
    let run = isaforge(&["diff", "valhall", "valhal-2021"]).expect(2);
    assert!(run.err.contains("`valhal-2021` is no instruction set and no file"), "{}", run.err);
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
    // Real words, by name and without any specification at hand.
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
    // A table has no labels: the words are no program.
    let table = isaforge_with(&["dis", "valhall-2021", "--tsv"], words.collect::<Vec<_>>().join("\n")).expect(0);
    let (mut said, mut unsaid) = (Vec::new(), Vec::new());
    for line in table.out().lines().filter_map(|row| row.split('\t').nth(2)) {
        let run = isaforge_with(&["asm", "valhall"], line);
        if run.status == 0 { said.push(line) } else { unsaid.push((line.to_owned(), run.err)) }
    }
    // What is said is what the model proves to mean the same.
    let said = said.join("\n");
    let assembled = isaforge_with(&["asm", "valhall"], &said).expect(0);
    let translated = isaforge_with(&["translate", "valhall-2021", "valhall", "--out", "hex"], &said).expect(0);
    assert_eq!(assembled.out(), translated.out());
    assert!(
        said.contains("`r1") && said.contains(".return") && said.contains("atest_datum") && said.lines().count() > 50,
        "{said}"
    );
    // The rest does not exist any more, and it is named.
    let [(line, error)] = &unsaid[..] else { panic!("{unsaid:?}") };
    assert!(line.starts_with("TEX.computed.2d.slot0 "), "{line}");
    assert!(error.contains("no instruction is called `TEX.computed.2d.slot0`"), "{error}");
}
