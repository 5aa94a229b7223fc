//! Differences between revisions: what has changed, which words read differently, and which are proved to read the
//! same.

use std::path::{Path, PathBuf};

use isaforge_compiler::diff::{Change, Decoding, Diff, Fate, How, Reading, Sort, Subject, diff};
use isaforge_compiler::lower::words;
use isaforge_compiler::{Settings, check_spec};
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::print::{Style, print};
use isaforge_core::sample::{Random, sample};
use isaforge_core::text::Line;

use crate::seed;
use crate::support::{checked, replaced};

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")
}

fn load(path: &Path) -> &'static Isa {
    match check_spec(&Settings::new(path)) {
        Ok(checked) => words(&checked.isa).isa,
        Err(failure) => panic!("{failure}"),
    }
}

const BLINK: &str = r#"
isa: blink
word: 16
banks: { lamp: { count: 8, prints: "l{n}" } }
enums:
  When: { values: [always, lit, dark, ~], default: always }
instructions:
  SET.u8:
    title: Sets a lamp.
    unit: light
    fixed: { 15..12: 0b0001 }
    modifiers: { when: { enum: When, bits: 1..0 } }
    operands:
      dst: { bank: lamp, bits: 11..9, access: write }
      level: { immediate: decimal, bits: 8..2 }
  CLEAR:
    title: Darkens a lamp.
    fixed: { 15..12: 0b0010, 8..1: 0 }
    modifiers: { slow: { bits: 0 } }
    operands: { dst: { bank: lamp, bits: 11..9, access: write } }
  SWAP:
    title: Exchanges two lamps.
    fixed: { 15..12: 0b0011, 5..0: 0 }
    operands:
      a: { bank: lamp, bits: 11..9, access: read-write }
      b: { bank: lamp, bits: 8..6, access: read-write }
"#;

fn of_text(text: &str) -> &'static Isa {
    words(&checked(text).unwrap_or_else(|failure| panic!("{failure}")).isa).isa
}

/// The blink instruction set with some text of its specification replaced.
fn blink(replacements: &[(&str, &str)]) -> &'static Isa {
    of_text(&replaced(BLINK, replacements))
}

fn against(replacements: &[(&str, &str)]) -> Diff {
    diff(blink(&[]), blink(replacements))
}

fn text_of(isa: &'static Isa, word: u64) -> Option<String> {
    let opcode = decode(isa, word).ok()?;
    let mut line = Line::new();
    print(isa, opcode, word, Style::Customary, &mut line);
    Some(line.as_str().to_owned())
}

/// Checks every example on both revisions.
fn check_examples(diff: &Diff, old: &'static Isa, new: &'static Isa) {
    for example in diff.instructions.iter().flat_map(|i| &i.examples) {
        let word = u64::from_str_radix(&example.word, 16).expect("hexadecimal");
        for (isa, reading) in [(old, &example.old), (new, &example.new)] {
            match reading {
                Reading::Text(text) => assert_eq!(text_of(isa, word).as_deref(), Some(text.as_str())),
                Reading::Invalid(_) => assert_eq!(text_of(isa, word), None),
            }
        }
        assert_ne!(example.old, example.new);
    }
}

#[test]
fn a_revision_is_the_same_as_itself() {
    for spec in ["valhall/isa.yaml", "valhall-2021/isa.yaml"] {
        let path = specs().join(spec);
        let diff = diff(load(&path), load(&path));
        assert!(diff.is_empty() && diff.decodes_alike(), "{}", diff.to_text());
        assert_eq!(diff.alike, diff.old.instructions);
    }
}

#[test]
fn a_branch_that_counts_from_elsewhere_is_another() {
    let more = |from: &str| {
        let operand = format!("immediate: signed, bits: 7..0, prefix: '', target: {{ from: {from}, unit: 1 }}");
        format!("  GO: {{ title: Goes., fixed: {{ 15..8: 0 }}, operands: {{ to: {{ {operand} }} }} }}\n  SWAP:")
    };
    let [this, next] = ["this", "next"].map(|from| blink(&[("  SWAP:", &more(from))]));
    let diff = diff(this, next);
    let [changed] = &diff.instructions[..] else { panic!("{}", diff.to_text()) };
    assert_eq!((changed.name(), changed.fate, changed.decoding), ("GO", Fate::Changed, Some(Decoding::Different)));
    assert!(!diff.decodes_alike());
    let text = diff.to_text();
    assert!(text.contains("the branch itself") && text.contains("the next instruction"), "{text}");
}

#[test]
fn an_added_instruction_leaves_old_words_alone() {
    let more = "  NOP: { title: Nothing., fixed: { 15..0: 0 } }\n  SWAP:";
    let diff = against(&[("  SWAP:", more)]);
    assert_eq!(diff.count(Fate::Added), 1);
    assert!(diff.decodes_alike());
    let added = &diff.instructions[0];
    assert_eq!((added.name(), added.decoding), ("NOP", None));
    assert_eq!(added.examples[0].word, "0000");
    assert!(matches!(&added.examples[0].old, Reading::Invalid(_)));
}

#[test]
fn a_removed_instruction_is_named_with_a_word_that_no_longer_decodes() {
    let old = blink(&[]);
    let new = blink(&[("  CLEAR:", "  DARK:"), ("15..12: 0b0010", "15..12: 0b0100")]);
    let diff = diff(old, new);
    assert!(!diff.decodes_alike());
    let removed = diff.instructions.iter().find(|i| i.fate == Fate::Removed).expect("CLEAR is gone");
    assert_eq!(removed.name(), "CLEAR");
    assert!(matches!(&removed.examples[0].new, Reading::Invalid(_)));
    check_examples(&diff, old, new);
}

#[test]
fn a_renamed_instruction_keeps_its_bits_but_not_its_text() {
    let diff = against(&[("  CLEAR:", "  DARK:")]);
    let renamed = &diff.instructions[0];
    assert_eq!((renamed.fate, renamed.decoding), (Fate::Renamed, Some(Decoding::Different)));
    let example = &renamed.examples[0];
    assert_eq!((&example.old, &example.new), (&Reading::Text("CLEAR l0".into()), &Reading::Text("DARK l0".into())));
}

#[test]
fn a_moved_instruction_shows_both_patterns() {
    let diff = against(&[("15..12: 0b0010", "15..12: 0b0100")]);
    let moved = &diff.instructions[0];
    assert_eq!((moved.fate, moved.name()), (Fate::Moved, "CLEAR"));
    assert!(
        diff.to_text().contains("opcode bits: 15..12 = 0x2, 8..1 = 0x0 → 15..12 = 0x4, 8..1 = 0x0"),
        "{}",
        diff.to_text()
    );
}

#[test]
fn swapped_operand_fields_are_found_by_bits_and_by_words() {
    let old = blink(&[]);
    let new = blink(&[
        ("a: { bank: lamp, bits: 11..9,", "a: { bank: lamp, bits: 8..6,"),
        ("b: { bank: lamp, bits: 8..6,", "b: { bank: lamp, bits: 11..9,"),
    ]);
    let diff = diff(old, new);
    let swap = &diff.instructions[0];
    assert_eq!((swap.fate, swap.name(), swap.decoding), (Fate::Changed, "SWAP", Some(Decoding::Different)));
    assert!(swap.changes.contains(&Change {
        subject: Subject::Operand,
        how: How::Moved,
        name: "a".into(),
        old: "bits 11..9".into(),
        new: "bits 8..6".into()
    }));
    check_examples(&diff, old, new);
}

#[test]
fn what_no_text_shows_is_a_change_that_old_binaries_survive() {
    let diff = against(&[
        ("unit: light", "unit: lamp"),
        ("a: { bank: lamp, bits: 11..9, access: read-write", "a: { bank: lamp, bits: 11..9, access: write"),
    ]);
    assert!(diff.decodes_alike() && !diff.is_empty());
    let subjects: Vec<Subject> = diff.instructions.iter().flat_map(|i| &i.changes).map(|c| c.subject).collect();
    assert_eq!(subjects, [Subject::Unit, Subject::Access]);
}

#[test]
fn a_limit_that_counts_other_operands_has_changed() {
    let limited = |limits: &str| {
        let sources = "kinds:\n  source:\n    width: 4\n    alternatives:\n      \
                       lamp: { fixed: { 3: 0 }, fields: { n: { bank: lamp, bits: 2..0 } }, text: \"{n}\" }\n      \
                       low: { fixed: { 3..2: 2 }, fields: { n: { number: decimal, bits: 1..0 } }, text: \"#{n}\" }\n      \
                       high: { fixed: { 3..2: 3 }, fields: { n: { number: decimal, bits: 1..0 } }, text: \"@{n}\" }\n";
        let sum = "  SUM:\n    title: Adds.\n    fixed: { 15..12: 4, 11..8: 0 }\n    \
                   operands: { a: { kind: source, at: 0 }, b: { kind: source, at: 4 } }\n";
        let limits = format!("limits: [{{ name: numbers, kind: source, at most: 1, {limits} }}]\n");
        let instructions = format!("{sources}{limits}instructions:\n{sum}");
        blink(&[("instructions:\n", &instructions)])
    };
    let old = limited("alternatives: [low]");
    for (limits, new) in [
        ("alternatives: [low, high]", "`low`, `high` of `source`"),
        ("alternatives: [low], drop: 1", "`low` of `source`, without 1 low bits"),
    ] {
        let diff = diff(old, limited(limits));
        assert!(diff.decodes_alike());
        let [definition] = &diff.definitions[..] else { panic!("{}", diff.to_text()) };
        assert_eq!((definition.sort, definition.how, definition.name.as_str()), (Sort::Limit, How::Changed, "numbers"));
        let [change] = &definition.changes[..] else { panic!("{}", diff.to_text()) };
        assert_eq!((change.old.as_str(), change.new.as_str()), ("`low` of `source`", new));
    }
    assert!(diff(old, limited("alternatives: [low]")).is_empty());
}

#[test]
fn an_enum_that_gains_a_value_extends_and_one_that_loses_a_value_breaks() {
    let gained = against(&[("dark, ~]", "dark, blinking]")]);
    assert!(gained.decodes_alike());
    let value = &gained.definitions[0];
    assert_eq!(
        (value.sort, value.changes[0].how, value.changes[0].name.as_str()),
        (Sort::Enum, How::Added, "blinking")
    );
    // The instruction itself did not change, but more of its words decode.
    assert_eq!(gained.instructions[0].fate, Fate::Affected);
    assert!(matches!(&gained.instructions[0].examples[0].old, Reading::Invalid(_)));
    let lost = against(&[("lit, dark, ~]", "lit, ~, ~]")]);
    assert!(!lost.decodes_alike());
    assert_eq!(lost.definitions[0].changes[0].how, How::Removed);
    let renamed = against(&[("lit, dark, ~]", "lit, unlit, ~]")]);
    assert_eq!(renamed.definitions[0].changes[0].to_string(), "value `dark` renamed: `unlit`");
    assert!(!renamed.decodes_alike());
    let other_default = against(&[("default: always", "default: lit")]);
    assert!(!other_default.decodes_alike());
    assert_eq!(other_default.definitions[0].changes[0].subject, Subject::Default);
}

#[test]
fn a_renamed_enum_with_the_same_values_changes_nothing_else() {
    let diff = against(&[("  When: {", "  Occasion: {"), ("enum: When", "enum: Occasion")]);
    assert!(diff.decodes_alike() && diff.instructions.is_empty());
    assert_eq!((diff.definitions[0].how, diff.definitions[0].renamed.as_str()), (How::Renamed, "Occasion"));
}

#[test]
fn bits_that_become_a_modifier_extend_and_bits_that_stop_being_one_break() {
    let fewer = [(
        "fixed: { 15..12: 0b0010, 8..1: 0 }\n    modifiers: { slow: { bits: 0 } }",
        "fixed: { 15..12: 0b0010, 8..0: 0 }",
    )];
    let (with, without) = (blink(&[]), blink(&fewer));
    let extended = diff(without, with);
    assert!(extended.decodes_alike(), "{}", extended.to_text());
    assert_eq!(extended.instructions[0].examples[0].new, Reading::Text("CLEAR.slow l0".into()));
    let broken = diff(with, without);
    assert!(!broken.decodes_alike());
    check_examples(&broken, with, without);
}

#[test]
fn a_split_instruction_names_its_heirs() {
    let split = [
        ("  CLEAR:", "  CLEAR_FAST:"),
        (
            "fixed: { 15..12: 0b0010, 8..1: 0 }\n    modifiers: { slow: { bits: 0 } }",
            "fixed: { 15..12: 0b0010, 8..0: 0 }",
        ),
        (
            "  SWAP:",
            "  CLEAR_SLOW:\n    title: Slowly.\n    fixed: { 15..12: 0b0010, 8..1: 0, 0: 1 }\n    operands: { dst: { bank: lamp, bits: 11..9, access: write } }\n  SWAP:",
        ),
    ];
    let diff = against(&split);
    let removed = &diff.instructions[0];
    assert_eq!(
        (removed.fate, &removed.related[..]),
        (Fate::Removed, &["CLEAR_FAST".to_owned(), "CLEAR_SLOW".to_owned()][..])
    );
    let added: Vec<_> = diff.instructions.iter().filter(|i| i.fate == Fate::Added).collect();
    assert!(added.len() == 2 && added.iter().all(|a| a.related == ["CLEAR"]));
}

#[test]
fn wide_numbers_are_proved_alike_by_their_type() {
    let wide = |prefix: &str, bits: &str| {
        of_text(&format!(
            "isa: wide\nword: 64\ninstructions:\n  LOAD: {{ title: Loads., fixed: {{ 63..48: 1{bits} }}, operands: {{ value: {{ immediate: hex, bits: 39..0, prefix: \"{prefix}\" }} }} }}\n"
        ))
    };
    assert!(diff(wide("#", ", 47..40: 0"), wide("#", ", 47..40: 0")).decodes_alike());
    let other = diff(wide("#", ", 47..40: 0"), wide("$", ", 47..40: 0"));
    assert_eq!((other.different, other.unproven), (1, 0));
}

/// The decision agrees with brute force: two revisions differ exactly if any of all 65,536 words shows it.
#[test]
fn the_verdict_on_every_pair_of_small_revisions_is_what_all_words_say() {
    let revisions: Vec<Vec<(&str, &str)>> = vec![
        vec![],
        vec![("dark, ~]", "dark, blinking]")],
        vec![("default: always", "default: lit")],
        vec![("count: 8", "count: 6")],
        vec![("prints: \"l{n}\"", "prints: \"lamp{n}\"")],
        vec![("bits: 8..2 }", "bits: [2, 8..3] }")],
        vec![(
            "8..1: 0 }\n    modifiers: { slow: { bits: 0 } }",
            "8..2: 0 }\n    modifiers: { slow: { bits: 0 }, soft: { bits: 1 } }",
        )],
        vec![("15..12: 0b0011, 5..0: 0 }", "15..12: 0b0011, 5..4: 0 }\n    ignored: 3..0")],
        vec![("immediate: decimal", "immediate: signed")],
        vec![("SWAP", "XCHG")],
    ];
    let isas: Vec<&'static Isa> = revisions.iter().map(|r| blink(r)).collect();
    let mut alike = 0;
    for old in &isas {
        for new in &isas {
            let diff = diff(*old, *new);
            let truth = (0..=0xffff).all(|w| text_of(old, w).is_none_or(|text| text_of(new, w) == Some(text)));
            assert_eq!(diff.decodes_alike(), truth, "{}", diff.to_text());
            assert_eq!(diff.unproven, 0);
            check_examples(&diff, old, new);
            alike += usize::from(truth);
        }
    }
    assert!(alike > isas.len(), "some revisions extend others");
}

#[test]
fn the_two_documents_of_one_family_compare_in_full() {
    let (old, new) = (load(&specs().join("valhall-2021/isa.yaml")), load(&specs().join("valhall/isa.yaml")));
    let diff = diff(old, new);
    check_examples(&diff, old, new);
    assert_eq!((diff.old.instructions, diff.new.instructions), (190, 238));
    assert!(!diff.decodes_alike());
    let text = diff.to_text();
    if std::env::var_os("SHOW").is_some() {
        println!("{text}\n{}", diff.to_markdown());
    }
    for (i, form) in old.forms.iter().enumerate() {
        let listed = diff.instructions.iter().find(|d| d.old.as_ref().is_some_and(|o| o.name == form.name.str));
        let alike = listed.is_none_or(|l| l.decoding == Some(Decoding::Alike));
        let mut random = Random(seed::seed(i as u64));
        for _ in 0..200 {
            let word = sample(old, i as u16, &mut random);
            assert!(!alike || text_of(old, word) == text_of(new, word), "{} is proved alike", form.name.str);
        }
    }
}

#[test]
fn words_of_another_size_are_another_instruction_set() {
    let diff = diff(blink(&[]), load(&specs().join("valhall/isa.yaml")));
    assert!(!diff.decodes_alike());
    assert!(diff.to_text().contains("Words had 16 bits and have 64 now"));
}

#[test]
fn every_rendering_has_every_instruction_and_every_example() {
    let (old, new) = (load(&specs().join("valhall-2021/isa.yaml")), load(&specs().join("valhall/isa.yaml")));
    let diff = diff(old, new);
    let (text, markdown) = (diff.to_text(), diff.to_markdown());
    let json: serde_json::Value = serde_json::from_str(&diff.to_json()).expect("JSON");
    assert_eq!(json["decodes_alike"], false);
    assert_eq!(json["new"]["instructions"], 238);
    assert_eq!(json["summary"]["added"], diff.count(Fate::Added));
    let entries = json["instructions"].as_array().expect("a list");
    assert_eq!(entries.len(), diff.instructions.len());
    for (entry, expected) in entries.iter().zip(&diff.instructions) {
        assert_eq!(entry["name"], expected.name());
        assert_eq!(entry["changes"].as_array().map(Vec::len), Some(expected.changes.len()));
        for (example, expected) in entry["examples"].as_array().expect("a list").iter().zip(&expected.examples) {
            let word = &expected.word;
            assert_eq!(example["word"], word.as_str());
            assert!(text.contains(word) && markdown.contains(word), "{word}");
            if let Reading::Text(reading) = &expected.old {
                assert_eq!(example["old"]["text"], reading.as_str());
                assert!(text.contains(reading) && markdown.contains(reading), "{reading}");
            }
        }
    }
    // A change common to all instructions is reported once.
    assert_eq!(diff.common.len(), 1);
    assert_eq!(text.matches("modifier `immediate_mode` removed").count(), 1);
    // Code spans are delimited correctly, although their text contains backticks.
    assert!(!markdown.contains("```"));
}
