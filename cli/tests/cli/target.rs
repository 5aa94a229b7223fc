use super::*;

fn specification(name: &str) -> String {
    format!("{}/../specs/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_specification_is_used_without_generating_anything() {
    let spec = data("blink.yaml");
    let spec = spec.to_str().expect("the path is text");
    let words = isaforge_with(&["asm", "--spec", spec], "SET.u8.lit l3, #200\n").expect(0);
    assert_eq!(words.out(), "1dc8\n");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("words.hex"), "1dc8 1c07").expect("the file is written");
    let equals = format!("--spec={spec}");
    for arguments in [
        ["dis", "--spec", spec, "words.hex"],
        ["dis", "words.hex", "--spec", spec],
        ["dis", &equals, "--", "words.hex"],
    ] {
        let run = isaforge_in(folder.path(), &arguments, b"").expect(0);
        assert_eq!(run.out(), "SET.u8.lit l3, #200\nSET.u8 l3, #7\n");
    }
    for what in [&["1dc8"][..], &["SET.u8.lit", "l3,", "#200"]] {
        let run = isaforge(&[&["explain", "--spec", spec], what].concat()).expect(0);
        assert!(run.out().starts_with("1dc8  SET.u8.lit l3, #200\n"), "{}", run.out());
    }
}

#[test]
fn a_specification_and_its_generated_crate_say_the_same() {
    for isa in ["valhall", "valhall-2021", "vpu"] {
        let (spec, mut random) = (specification(isa), isaforge_core::sample::Random(seed::seed(5)));
        let tables = isaforge_cli::builtin::find(isa).and_then(|found| found.words()).expect("it is built in");
        let mut words = String::new();
        for round in 0..6000u64 {
            let opcode = (round % tables.forms.len() as u64) as u16;
            let word = isaforge_core::sample::sample(tables, opcode, &mut random);
            let noise = if round % 3 == 0 { 1 << random.below(64) } else { 0 };
            words.push_str(&format!("{:016x}\n", word ^ noise));
        }
        let built_in = isaforge_with(&["dis", isa, "--tsv", "--exact"], &words);
        let from_spec = isaforge_with(&["dis", "--spec", &spec, "--tsv", "--exact"], &words);
        assert_eq!((built_in.status, built_in.out()), (from_spec.status, from_spec.out()), "{isa}");
        let texts = built_in.out().lines().filter_map(|line| line.split_once("\tok\t"));
        let texts: String = texts.map(|(_, text)| format!("{text}\n")).collect();
        let (a, b) = (isaforge_with(&["asm", isa], &texts), isaforge_with(&["asm", "--spec", &spec], &texts));
        assert_eq!((a.status, a.out(), &a.err), (b.status, b.out(), &b.err), "{isa}");
    }
}

#[test]
fn mistakes_of_the_specification_are_drawn_with_status_1() {
    for command in [&["dis"][..], &["asm"], &["explain"]] {
        let what: &[&str] = if command == ["explain"] { &["0000"] } else { &[] };
        let run = isaforge(&[command, &["--spec", "tests/data/wrong.yaml"], what].concat()).expect(1);
        assert!(run.out.is_empty());
        assert!(run.err.contains("tests/data/wrong.yaml:") && run.err.contains("^"), "{}", run.err);
        assert!(run.err.trim_end().ends_with("failed: 1 error"), "{}", run.err);
    }
}

#[test]
fn a_specification_that_is_not_there_or_named_twice_is_a_misuse() {
    isaforge(&["dis", "--spec", "no-such-file.yaml"]).expect(2);
    isaforge(&["dis", "--spec"]).expect(2);
    // Without an argument, the whole set is explained.
    isaforge(&["explain", "--spec", "tests/data/blink.yaml"]).expect(0);
    // With a specification, the first argument is the file.
    let run = isaforge(&["dis", "--spec", "tests/data/blink.yaml", "valhall"]).expect(2);
    assert!(run.err.contains("cannot read `valhall`"), "{}", run.err);
    isaforge(&["dis", "--spec", "tests/data/blink.yaml", "valhall", "words.hex"]).expect(2);
    isaforge(&["dis", "--spec", "tests/data/blink.yaml", "--no-instruction-set", "valhall"]).expect(2);
}
