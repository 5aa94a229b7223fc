//! The JSON Schema of specifications: it is fresh, accepts the real specifications, and rejects errors that reading
//! finds.

use std::collections::HashMap;
use std::path::Path;
use std::{env, fs};

use boon::{Compiler, SchemaIndex, Schemas};
use isaforge_compiler::catalogue::{self, BASES};
use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::source::Sources;
use isaforge_compiler::yaml::{Node, Value, read_yaml};
use isaforge_compiler::{Settings, check_spec, schema};
use serde_json::Value as Json;

struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    fn new() -> Self {
        let text = serde_json::from_str(&schema::schema()).expect("the schema is JSON");
        let mut compiler = Compiler::new();
        compiler.add_resource("isa.schema.json", text).expect("it has a name");
        let mut schemas = Schemas::new();
        let index = compiler.compile("isa.schema.json", &mut schemas).expect("it is a schema");
        Validator { schemas, index }
    }

    fn check(&self, path: &Path) -> Result<(), String> {
        let mut sources = Sources::new();
        let file = sources.load(path).expect("the file is text");
        let mut mistakes = Diagnostics::default();
        let node = read_yaml(&sources, file, &mut mistakes).ok_or("it is no YAML")?;
        self.schemas.validate(&json(&node), self.index).map_err(|error| format!("{error:#}"))
    }
}

/// A YAML document as an editor sees it.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => serde_json::from_str(&value.to_string()).expect("a number"),
        Value::Float(value) => serde_json::Number::from_f64(*value).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.value.clone(), json(value))).collect())
        }
    }
}

#[test]
fn the_checked_in_schema_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/isa.schema.json");
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(path, schema::schema()).expect("specs/ can be written to");
    }
    let advice = "UPDATE_GOLDENS=1 cargo test -p isaforge-compiler --test all schema";
    assert!(fs::read_to_string(path).is_ok_and(|text| text == schema::schema()), "stale: {advice}");
}

#[test]
fn real_specifications_keep_to_it() {
    let validator = Validator::new();
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut files = 0;
    for name in ["valhall", "valhall-2021", "vpu", "usc"] {
        let checked =
            check_spec(&Settings::new(specs.join(name).join("isa.yaml"))).unwrap_or_else(|failure| panic!("{failure}"));
        for file in checked.files.iter().filter(|file| file.extension().is_some_and(|end| end == "yaml")) {
            validator.check(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            files += 1;
        }
    }
    assert!(files > 10, "only {files} files");
}

#[test]
fn the_pages_keep_to_it_but_for_mistakes_of_reading() {
    let validator = Validator::new();
    // Errors that a schema can express: a value of the wrong type, unknown keys, unknown words, numbers out of range.
    let of_reading = ["E0020", "E0021", "E0023", "E0024"];
    // YAML that is not a map of keys to values, or missing.
    let unreadable = [
        "E0001", "E0002", "E0003", "E0004", "E0005", "E0010", "E0011", "E0012", "E0013", "E0014", "E0015", "E0016",
        "E0017", "E0018", "E0019",
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut tried = HashMap::new();
    for page in catalogue::all().filter(|page| !unreadable.contains(&page.code)) {
        for (files, right) in [(&page.right, true), (&page.wrong, false)] {
            for file in files.iter().chain(&BASES).filter(|file| file.language == "yaml" && file.name == "isa.yaml") {
                let path = folder.path().join(file.name);
                fs::write(&path, file.text).expect("the folder is writable");
                let accepted = validator.check(&path);
                let expected = right || !of_reading.contains(&page.code);
                assert_eq!(accepted.is_ok(), expected, "{} {accepted:?}\n{}", page.code, file.text);
                *tried.entry(expected).or_insert(0) += 1;
            }
        }
    }
    assert!(tried[&true] > 60 && tried[&false] == of_reading.len(), "{tried:?}");
}

#[test]
fn what_must_be_there_may_be_left_out_above_a_base_only() {
    let validator = Validator::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("isa.yaml");
    for (head, accepted) in [("isa: lamp", false), ("base: lamp.yaml", true)] {
        for key in ["banks: { r: { prints: 'r{n}' } }", "constants: { half: {} }", "enums: { mode: { bits: 2 } }"] {
            fs::write(&path, format!("{head}\n{key}\n")).expect("the folder is writable");
            assert_eq!(validator.check(&path).is_ok(), accepted, "{head} {key}");
        }
        fs::write(&path, format!("{head}\nenums: {{ mode: ~ }}\n")).expect("the folder is writable");
        assert_eq!(validator.check(&path).is_ok(), accepted, "{head}: a definition that is taken away");
    }
}
