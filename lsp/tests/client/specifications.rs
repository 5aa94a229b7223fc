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
