//! Tests of the grammar for highlighting: its text, and the scopes that it assigns.

use std::path::Path;

use fancy_regex::Regex;
use isaforge_analysis::Set;
use isaforge_compiler::Settings;
use isaforge_compiler::load::load;
use isaforge_core::Tables;
use isaforge_lsp::grammar::grammar;
use serde_json::Value;

fn valhall() -> Value {
    grammar(&Set::new(Tables::Words(isaforge_valhall::ISA), None, None))
}

/// `UPDATE_GOLDENS=1` rewrites the golden file.
#[test]
fn the_grammar_of_valhall_is_as_reviewed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/valhall.tmLanguage.json");
    let text = format!("{:#}\n", valhall());
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, &text).expect("it can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == golden,
        "the grammar has changed: review `UPDATE_GOLDENS=1 cargo test -p isaforge-lsp --test grammar`"
    );
}

#[test]
fn every_name_of_a_register_and_only_values_of_the_generation_are_listed() {
    let spec = "isa: small\nword: [16, 32]\nprovenance: document\ngenerations: [1, 2]\n\
        banks: { r: { count: 4, prints: 'r{n}', names: [zero], also: { fp: 3 } } }\n\
        enums: { Mode: { values: [.plain, { name: .late, since: 2 }, ~, ~] } }\n\
        instructions:\n  go: { doc: Goes., word: 16, fixed: { 15..4: 0 }, \
        modifiers: { mode: { enum: Mode, bits: 3..2 } }, \
        operands: { a: { bank: r, bits: 1..0 } } }\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("isa.yaml");
    std::fs::write(&path, spec).expect("the folder is writable");
    for (generation, late) in [("1", false), ("2", true)] {
        let settings = Settings { generation: Some(generation.to_owned()), ..Settings::new(&path) };
        let loaded = load(&settings).unwrap_or_else(|refusal| panic!("{refusal}"));
        let grammar = grammar(&Set::new(loaded.tables, loaded.semantics, loaded.hardware));
        let matched = |part: &str| grammar["repository"][part]["match"].as_str().expect("an expression").to_owned();
        for name in ["fp", "zero", r"r\d+"] {
            assert!(matched("register").contains(name), "{name}: {}", matched("register"));
        }
        assert!(matched("modifier").contains("plain"), "{}", matched("modifier"));
        assert_eq!(matched("modifier").contains("late"), late, "{}", matched("modifier"));
    }
}

/// The parts of a line that a grammar assigns scopes to, as an editor finds them: the earliest match, with ties won by
/// the first rule.
fn colours(grammar: &Value, line: &str) -> Vec<(String, String)> {
    let repository = &grammar["repository"];
    let mut rules: Vec<(String, Regex)> = Vec::new();
    for include in grammar["patterns"].as_array().expect("a list") {
        let part = &repository[include["include"].as_str().expect("a name").trim_start_matches('#')];
        let all = part["patterns"].as_array().cloned().unwrap_or_else(|| vec![part.clone()]);
        for rule in all {
            let name = rule["name"].as_str().expect("a name").to_owned();
            rules.push((name, Regex::new(rule["match"].as_str().expect("an expression")).expect("it is one")));
        }
    }
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        let matches = rules.iter().filter_map(|(name, rule)| {
            let found = rule.find_from_pos(line, at).expect("it ends")?;
            Some((found.start(), found.end(), name))
        });
        let Some((start, end, name)) = matches.min_by_key(|(start, ..)| *start) else { return found };
        found.push((name.rsplit('.').next().unwrap_or_default().to_owned(), line[start..end].to_owned()));
        at = end.max(at + 1);
    }
}

#[test]
fn names_modifiers_registers_and_numbers_have_their_colours() {
    let grammar = valhall();
    let shown = |line: &str| -> Vec<String> {
        colours(&grammar, line).into_iter().map(|(name, text)| format!("{name} {text}")).collect()
    };
    assert_eq!(
        shown("FMA.f32.clamp_0_1 r0, ^r10, u2.neg, 0x3F800000 // r1"),
        [
            "mnemonic FMA.f32",
            "modifier clamp_0_1",
            "register r0",
            "register r10",
            "register u2",
            "modifier neg",
            "numeric 0x3F800000",
            "line // r1",
        ]
    );
    assert_eq!(
        shown("again: MOV.i32 r1, r2; MOV"),
        ["label again", "mnemonic MOV.i32", "register r1", "register r2", "line ; MOV"]
    );
    assert_eq!(shown("# isa: valhall"), ["line # isa: valhall"]);
    assert_eq!(shown(".word 0x12"), ["directive .word", "numeric 0x12"]);
    assert_eq!(shown("FRAB rr1, r1x"), Vec::<String>::new());
}

#[test]
fn every_set_has_a_grammar_that_editors_can_read() {
    for tables in [Tables::Words(isaforge_valhall::ISA), Tables::Groups(isaforge_usc::ISA)] {
        let grammar = grammar(&Set::new(tables, None, None));
        assert!(!colours(&grammar, "0x1").is_empty());
    }
    let usc = grammar(&Set::new(Tables::Groups(isaforge_usc::ISA), None, None));
    let found = colours(&usc, "0 : byp.imm16 ft0, ft1, c0, 0x0 # text");
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        ["mnemonic", "modifier", "register", "numeric", "line"].iter().all(|name| names.contains(name)),
        "{found:?}"
    );
}

#[test]
fn comments_of_streams_are_those_that_the_assembler_knows() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "isa: tiny\nprovenance: document\ncredits: [{ title: A page }]\nword: [16]\n\
                instructions:\n  stop: { doc: Stops., fixed: { 15..0: 1 } }\n";
    let path = folder.path().join("tiny.yaml");
    std::fs::write(&path, text).expect("it can be written");
    let loaded = load(&Settings::new(&path)).expect("it is valid");
    let grammar = grammar(&Set::new(loaded.tables, None, None));
    for comment in ["; stop", "// stop"] {
        let found = colours(&grammar, &format!("stop {comment}"));
        let expected = [("mnemonic", "stop"), ("line", comment)].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(found, expected);
    }
}
