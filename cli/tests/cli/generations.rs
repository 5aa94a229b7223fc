//! `explain`, `list` and the manual for sets with generations, states and instructions of several lengths.

use super::*;

const SPEC: &str = "isa: ac
doc: An accumulator machine.
word: [8, 16]
generations: { v1: 1, v2: 2 }
provenance: document
banks: { r: { count: 8, width: 16, prints: \"r{n}\" } }
enums:
  K: { bits: 1, values: [a, { name: b, since: v2 }] }
  L: { bits: 1, values: [x, y] }
semantics:
  pc: u32
  states:
    acc: { type: u16, doc: The accumulator. }
    carry: { type: bool, doc: The carry. }
    sp: { type: u16, register: r3, doc: The stack. }
instructions:
  i: { doc: Does nothing., word: 8, fixed: { 7..1: 8 }, modifiers: { k: { enum: K, bits: 0 } }, does: nop }
  l: { doc: Does nothing., word: 8, fixed: { 7..1: 9 }, modifiers: { l: { enum: L, bits: 0 } }, does: nop }
  n: { doc: Moves the stack., word: 8, fixed: { 7..0: 9 }, does: \"sp = sp - 2\" }
  add: { doc: Adds., word: 8, fixed: { 7..3: 4 }, operands: { r: { bank: r, bits: 2..0 } }, does: \"let s = zext(u32, acc) + zext(u32, r); carry = s[16]; acc = trunc(u16, s)\" }
  mul: { doc: Multiplies., since: v2, word: 8, fixed: { 7..3: 5 }, operands: { r: { bank: r, bits: 2..0 } }, does: acc = acc * r }
  j: { doc: Nothing., until: v1, word: 8, fixed: { 7..0: 3 }, does: nop }
  w: { doc: Has constants apart., word: 16, fixed: { 15..5: 0x26, 1..0: 3 }, operands: { r: { bank: r, bits: 4..2 } }, does: acc = r }
machine: {}
";

fn spec() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("isa.yaml"), SPEC).expect("it is written");
    folder
}

fn explain(generation: &str, what: &[&str]) -> Run {
    let arguments = [&["explain", "--spec", "isa.yaml", "--generation", generation], what].concat();
    isaforge_in(spec().path(), &arguments, b"")
}

#[test]
fn instructions_of_other_generations_are_named_with_theirs() {
    for (generation, name, message) in [
        ("v1", "mul", "`mul` exists since `v2`, and not in `v1`"),
        ("v2", "j", "`j` exists until `v1`, and not in `v2`"),
    ] {
        for json in [&[][..], &["--json"]] {
            let run = explain(generation, &[&[name], json].concat()).expect(1);
            assert!(run.out.is_empty() && run.err.contains(message), "{}{}", run.out(), run.err);
            assert!(run.err.contains("`--generation`"), "{}", run.err);
        }
    }
    assert!(explain("v2", &["mul"]).expect(0).out().contains("in        v2\n"));
    assert!(explain("v1", &["j"]).expect(0).out().contains("in        v1\n"));
    let run = isaforge_in(spec().path(), &["explain", "--spec", "isa.yaml", "add"], b"").expect(2);
    assert!(run.err.contains("choose one with `--generation`: `v1` or `v2`"), "{}", run.err);
}

#[test]
fn enums_have_the_values_of_the_generation_and_no_parts() {
    for (generation, expected) in [("v1", &["K", "0  a"][..]), ("v2", &["K", "0  a", "1  b"])] {
        let run = explain(generation, &["K"]).expect(0);
        let lines: Vec<&str> = run.out().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, expected);
    }
    assert!(explain("v2", &["K", "--json"]).expect(0).out().contains(r#""name":"K""#));
    let run = isaforge_in(spec().path(), &["check", "isa.yaml"], b"").expect(0);
    assert!(run.out().contains(", 2 enums, "), "{}", run.out());
    for (generation, known) in [("v1", false), ("v2", true)] {
        let folder = spec();
        let manual = ["manual", "isa.yaml", "--generation", generation, "-o", "pages"];
        isaforge_in(folder.path(), &manual, b"").expect(0);
        let page = |name: &str| fs::read_to_string(folder.path().join("pages").join(name)).expect("the page is there");
        let values = page("values.html");
        assert!(values.contains("2 lists") && !values.contains(" since "), "{values}");
        assert_eq!(values.contains("<code>b</code>"), known, "{values}");
        assert_eq!(page("i/i.html").contains("<code>b</code>"), known);
        // None of the values is implied.
        assert!(!page("i/i.html").contains("(default)") && !page("i/l.html").contains("(default)"));
    }
}

#[test]
fn constants_are_numbers_without_the_bits_between_them() {
    let run = explain("v2", &["w"]).expect(0);
    assert!(run.out().contains("15..5, 1..0  constant  0x9b"), "{}", run.out());
}

#[test]
fn registers_and_states_without_an_operand_are_named() {
    let run = explain("v2", &["n"]).expect(0);
    assert!(run.out().contains("reads     r3 (sp)\n") && run.out().contains("writes    r3 (sp)\n"), "{}", run.out());
    let run = explain("v2", &["add r1"]).expect(0);
    for part in ["reads     r1 (r), acc\n", "writes    carry, acc\n"] {
        assert!(run.out().contains(part), "{part} is missing in {}", run.out());
    }
    let object = |run: Run| serde_json::from_str::<serde_json::Value>(run.expect(0).out()).expect("it is JSON");
    let found = object(explain("v2", &["add r1", "--json"]));
    assert_eq!(found["implied"], serde_json::json!({ "reads": ["acc"], "writes": ["carry", "acc"] }));
    assert_eq!(object(explain("v2", &["n", "--json"]))["implied"]["writes"][0], "r3");
    let list = |json: &[&str]| {
        let arguments = [&["list", "--spec", "isa.yaml", "--generation", "v2", "stack"], json].concat();
        isaforge_in(spec().path(), &arguments, b"")
    };
    assert!(list(&[]).expect(0).out().contains("r3 ← r3"));
    let found = object(list(&["--json"]));
    assert_eq!((&found["reads"][0], &found["writes"][0]), (&"r3".into(), &"r3".into()));
}

#[test]
fn wires_of_groups_are_not_listed() {
    // The predicate stays; the operands of the parts are wires.
    let listed = isaforge(&["list", "usc", "--json"]).expect(0);
    let wires = ["w0", "ft0", "fte", "driven0", "packed0"].map(|wire| format!("\"{wire}\""));
    for line in listed.out().lines() {
        let object: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        let used = format!("{}{}", object["reads"], object["writes"]);
        assert!(wires.iter().all(|wire| !used.contains(wire)), "{line}");
    }
    assert!(listed.out().contains("\"p0\""));
}
