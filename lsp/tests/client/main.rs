//! Tests of the server with a simulated editor.

mod completion;
mod editor;
mod life;
mod programs;
mod specifications;

use std::fs;
use std::path::Path;
use std::str::FromStr;

use editor::{Editor, edit, labels};
use isaforge_lsp::uri;
use lsp_types::Uri;
use serde_json::{Value, json};

const SHADER: &str = "file:///shader.s";

/// A loop that counts to zero.
const LOOP: &str = "# isa: valhall
MOV.i32 r1, r60
again:
FADD.f32 r1, ^r1, u0 // a step
FMA.f32 r2, r1, r3, r3
BRANCHZ.eq r2, again
STORE.i32.slot0.end @r1, ^r4, offset:0
";

#[test]
fn mistakes_are_those_of_the_assembler_and_go_when_they_are_mended() {
    let editor = Editor::new(Value::Null);
    editor.open(SHADER, "asm", "// isa: valhall\nMOV.i32 r1, r2\n  FMAA.f32 r1, r2, r3, r4 // é\nMOV.i32 r1, r99\n");
    let found = editor.diagnostics(SHADER);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        found[0]["range"],
        json!({ "start": { "line": 2, "character": 2 }, "end": { "line": 2, "character": 10 } })
    );
    let message = found[0]["message"].as_str().expect("a message");
    assert_eq!(message, "no instruction is called `FMAA.f32`\ndid you mean `FMAX.f32`?");
    editor.change(SHADER, 2, "// isa: valhall\nSTORE.i32.slot0.end @r60, r4, offset:0\n");
    let found = editor.diagnostics(SHADER);
    assert!(found.iter().all(|found| found["severity"] != 1), "{found:?}");
    editor.end();
}

#[test]
fn the_set_is_named_by_a_comment_a_file_or_the_editor() {
    let editor = Editor::new(json!({ "isa": "valhall" }));
    for (uri, text) in [
        ("file:///a.s", "MOV.i32 r1, r2"),
        ("file:///a.mali.s", "MOV.i32 r1, r2"),
        ("file:///a.usc", "0 : byp.imm16 ft0, ft1, c0, 0x0\n    byp ft2, _\n    cbs ft3, _"),
        ("untitled:a", "# isa: usc\nbyp.imm16 ft0, ft1, c0, 0x0 | byp ft2, _ | cbs ft3, _"),
    ] {
        editor.open(uri, "asm", text);
        let found = editor.diagnostics(uri);
        assert!(found.iter().all(|found| found["severity"] == 3), "{uri}: {found:?}");
    }
    editor.open("file:///b.s", "asm", "// isa: valhal\n");
    let found = editor.diagnostics("file:///b.s");
    assert_eq!(
        found[0]["message"],
        "`valhal` is neither `valhall`, `usc` nor the path of a specification\ndid you mean `valhall`?"
    );
    editor.end();

    let editor = Editor::new(Value::Null);
    editor.open("file:///a.s", "asm", "MOV.i32 r1, r2");
    assert!(editor.diagnostics("file:///a.s")[0]["message"].as_str().expect("a text").contains("no instruction set"));
    editor.end();
}

#[test]
fn hover_shows_bits_and_meaning() {
    let mut editor = Editor::new(Value::Null);
    editor.open(SHADER, "asm", LOOP);
    let answer = editor.at("hover", SHADER, 1, 10);
    let text = answer["contents"]["value"].as_str().expect("a text");
    for part in ["**MOV.i32**", "`0091c1000000003c` at `0x0`", "reads `r60`", "writes `r1`", "| 62..59 |", "| `r60` |"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = editor.at("hover", SHADER, 5, 18)["contents"]["value"].to_string();
    assert!(text.contains("label `again`: line 3, address `0x8`"), "{text}");
    editor.open("file:///a.usc", "asm", "0 : byp.imm16 ft0, ft1, c0, 0x0\n    byp ft2, _\n    cbs ft3, _");
    let text = editor.at("hover", "file:///a.usc", 1, 6)["contents"]["value"].to_string();
    assert!(text.contains("**BYP.imm16**") && text.contains("`6490409000000000`"), "{text}");
    assert_eq!(editor.at("hover", SHADER, 3, 30), Value::Null, "a comment is no instruction");
    editor.end();
}

#[test]
fn names_modifiers_operands_and_labels_are_completed() {
    let mut editor = Editor::new(Value::Null);
    let text = format!("{LOOP}FMA_R\nFMA.f32.\nFMA.f32 r1, \nMOV.i32 r1, ^r6\nFADD.f32 r1, r2.\nBRANCHZ.eq r2, a\n");
    editor.open(SHADER, "asm", &text);
    let answer = editor.at("completion", SHADER, 7, 5);
    let found = labels(&answer);
    assert!(found.len() > 3 && found.iter().all(|name| name.starts_with("FMA_R")), "{found:?}");
    assert_eq!((edit(&answer[0]).0, edit(&answer[0]).1), (0, 5));
    let answer = editor.at("completion", SHADER, 8, 8);
    assert!(labels(&answer).contains(&"clamp_0_1".to_owned()), "{answer}");
    assert_eq!((edit(&answer[0]).0, edit(&answer[0]).1), (8, 8));
    let found = labels(&editor.at("completion", SHADER, 9, 12));
    assert!(found.contains(&"r60".to_owned()) && found.contains(&"^r60".to_owned()), "{found:?}");
    let answer = editor.at("completion", SHADER, 10, 15);
    assert!(labels(&answer).contains(&"^r60".to_owned()), "{answer}");
    assert_eq!((edit(&answer[0]).0, edit(&answer[0]).1), (12, 15));
    let found = labels(&editor.at("completion", SHADER, 11, 16));
    assert!(found.contains(&"neg".to_owned()) && found.contains(&"abs".to_owned()), "{found:?}");
    assert_eq!(labels(&editor.at("completion", SHADER, 12, 16)), ["again"]);
    editor.open("file:///a.usc", "asm", "0 : byp.");
    assert!(labels(&editor.at("completion", "file:///a.usc", 0, 6)).contains(&"byp".to_owned()));
    let found = labels(&editor.at("completion", "file:///a.usc", 0, 8));
    assert!(found.contains(&"imm16".to_owned()), "{found:?}");
    editor.end();
}

#[test]
fn labels_are_found_and_get_other_names() {
    let mut editor = Editor::new(Value::Null);
    editor.open(SHADER, "asm", LOOP);
    let answer = editor.at("definition", SHADER, 5, 17);
    assert_eq!(answer["range"]["start"], json!({ "line": 2, "character": 0 }));
    let lines = |answer: &Value| -> Vec<u64> {
        answer.as_array().into_iter().flatten().filter_map(|found| found["range"]["start"]["line"].as_u64()).collect()
    };
    assert_eq!(lines(&editor.at("references", SHADER, 2, 2)), [2, 5]);
    assert_eq!(editor.at("documentSymbol", SHADER, 0, 0)[0]["name"], "again");
    assert_eq!(editor.at("prepareRename", SHADER, 5, 17)["start"]["character"], 15);
    let rename = |editor: &mut Editor, name: &str| {
        let place = json!({
            "textDocument": { "uri": SHADER }, "position": { "line": 2, "character": 1 }, "newName": name,
        });
        editor.response("textDocument/rename", place).response_result
    };
    let edits = rename(&mut editor, "head").expect("it can be renamed")["changes"][SHADER].clone();
    let edits: Vec<(u64, &str)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|edit| {
            (edit["range"]["start"]["line"].as_u64().expect("a line"), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    assert_eq!(edits, [(2, "head"), (5, "head")]);
    for wrong in ["he ad", "", "//", " head", "head ", "x: y", "1", "é"] {
        let error = rename(&mut editor, wrong).expect_err("it is no label");
        assert!(error.message.contains("is not the name of a label"), "{wrong}: {}", error.message);
    }
    editor.end();
}

#[test]
fn all_uses_of_a_register_are_found_also_as_a_part_of_a_pair() {
    let mut editor = Editor::new(Value::Null);
    editor.open(SHADER, "asm", LOOP);
    let found = editor.at("documentHighlight", SHADER, 3, 9);
    let found: Vec<(u64, u64)> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|found| {
            (found["range"]["start"]["line"].as_u64().expect("a line"), found["kind"].as_u64().expect("a kind"))
        })
        .collect();
    // Line 3 writes the register that it reads.
    assert_eq!(found, [(1, 3), (3, 3), (3, 2), (4, 2), (6, 2)]);
    editor.end();
}

#[test]
fn words_stand_beside_their_lines_also_between_mistakes() {
    let mut editor = Editor::new(Value::Null);
    let words = |editor: &mut Editor, uri: &str| -> Vec<(u64, String)> {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let answer = editor.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
        let hints = answer.as_array().expect("a list").iter();
        let word = |hint: &Value| {
            (hint["position"]["line"].as_u64().expect("a line"), hint["label"].as_str().expect("a word").to_owned())
        };
        hints.map(word).collect()
    };
    editor.open(SHADER, "asm", "// isa: valhall\nMOV.i32 r1, r2\nMOVE\nl: MOV.i32 r1, r3 // text\n");
    assert_eq!(words(&mut editor, SHADER), [(1, "0091c10000000002".to_owned()), (3, "0091c10000000003".to_owned())]);
    editor.open("file:///a.usc", "asm", "0 : what\n1 : byp.imm16 ft0, ft1, c0, 0x0\n    byp ft2, _\n    cbs ft3, _");
    let found = words(&mut editor, "file:///a.usc");
    assert!(found.len() == 1 && found[0].0 == 1 && found[0].1.starts_with("64"), "{found:?}");
    editor.end();
}

/// A small specification in two files.
pub const BLINK: &str = "isa: blink
provenance: document
credits: [{ title: A page }]
import: [more.yaml]
word: 16
banks: { lamp: { count: 8, prints: \"l{n}\" } }
instructions:
  SET.u8:
    doc: Sets a lamp.
    fixed: { 15..13: 0b001 }
    modifiers: { when: { enum: When, bits: 12..11 } }
    operands: { dst: { bank: lamp, bits: 10..8, access: write }, level: { immediate: decimal, bits: 7..0 } }
";
/// The other file.
pub const MORE: &str = "enums:\n  When: { values: [always, lit, dark, ~], default: always }\n";

/// Writes the specification to a folder and returns the names of its documents.
pub fn blink(folder: &Path) -> (String, String) {
    let name = |file: &str| uri::of_path(&folder.join(file)).expect("a path").to_string();
    fs::write(folder.join("blink.yaml"), BLINK).expect("it can be written");
    fs::write(folder.join("more.yaml"), MORE).expect("it can be written");
    (name("blink.yaml"), name("more.yaml"))
}

#[test]
fn specifications_are_checked_while_they_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (entry, part) = blink(&folder.path().canonicalize().expect("it is there"));
    let editor = Editor::new(Value::Null);
    editor.open(&entry, "yaml", BLINK);
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    // The check uses the unsaved text of a part.
    editor.open(&part, "yaml", &MORE.replace("When", "Whem"));
    let found = editor.diagnostics(&entry);
    let message = found[0]["message"].as_str().expect("a message");
    assert!(
        message.contains("`When`") && found[0]["code"].as_str().is_some_and(|code| code.starts_with('E')),
        "{found:?}"
    );
    assert_eq!(found[0]["range"]["start"]["line"], 10);
    editor.change(&part, 2, MORE);
    assert_eq!(editor.diagnostics(&entry), [] as [Value; 0]);
    editor.change(&entry, 2, &BLINK.replace("word: 16", "word: [1"));
    assert!(!editor.diagnostics(&entry).is_empty());
    editor.end();
}

#[test]
fn keys_are_explained_and_definitions_found_across_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (entry, part) = blink(&folder.path().canonicalize().expect("it is there"));
    let mut editor = Editor::new(Value::Null);
    editor.open(&entry, "yaml", BLINK);
    let line = BLINK.lines().nth(10).expect("a line");
    let at = |what: &str| (10, line.find(what).expect("it is there") as u32 + 1);
    let text = |editor: &mut Editor, (line, column): (u32, u32)| {
        editor.at("hover", &entry, line, column)["contents"]["value"].to_string()
    };
    assert!(text(&mut editor, at("bits:")).starts_with("\"**`bits`**"), "{}", text(&mut editor, at("bits:")));
    let shown = text(&mut editor, at("When"));
    assert!(shown.contains("values: [always, lit, dark, ~]"), "{shown}");
    let found = editor.at("definition", &entry, 10, at("When").1);
    assert_eq!(
        (found["uri"].as_str(), &found["range"]["start"]),
        (Some(part.as_str()), &json!({ "line": 1, "character": 2 }))
    );
    let bank = BLINK.lines().nth(11).and_then(|line| line.find("lamp")).expect("it is there") as u32;
    let found = editor.at("definition", &entry, 11, bank);
    assert_eq!(found["range"]["start"], json!({ "line": 5, "character": 9 }));
    editor.end();
}

#[test]
fn a_program_for_a_specification_follows_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let (entry, _) = blink(&folder);
    let program = uri::of_path(&folder.join("program.s")).expect("a path").to_string();
    let mut editor = Editor::new(Value::Null);
    editor.open(&program, "asm", "// isa: blink.yaml\nSET.u8.lit l3, #200\nSET.u8.\n");
    assert_eq!(editor.diagnostics(&program).len(), 1);
    assert_eq!(labels(&editor.at("completion", &program, 2, 7)), ["always", "lit", "dark"]);
    editor.open(&entry, "yaml", BLINK);
    let renamed = BLINK.replace("SET.u8", "PUT.u8");
    fs::write(folder.join("blink.yaml"), &renamed).expect("it can be written");
    editor.change(&entry, 2, &renamed);
    editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": entry } }));
    assert_eq!(editor.diagnostics(&program).len(), 2);
    editor.end();
}

#[test]
fn what_is_no_request_is_refused_and_nothing_breaks() {
    let mut editor = Editor::new(json!("nonsense"));
    assert!(editor.response("textDocument/frobnicate", json!({})).response_result.is_err());
    for method in ["hover", "completion", "definition", "references", "rename", "inlayHint", "documentSymbol"] {
        let _ = editor.response(&format!("textDocument/{method}"), json!({ "position": "nowhere" }));
        let place = json!({
            "textDocument": { "uri": "file:///never/opened.s" }, "position": { "line": 9, "character": 9 }, "newName": "x",
        });
        let _ = editor.response(&format!("textDocument/{method}"), place);
    }
    editor.open(SHADER, "asm", "// isa: valhall\n\u{1}é𝒳 r1.\n:\n::\nl:l: MOV.i32 \r\n\n");
    for line in 0..8 {
        for character in 0..14 {
            for method in ["hover", "completion", "definition", "references", "documentHighlight", "prepareRename"] {
                editor.at(method, SHADER, line, character);
            }
        }
    }
    assert!(Uri::from_str(SHADER).is_ok());
    editor.end();
}
