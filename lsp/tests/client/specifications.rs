//! Which documents are specifications, and diagnostics that follow what is in files and in the editor.

use std::fs;
use std::path::{Path, PathBuf};

use isaforge_lsp::uri;
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::{BLINK, MORE, blink};

fn name(path: &Path) -> String {
    uri::of_path(path).expect("a path").to_string()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("it is there");
    (folder, path)
}

#[test]
fn launch_files_are_no_specifications() {
    let (_kept, folder) = folder();
    blink(&folder);
    let text = "# a launch\nisa: valhall\nprogram: { file: a.s }\nsize: [8, 8]\n";
    fs::write(folder.join("a.yaml"), text).expect("it can be written");
    let mut editor = Editor::new(Value::Null);
    let launch = name(&folder.join("a.yaml"));
    editor.open(&launch, "yaml", text);
    assert_eq!(editor.diagnostics(&launch), [] as [Value; 0]);
    assert_eq!(editor.at("hover", &launch, 1, 1), Value::Null);
    editor.end();
}

#[test]
fn specifications_in_any_notation_of_yaml_are_checked() {
    let (_kept, folder) = folder();
    let editor = Editor::new(Value::Null);
    for (file, text) in [
        ("flow.yaml", "{ isa: q, frob: 1 }\n"),
        ("json.yml", "{\"isa\":\"q\",\"frob\":1}\n"),
        ("quoted.yaml", "\"isa\": q\nfrob: 1\n"),
        ("mark.yaml", "\u{feff}isa: q\nfrob: 1\n"),
    ] {
        fs::write(folder.join(file), text).expect("it can be written");
        let name = name(&folder.join(file));
        editor.open(&name, "yaml", text);
        let found = editor.diagnostics(&name);
        assert!(found.iter().any(|one| one["message"].to_string().contains("unknown key `frob`")), "{file}: {found:?}");
    }
    // A document without a file says why it is not checked.
    editor.open("untitled:a", "yaml", "isa: q\nfrob: 1\n");
    let found = editor.diagnostics("untitled:a");
    assert!(found.len() == 1 && found[0]["severity"] == 3, "{found:?}");
    editor.change("untitled:a", 2, "frob: 1\n");
    assert_eq!(editor.diagnostics("untitled:a"), [] as [Value; 0]);
    editor.end();
}

#[test]
fn diagnostics_go_when_a_text_is_closed_or_no_specification_any_more() {
    let (_kept, folder) = folder();
    let (entry, part) = blink(&folder);
    let editor = Editor::new(Value::Null);
    let wrong = format!("{BLINK}frob: 1\n");
    editor.open(&entry, "yaml", &wrong);
    assert_eq!(editor.diagnostics(&entry).len(), 1);
    for text in ["frob: 1\n", "", "program: a\n"] {
        editor.change(&entry, 2, text);
        assert_eq!(editor.diagnostics(&entry), [] as [Value; 0], "{text}");
        editor.change(&entry, 3, &wrong);
        assert_eq!(editor.diagnostics(&entry).len(), 1);
    }
    // The file on disk has no errors.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": entry } }));
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    // A part that is closed without being saved leaves no errors in what imports it.
    editor.open(&entry, "yaml", BLINK);
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    editor.open(&part, "yaml", &MORE.replace("When", "Whem"));
    assert_eq!(editor.diagnostics(&entry).len(), 1);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": part } }));
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    editor.end();
}

#[test]
fn files_that_others_change_are_checked_again() {
    let (_kept, folder) = folder();
    let (entry, part) = blink(&folder);
    let program = name(&folder.join("a.s"));
    let editor = Editor::new(Value::Null);
    editor.open(&program, "asm", "// isa: blink.yaml\nSET.u8.lit l3, #200\n");
    let errors = |editor: &Editor| {
        let found = editor.diagnostics(&program).into_iter();
        found.filter(|one| matches!(one["severity"].as_u64(), Some(1 | 2))).count()
    };
    assert_eq!(errors(&editor), 0);
    let watched = |editor: &Editor, uri: &str| {
        editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
    };
    let saved = |editor: &Editor, uri: &str| {
        editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    };
    let write = |file: &str, text: &str| fs::write(folder.join(file), text).expect("it can be written");
    write("blink.yaml", &BLINK.replace("SET.u8", "PUT.u8"));
    watched(&editor, &entry);
    assert_eq!(errors(&editor), 1);
    write("blink.yaml", BLINK);
    saved(&editor, &entry);
    assert_eq!(errors(&editor), 0);
    // A part that was missing appears.
    fs::remove_file(folder.join("more.yaml")).expect("it is there");
    saved(&editor, &program);
    assert_eq!(errors(&editor), 1);
    write("more.yaml", MORE);
    saved(&editor, &program);
    assert_eq!(errors(&editor), 0);
    // A specification depends on parts that are not open.
    editor.open(&entry, "yaml", BLINK);
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    write("more.yaml", &MORE.replace("When", "Whem"));
    watched(&editor, &part);
    assert_eq!(editor.diagnostics(&entry).len(), 1);
    editor.end();
}

#[test]
fn unsaved_parts_in_other_formats_count() {
    let (_kept, folder) = folder();
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/valhall");
    copy(&specs, &folder);
    let entry = name(&folder.join("isa.yaml"));
    let part = name(&folder.join("isa.xml"));
    let text = fs::read_to_string(folder.join("isa.xml")).expect("it is there");
    let editor = Editor::new(Value::Null);
    editor.open(&entry, "yaml", &fs::read_to_string(folder.join("isa.yaml")).expect("it is there"));
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    editor.open(&part, "xml", &text.replacen("<ins ", "<inz ", 1));
    let found = editor.diagnostics(&part);
    assert!(found.iter().any(|one| one["code"] == "E0013"), "{found:?}");
    editor.change(&part, 2, &text);
    assert_eq!(editor.diagnostics(&part), [] as [Value; 0]);
    // Documents that are no part of anything are not complained about.
    editor.open("file:///nowhere/a.xml", "xml", "<a/>");
    assert_eq!(editor.diagnostics("file:///nowhere/a.xml"), [] as [Value; 0]);
    editor.end();
}

/// Copies the files of a folder and of the folders in it.
fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).expect("it is there") {
        let file = file.expect("it can be read").path();
        let there = to.join(file.file_name().expect("it has a name"));
        if file.is_dir() {
            fs::create_dir(&there).expect("it can be made");
            copy(&file, &there);
        } else {
            fs::copy(&file, &there).expect("it can be copied");
        }
    }
}

#[test]
fn imported_files_are_found_and_definitions_listed() {
    let (_kept, folder) = folder();
    let (entry, part) = blink(&folder);
    let mut editor = Editor::new(Value::Null);
    editor.open(&entry, "yaml", BLINK);
    editor.open(&part, "yaml", MORE);
    let import = BLINK.lines().position(|line| line.starts_with("import:")).expect("it is there") as u32;
    let found = editor.at("definition", &entry, import, 12);
    assert_eq!((&found["uri"], &found["range"]["start"]["line"]), (&json!(part), &json!(0)));
    let outline = editor.at("documentSymbol", &entry, 0, 0);
    let names = |all: &Value| -> Vec<String> {
        let all = all.as_array().into_iter().flatten();
        all.map(|one| {
            format!("{} {}", one["detail"].as_str().unwrap_or_default(), one["name"].as_str().unwrap_or_default())
        })
        .collect()
    };
    assert_eq!(names(&outline), ["banks lamp", "instructions SET.u8"]);
    let inner = names(&outline[1]["children"]);
    assert_eq!(inner, ["modifiers when", "operands dst", "operands level"]);
    assert_eq!(names(&editor.at("documentSymbol", &part, 0, 0)), ["enums When"]);
    editor.end();
}

#[test]
fn hints_are_asked_for_again_when_a_specification_has_changed() {
    let (_kept, folder) = folder();
    let (entry, _) = blink(&folder);
    let program = name(&folder.join("a.s"));
    let refreshes = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
    let editor = Editor::starting(json!({ "capabilities": refreshes }));
    editor.open(&program, "asm", "// isa: blink.yaml\nSET.u8.lit l3, #200\n");
    editor.diagnostics(&program);
    fs::write(folder.join("blink.yaml"), BLINK.replace("0b001", "0b010")).expect("it can be written");
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": entry, "type": 2 }] }));
    editor.told("workspace/inlayHint/refresh");
    editor.end();
}
