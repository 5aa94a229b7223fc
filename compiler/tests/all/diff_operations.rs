//! What instructions do, in two revisions.

use isaforge_compiler::Settings;
use isaforge_compiler::diff::{Change, Diff, How, Revision, Subject, diff, diff_streams};
use isaforge_compiler::load::load;
use isaforge_core::Tables;

use crate::support::{folder, loaded, replaced, settings};

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
    let (old, new) = (loaded(spec), loaded(&replaced(spec, replacements)));
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

#[test]
fn what_only_has_another_name_does_nothing_else() {
    // As words, and as a stream.
    for spec in [SPEC.to_owned(), SPEC.replace("REST: {", "REST: { aliases: { PAUSE: {} },")] {
        for renamed in [
            &[(" d: {", " result: {"), ("d = match", "result = match"), ("d = more", "result = more")][..],
            &[("mode: {", "way: {"), ("match mode", "match way")],
            &[("[plus, minus,", "[plus, less,"), ("minus =>", "less =>")],
            &[
                ("mode: {", "way: {"),
                ("match mode", "match way"),
                ("[plus, minus,", "[plus, less,"),
                ("minus =>", "less =>"),
            ],
        ] {
            let found = against(&spec, renamed);
            assert!(found.to_text().contains("renamed: `"), "{renamed:?}: {}", found.to_text());
            assert_eq!(
                (operations(&found), found.operations_changed()),
                (vec![], 0),
                "{renamed:?}: {}",
                found.to_text()
            );
        }
        // A part of an operand goes with it.
        let part = "modifiers: { mode: { enum: Mode, bits: 1..0 } },";
        let base = spec
            .replace(
                "lamp, bits: 8..6, access: read } } }\n  REST",
                "lamp, bits: 8..6, access: read, suffixes: { neg: { bits: 2 } } } } }\n  REST",
            )
            .replace("5..2: 0", "5..3: 0")
            .replace("both => a }", "both => if a.neg { 0 - a } else { a } }");
        assert!(base.contains(part) && base.contains("suffixes") && base.contains("a.neg"), "{base}");
        for renamed in [
            &[
                (" a: {", " from: {"),
                ("a.neg", "from.neg"),
                ("- a }", "- from }"),
                ("{ a }", "{ from }"),
                ("(a)", "(from)"),
                ("a - 1", "from - 1"),
            ][..],
            &[("neg:", "minus:"), ("a.neg", "a.minus")],
        ] {
            let found = against(&base, renamed);
            assert_eq!(
                (operations(&found), found.operations_changed()),
                (vec![], 0),
                "{renamed:?}: {}",
                found.to_text()
            );
        }
        // With another name and another text.
        let found = against(&spec, &[("[plus, minus,", "[plus, less,"), ("minus => a - 1", "less => a - 2")]);
        assert_eq!(found.operations_changed(), 1, "{}", found.to_text());
        let swapped = [("[plus, minus, both,", "[minus, plus, both,"), ("plus =>", "x =>"), ("minus =>", "plus =>")];
        let found = against(&spec, &[&swapped[..], &[("x =>", "minus =>")]].concat());
        assert_eq!(found.operations_changed(), 1, "{}", found.to_text());
    }
}

#[test]
fn a_value_that_one_revision_lacks_does_nothing_else() {
    let text = "d = match mode { plus => more(a), minus => a - 1, both => a }";
    let function = [("functions:", "functions:\n    step(mode, a): \"WHAT\""), (text, "d = step(mode, a)")];
    let function = replaced(SPEC, &function).replace("WHAT", text.trim_start_matches("d = "));
    // As words and as a stream; with the text in the instruction, and elsewhere.
    for spec in [SPEC, &function] {
        for spec in [spec.to_owned(), spec.replace("REST: {", "REST: { aliases: { PAUSE: {} },")] {
            let more = [("both, ~]", "both, twice]"), ("both => a }", "both => a, twice => a + a }")];
            let (old, new) = (spec.clone(), replaced(&spec, &more));
            for (old, new) in [(&old, &new), (&new, &old)] {
                let found = against(old, &[(old, new)]);
                assert_eq!((operations(&found), found.operations_changed()), (vec![], 0), "{}", found.to_text());
            }
            // What another value does is compared all the same, and so is one with another name.
            for other in [("minus => a - 1", "minus => a - 2"), ("both => a,", "both => ~a,")] {
                let found = against(&spec, &[more[0], more[1], other]);
                assert_eq!(found.operations_changed(), 1, "{other:?}: {}", found.to_text());
            }
        }
    }
    let found = against(&function, &[("both, ~]", "both, twice]"), ("both => a }", "both => ~a, twice => a }")]);
    let [(name, change)] = operations(&found)[..] else { panic!("{}", found.to_text()) };
    assert_eq!((name, &*change.name, &*change.old, &*change.new), ("STEP", "mode = both", "`d = a`", "`d = ~a`"));
}

#[test]
fn a_value_of_one_generation_does_nothing_else_in_another() {
    let spec = replaced(
        SPEC,
        &[
            ("word: 16", "word: [16]\ngenerations: [1, 2]"),
            ("both, ~]", "{ name: both, value: 2, since: 2 }, ~]"),
            ("both => a }", "both => a + 7 }"),
        ],
    );
    let files = folder(&[("isa.yaml", &spec)]);
    let of = |generation: u32| {
        let settings = Settings { generation: Some(generation.to_string()), ..settings(&files) };
        let loaded = load(&settings).unwrap_or_else(|refusal| panic!("{refusal}"));
        let Tables::Streams(tables) = loaded.tables else { panic!("a stream") };
        Revision { tables, semantics: loaded.semantics, hardware: loaded.hardware }
    };
    for (old, new) in [(1, 2), (2, 1)] {
        let found = diff_streams(of(old), of(new));
        assert_eq!((operations(&found), found.operations_changed()), (vec![], 0), "{}", found.to_text());
        assert_eq!((found.old.enums, found.new.enums), (1, 1));
        // The enum has another value, not another name.
        assert!(!found.to_text().contains("since"), "{}", found.to_text());
        assert_eq!(found.definitions.len(), 1, "{}", found.to_text());
    }
}

#[test]
fn a_field_of_an_alternative_under_another_name_does_nothing_else() {
    let stream =
        OPERANDS.replace("NEXT: {", "NEXT: { aliases: { MORE: {} },").replace("  flow: { modifier", "  # { modifier");
    for spec in [OPERANDS.to_owned(), stream] {
        let renamed = [("n: { number", "k: { number"), ("\"#{n}\", value: n", "\"#{k}\", value: k")];
        let found = against(&spec, &renamed);
        assert_eq!((operations(&found), found.operations_changed()), (vec![], 0), "{}", found.to_text());
        let found = against(&spec, &[("constant:", "immediate:")]);
        assert!(found.to_text().contains("reading `constant` renamed: `immediate`"), "{}", found.to_text());
        assert_eq!(found.definitions[0].changes.len(), 1, "{}", found.to_text());
    }
}

const OPERANDS: &str = r##"
isa: lamps
word: 16
banks: { lamp: { count: 8, prints: "l{n}", width: 16 } }
enums: { Flow: { values: [go, stop, ~, ~], default: go } }
kinds:
  place:
    width: 4
    alternatives:
      own: { fixed: { 3: 0 }, fields: { n: { bank: lamp, bits: 2..0 } }, text: "{n}" }
      constant:
        { fixed: { 3: 1 }, fields: { n: { number: decimal, bits: 2..0 } }, text: "#{n}", value: n, discards: true }
semantics:
  flow: { modifier: flow, values: { stop: { ends: true }, go: { waits: [0, 2] } } }
  intrinsics: { "call()": { doc: Calls., effects: [flow] } }
  preloads: { start: { doc: First., first: 2, values: { time: Now. } } }
instructions:
  COPY: { doc: Copies., fixed: { 15..10: 1 }, modifiers: { flow: { enum: Flow, bits: 9..8 } }, does: "to = from",
    operands: { to: { kind: place, at: 4, access: write }, from: { kind: place, at: 0, access: read } } }
  CALL: { doc: Calls., fixed: { 15..10: 2, 7..0: 0 }, modifiers: { flow: { enum: Flow, bits: 9..8 } }, does: "call()" }
  NEXT: { doc: Increments., fixed: { 15..8: 0, 7..3: 7 }, does: "d = d + 1",
    operands: { d: { bank: lamp, bits: 2..0, access: read-write } } }
machine:
  lanes: 1
  calls: { call: { number: l1, services: { 1: { exit: { status: l2 } }, 2: { write: { address: l3, size: l4 } } } } }
"##;

#[test]
fn how_operands_are_read_and_written_is_a_part_of_what_an_instruction_does() {
    // A stream has no flow modifiers.
    let stream =
        OPERANDS.replace("NEXT: {", "NEXT: { aliases: { MORE: {} },").replace("  flow: { modifier", "  # { modifier");
    for spec in [OPERANDS.to_owned(), stream] {
        for (from, to, place, was, is) in [
            ("value: n,", "value: n + 1,", "from = constant", "`value = n`", "`value = n + 1`"),
            (" value: n,", "", "from = constant", "`value = n`", ""),
            (", discards: true", "", "to = constant", "writes are discarded", "writes are kept"),
        ] {
            let found = against(&spec, &[(from, to)]);
            assert!(found.decodes_alike(), "{}", found.to_text());
            let [(name, change)] = operations(&found)[..] else { panic!("{from}: {}", found.to_text()) };
            assert_eq!((name, &*change.name, &*change.old, &*change.new), ("COPY", place, was, is));
            assert_eq!(found.operations_changed(), 1);
            let kinds: Vec<&str> = found.definitions.iter().map(|definition| &*definition.name).collect();
            assert_eq!(kinds, ["place"], "{}", found.to_text());
        }
    }
}

#[test]
fn what_flow_modifiers_do_is_a_part_of_what_an_instruction_does() {
    for (from, to, value, was, is) in [
        ("ends: true", "reconverges: true", "flow = stop", "ends", "reconverges"),
        ("[0, 2]", "[0, 1]", "flow = go", "waits for 0, 2", "waits for 0, 1"),
        (", go: { waits: [0, 2] }", "", "flow = go", "waits for 0, 2", "nothing"),
    ] {
        let found = against(OPERANDS, &[(from, to)]);
        let changes = operations(&found);
        let names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["COPY", "CALL"], "{}", found.to_text());
        let (_, change) = changes[0];
        assert_eq!((&*change.name, &*change.old, &*change.new), (value, was, is));
    }
}

#[test]
fn every_other_property_of_the_machine_is_compared() {
    for (from, to, said) in [
        ("status: l2", "status: l3", "property `call call 1` changed: exits with l2 → exits with l3"),
        ("size: l4", "size: l5", "property `call call 2` changed: writes l4 bytes at l3 → writes l5 bytes at l3"),
        (
            "size: l4",
            "size: l4, stream: l5",
            "`call call 2` changed: writes l4 bytes at l3 → writes l4 bytes at l3, stream l5",
        ),
        ("number: l1", "number: l7", "property `call call` changed: the service in l1 → the service in l7"),
        ("2: { write", "3: { write", "property `call call 3` changed: none → writes l4 bytes at l3"),
        ("first: 2", "first: 3", "property `preload start` changed: from register 2: time → from register 3: time"),
        (
            "width: 16 }",
            "width: 16, live out: true }",
            "property `registers lamp` changed: 16 bits → 16 bits, live out",
        ),
    ] {
        let found = against(OPERANDS, &[(from, to)]);
        assert!(found.decodes_alike() && found.instructions.is_empty(), "{}", found.to_text());
        assert!(
            found.to_text().contains("definitions: 1 differ") && found.to_text().contains(said),
            "{}",
            found.to_text()
        );
    }
}
