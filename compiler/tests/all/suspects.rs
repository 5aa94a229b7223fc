//! In a conflict of two sides, the mark is on the one that the rest of a specification contradicts.
//!
//! In these specifications, `# here` ends the lines with a primary mark; every message is represented by its marks
//! alone.

use std::collections::BTreeSet;

use isaforge_compiler::check_spec;

use crate::support::{checked, folder, found, settings};

/// The distinct codes found in a specification. Fails unless the primary marks are on the lines ending in `# here`.
fn marked(text: &str) -> Vec<&'static str> {
    let Err(failure) = checked(text) else { panic!("nothing is wrong with\n{text}") };
    let found = failure.diagnostics.iter().flat_map(|found| found.suspects());
    let lines: BTreeSet<usize> = found.map(|span| failure.sources.line_column(span).0).collect();
    let meant = text.lines().enumerate().filter(|(_, line)| line.ends_with("# here")).map(|(i, _)| i + 1);
    assert_eq!(lines, meant.collect(), "{failure}");
    failure.diagnostics.iter().map(|found| found.code).collect::<BTreeSet<_>>().into_iter().collect()
}

const HEAD: &str = "isa: blink
word: 16
provenance: document
every: { unused: zero }
";

#[test]
fn a_flag_that_lies_elsewhere_than_all_others_of_its_name_is_wrong() {
    let of = |name: &str, opcode: u32, bits: u32, mark: &str| {
        format!(
            "  {name}:
    title: t
    fixed: {{ 15..12: {opcode} }}
    modifiers: {{ fast: {{ bits: {bits} }} }}{mark}
    operands: {{ level: {{ immediate: decimal, bits: 7..0 }} }}
"
        )
    };
    let text = [of("A", 1, 8, ""), of("B", 2, 8, ""), of("C", 3, 8, ""), of("D", 4, 7, " # here")].concat();
    assert_eq!(marked(&format!("{HEAD}instructions:\n{text}")), ["E0107"]);
}

#[test]
fn both_sides_are_marked_where_nothing_speaks_for_either() {
    let text = "instructions:
  A:
    title: t
    fixed: { 15..12: 1 } # here
    operands: { level: { immediate: decimal, bits: 12..0 } } # here
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0107"]);
    let text = "instructions:
  A:
    title: t
    fixed: { 15..12: 1 } # here
  B:
    title: t
    fixed: { 15..12: 1 } # here
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0106"]);
}

#[test]
fn a_definition_that_nothing_uses_is_misspelt_if_several_uses_agree() {
    let text = "banks:
  lmap: { count: 8, prints: \"l{n}\" } # here
instructions:
  A:
    title: t
    operands: { a: { bank: lamp, bits: 2..0 }, b: { bank: lamp, bits: 5..3 } }
    syntax: \"{mnemonic} {a}, {b}\"
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0101"]);
    let text = "banks:
  lamp: { count: 8, prints: \"l{n}\" }
instructions:
  A:
    title: t
    operands:
      a: { bank: lamp, bits: 2..0 }
      b: { bank: lmap, bits: 5..3 } # here
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0101"]);
    let text = "banks:
  lmap: { count: 8, prints: \"l{n}\" } # here
instructions:
  A:
    title: t
    operands:
      a: { bank: lamp, bits: 2..0 } # here
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0101"]);
}

#[test]
fn a_list_that_no_field_holds_is_too_long_and_a_field_among_others_too_narrow() {
    let of = |third: &str, marks: [&str; 3]| {
        format!(
            "enums:
  Speed:
    values: [slow, fast, faster{third}]{}
instructions:
  A:
    title: t
    fixed: {{ 15: 0 }}
    modifiers: {{ speed: {{ enum: Speed, bits: 1..0 }} }}{}
  B:
    title: t
    fixed: {{ 15: 1 }}
    modifiers: {{ speed: {{ enum: Speed, bits: 1..0 }} }}{}
",
            marks[0], marks[1], marks[2]
        )
    };
    let long = of(", fastest, late", [" # here", "", ""]);
    assert_eq!(marked(&format!("{HEAD}{long}")), ["E0108"]);
    let narrow = of(", fastest", ["", "", " # here"]).replace("bits: 1..0 } } # here", "bits: 0 } } # here");
    assert_eq!(marked(&format!("{HEAD}{narrow}")), ["E0108"]);
}

#[test]
fn yaml_that_ends_in_the_wrong_place_is_marked_where_it_should_have_ended() {
    assert_eq!(marked("isa: blink\ndoc: \"a # here\nword: 8\n"), ["E0001"]);
    assert_eq!(marked("isa: blink\nbanks: { a: 1 # here\nword: 8\nenums: {}\n"), ["E0001"]);
}

#[test]
fn what_several_places_use_and_nothing_defines_is_missing_where_it_should_be_defined() {
    let text = "enums:
  Speed:
    values: [slow, fast] # here
    default: slow
instructions:
  A:
    title: t
    fixed: { 15: 0 }
    modifiers: { speed: { enum: Speed, bits: 0, default: warp } }
  B:
    title: t
    fixed: { 15: 1 }
    modifiers: { speed: { enum: Speed, bits: 0, default: warp } }
";
    assert_eq!(marked(&format!("{HEAD}{text}")), ["E0101"]);
}

#[test]
fn a_source_that_stands_twice_is_marked_the_second_time() {
    let document = &isaforge_compiler::catalogue::BASES[0];
    let text = "<isa>
  <ins name=\"ADD\" title=\"Add\" opcode=\"0x1\">
    <src>A</src>
    <src>A</src>
  </ins>
</isa>
";
    let files = [(document.name, document.text), ("isa.yaml", "base: document.yaml\n"), ("isa.xml", text)];
    let (diagnostics, sources) = found(check_spec(&settings(&folder(&files))));
    let found = diagnostics.iter().find(|found| found.code == "W0210").expect("it is seen");
    let lines: Vec<usize> = found.suspects().map(|span| sources.line_column(span).0).collect();
    assert_eq!(lines, [4]);
}
