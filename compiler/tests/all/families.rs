//! Families of instructions, rulings, and values whose text differs from their names.

use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::table::Isa;
use isaforge_core::text::Line;

use crate::support::compiled;

const SPEC: &str = r##"
isa: toy
word: 16
provenance: document
rulings:
  wrap: { rule: "Numbers wrap.", reason: "Adders do." }
  order: { rule: "Low first.", reason: "It is usual." }
banks: { lamp: { count: 8, prints: "l{n}" } }
enums:
  Write:
    values: [{ name: if_set, prints: "w?" }, { name: if_clear, prints: "w!" }, { name: never, prints: "_" }, { name: always, prints: "w" }]
kinds:
  target:
    width: 5
    rulings: [order]
    alternatives:
      lamp:
        fields: { index: { bank: lamp, bits: 4..2 }, write: { enum: Write, bits: 1..0 } }
        text: "{index}.{write}"
instructions:
  READ{N}:
    title: read buffer {N}
    family: { parameter: N, count: 3, bits: [12, 8] }
    fixed: { 15..13: 0b001 }
    ignored: [11..9, 7..5]
    operands: { to: { kind: target, at: 0, access: write } }
    rulings: [wrap]
"##;

fn tables(spec: &str) -> Result<&'static Isa, String> {
    compiled(spec).map(|compiled| compiled.lowered.words().expect("it has words").isa)
}

#[test]
fn a_family_is_an_instruction_for_each_number() {
    let isa = tables(SPEC).expect("the specification is right");
    let names: Vec<&str> = isa.forms.iter().map(|f| f.name.str).collect();
    assert_eq!(names, ["READ0", "READ1", "READ2"]);
    // The number consists of bit 12 and, below it, bit 8.
    let values: Vec<u64> = isa.forms.iter().map(|f| f.match_value).collect();
    assert_eq!(values, [0x2000, 0x2100, 0x3000]);
    assert_eq!(isa.forms[2].title, "read buffer 2");
}

#[test]
fn notes_list_rulings_of_kinds_and_instructions() {
    let isa = tables(SPEC).expect("the specification is right");
    let expected = "order (assumed): Low first. Reason: It is usual.\nwrap (assumed): Numbers wrap. Reason: Adders do.";
    assert_eq!(isa.forms[0].note, expected);
}

#[test]
fn values_print_as_they_are_written_and_are_called_by_their_names() {
    let isa = tables(SPEC).expect("the specification is right");
    for (text, word) in
        [("READ1 l5.w?", 0x2114), ("READ1 l5.w!", 0x2115), ("READ1 l5._", 0x2116), ("READ1 l5.w", 0x2117)]
    {
        assert_eq!(parse(isa, text), Ok((1, word)));
        let mut line = Line::new();
        print(isa, 1, word, Style::Customary, &mut line);
        assert_eq!(line.as_str(), text);
    }
    let value = isa.enums[0].value(0).expect("0 has a name");
    assert_eq!((value.name, value.text), ("if_set", "w?"));
}

#[test]
fn the_exact_text_keeps_ignored_bits() {
    let isa = tables(SPEC).expect("the specification is right");
    let mut line = Line::new();
    print(isa, 0, 0x2aa3, Style::Exact, &mut line);
    assert_eq!(line.as_str(), "READ0 l0.w ~0xAA0");
    assert_eq!(parse(isa, line.as_str()), Ok((0, 0x2aa3)));
    assert!(parse(isa, "READ0 l0.w ~0x2000").is_err(), "bit 13 is not ignored");
    assert!(parse(isa, "READ0 l0.w ~").is_err(), "a number belongs there");
}

#[test]
fn mistakes_in_families_and_rulings_are_reported() {
    let says = |from: &str, to: &str, expected: &str| {
        let spec = SPEC.replace(from, to);
        assert!(spec != SPEC, "{from} is there");
        let report = tables(&spec).expect_err("there is a mistake");
        assert!(report.contains(expected), "{report}");
    };
    says("count: 3", "count: 5", "a family of 5 does not fit 2 bits");
    says("count: 3", "count: 0", "a family of 0 does not fit 2 bits");
    says("  READ{N}:", "  READ:", "all instructions of the family would be called `READ`");
    says("rulings: [wrap]", "rulings: [wrapp]", "there is no ruling called `wrapp`");
    says("prints: \"w!\"", "prints: \"w?\"", "`w?` is defined twice");
}

#[test]
fn parameters_of_a_row_stand_in_keys_as_well() {
    let rows = |rows: &str| {
        let rest = "doc: D., fixed: { $at: 1, 15..8: $op }, operands: { $name: { immediate: decimal, bits: 3..0 } }";
        tables(&format!(
            "isa: toy\nword: 16\nprovenance: document\nevery: {{ unused: zero }}\n\
             instructions: {{ R: {{ rows: {{ {rows} }}, {rest} }} }}\n"
        ))
    };
    let isa =
        rows("a: { op: 0, at: 4, name: one }, b: { op: 1, at: 7..5, name: two }").expect("the specification is right");
    let found: Vec<_> = isa.forms.iter().map(|f| (f.name.str, f.match_value, f.operands[0].name)).collect();
    assert_eq!(found, [("a", 0x10, "one"), ("b", 0x120, "two")]);
    for (wrong, expected) in [
        ("a: { op: 0, at: 15..8, name: one }", "the key `15..8` is given twice"),
        ("a: { op: 0, at: 4 }", "this row has no value for `$name`"),
        ("a: { op: 0, at: [4], name: one }", "`$at` cannot be a key"),
    ] {
        let report = rows(wrong).expect_err("there is a mistake");
        assert!(report.contains(expected) && report.matches("error").count() < 3, "{report}");
    }
    let dollar = "isa: toy\nword: 16\nprovenance: document\nevery: { unused: zero }\n\
                  instructions: { R: { rows: { a: { op: 0 } }, doc: Costs $ 1., fixed: { 15..8: $op } } }\n";
    assert!(tables(dollar).expect_err("a name is missing").contains("write `$$` for a dollar"));
    assert_eq!(tables(&dollar.replace("$ 1", "$$ 1")).expect("it is right").forms[0].doc, "Costs $ 1.");
}
