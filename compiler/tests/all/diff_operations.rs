//! What instructions do, in two revisions.

use isaforge_compiler::Settings;
use isaforge_compiler::diff::{Change, Diff, How, Revision, Subject, diff, diff_streams};
use isaforge_compiler::load::load;
use isaforge_core::Tables;

const SPEC: &str = r#"
isa: lamps
word: 16
banks: { lamp: { count: 8, prints: "l{n}", width: 16 } }
enums:
  Mode: { values: [plus, minus, both, ~] }
semantics:
  functions:
    more(x): "x + 1"
instructions:
  NEXT: { doc: Increments., fixed: { 15..12: 1, 5..0: 0 }, does: "d = more(a)",
    operands: { d: { bank: lamp, bits: 11..9, access: write }, a: { bank: lamp, bits: 8..6, access: read } } }
  STEP: { doc: Steps., fixed: { 15..12: 2, 5..2: 0 }, modifiers: { mode: { enum: Mode, bits: 1..0 } },
    does: "d = match mode { plus => more(a), minus => a - 1, both => a }",
    operands: { d: { bank: lamp, bits: 11..9, access: write }, a: { bank: lamp, bits: 8..6, access: read } } }
  REST: { doc: Rests., fixed: { 15..6: 0, 5..0: 5 }, does: nop }
"#;

/// The differences that these replacements make, or an error that shows why there are none.
fn against(spec: &str, replacements: &[(&str, &str)]) -> Diff {
    let mut text = spec.to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "`{from}` is in the specification");
        text = text.replace(from, to);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let loaded = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the folder is writable");
        load(&Settings::new(path)).unwrap_or_else(|refusal| panic!("{refusal}"))
    };
    let (old, new) = (loaded("old.yaml", spec), loaded("new.yaml", &text));
    match (old.tables, new.tables) {
        (Tables::Words(a), Tables::Words(b)) => diff(
            Revision { tables: a, semantics: old.semantics, hardware: old.hardware },
            Revision { tables: b, semantics: new.semantics, hardware: new.hardware },
        ),
        (Tables::Streams(a), Tables::Streams(b)) => {
            let old = Revision { tables: a, semantics: old.semantics, hardware: old.hardware };
            diff_streams(old, Revision { tables: b, semantics: new.semantics, hardware: new.hardware })
        }
        _ => panic!("both are of one kind"),
    }
}

/// The changes of operations, with the instructions that have them.
fn operations(diff: &Diff) -> Vec<(&str, &Change)> {
    let of = |change: &&Change| change.subject == Subject::Operation;
    diff.instructions.iter().flat_map(|i| i.changes.iter().filter(of).map(|change| (i.name(), change))).collect()
}

#[test]
fn another_wording_is_no_change() {
    let found = against(SPEC, &[("d = more(a)", "let one = 1; d = a + one")]);
    assert!(found.is_empty(), "{}", found.to_text());
    assert_eq!(found.operations_changed(), 0);
}

#[test]
fn an_instruction_that_does_something_else_is_listed_though_it_decodes_the_same() {
    for spec in [SPEC.to_owned(), SPEC.replace("REST: {", "REST: { aliases: { PAUSE: {} },")] {
        let found = against(&spec, &[("d = more(a)", "d = a - 1")]);
        assert!(found.decodes_alike() && !found.is_empty());
        let [(name, change)] = operations(&found)[..] else { panic!("{}", found.to_text()) };
        assert_eq!((name, change.how, &*change.name), ("NEXT", How::Changed, ""));
        assert_eq!((&*change.old, &*change.new), ("`d = more(a)`", "`d = a - 1`"));
        assert!(found.to_text().contains("(proved for every instruction). 1 instruction does something else."));
        assert!(found.to_json().contains("\"operations_changed\":1"), "{}", found.to_json());
    }
}

#[test]
fn a_changed_function_changes_what_uses_it_where_it_does() {
    let found = against(SPEC, &[("\"x + 1\"", "\"x + 2\"")]);
    let [next, step] = operations(&found)[..] else { panic!("{}", found.to_text()) };
    assert_eq!((next.0, &*next.1.name, &*next.1.old, &*next.1.new), ("NEXT", "", "`d = a + 1`", "`d = a + 2`"));
    assert_eq!((step.0, &*step.1.name), ("STEP", ""), "0 is `plus`");
    let found = against(SPEC, &[("a - 1, both", "a - 2, both"), ("more(a), minus", "more(a) , minus")]);
    assert_eq!(operations(&found).len(), 1);
    let [minus, both] = [("minus => a - 1", "minus => fewer(a)"), ("both => a }", "both => other(a) }")];
    let base = SPEC.replace(minus.0, minus.1).replace("instructions:", "    fewer(x): \"x - 1\"\ninstructions:");
    let found = against(&base, &[("\"x - 1\"", "\"x - 3\"")]);
    let [(name, change)] = operations(&found)[..] else { panic!("{}", found.to_text()) };
    assert_eq!(
        (name, &*change.name, &*change.old, &*change.new),
        ("STEP", "mode = minus", "`d = a - 1`", "`d = a - 3`")
    );
    let base = SPEC.replace(both.0, both.1).replace("instructions:", "    other(x): \"x\"\ninstructions:");
    let found = against(&base, &[("other(x): \"x\"", "other(x): \"~x\"")]);
    assert_eq!(operations(&found)[0].1.name, "mode = both");
}

#[test]
fn values_and_operands_are_the_same_wherever_they_are_encoded() {
    let found = against(
        SPEC,
        &[
            ("[plus, minus, both, ~]", "[both, plus, minus, ~]"),
            ("bits: 11..9", "bits: 5..3"),
            ("5..0: 0", "11..9: 0, 2..0: 0"),
            ("5..2: 0", "11..9: 0, 2..2: 0"),
        ],
    );
    assert!(!found.decodes_alike());
    assert_eq!(operations(&found), [], "{}", found.to_text());
}

#[test]
fn an_operation_may_be_added_and_removed() {
    let found = against(SPEC, &[(", does: nop", "")]);
    let [(name, change)] = operations(&found)[..] else { panic!("{}", found.to_text()) };
    assert_eq!((name, change.how, &*change.old), ("REST", How::Removed, "`nop`"));
}
