//! Labels, registers and completion in programs.

use std::fs;

use isaforge_lsp::uri;
use serde_json::{Value, json};

use crate::editor::{Editor, edit, labels, starts};

/// A small set whose instructions have 16 or 32 bits, with registers that have several names.
const TINY: &str = "isa: tiny
provenance: document
credits: [{ title: A page }]
word: [16, 32]
banks: { x: { count: 8, width: 32, prints: \"x{n}\", names: [zero, ra, t0, t1, s0, a0, a1, a2], also: { fp: 4 } } }
instructions:
  add:
    word: 16
    doc: Adds.
    fixed: { 15..12: 1, 2..0: 0 }
    operands: { rd: { bank: x, bits: 11..9, access: write }, a: { bank: x, bits: 8..6 }, b: { bank: x, bits: 5..3 } }
  jump:
    word: 32
    doc: Jumps.
    fixed: { 31..16: 2, 3..0: 2 }
    operands:
      a: { bank: x, bits: 6..4 }
      to: { immediate: signed, bits: 15..7, value: bits * 2, prefix: \"\", target: { from: this, unit: 1 } }
";

/// Opens a program for the small set. The first line of its text is line 1.
fn tiny(editor: &Editor, text: &str) -> String {
    static FOLDER: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tiny.yaml"), TINY).expect("it can be written");
        folder
    });
    let program = uri::of_path(&folder.path().join("program.s")).expect("a path").to_string();
    editor.open(&program, "asm", &format!("// isa: tiny.yaml\n{text}"));
    program
}

fn errors(found: &[Value]) -> Vec<&Value> {
    found.iter().filter(|one| matches!(one["severity"].as_u64(), Some(1 | 2))).collect()
}

#[test]
fn comments_are_those_of_the_set() {
    let mut editor = Editor::new(Value::Null);
    let program = tiny(&editor, "foo: add t0, t0, t1 ; foo t0\njump a0, foo // foo\n# foo\n");
    assert_eq!(errors(&editor.diagnostics(&program)), [] as [&Value; 0]);
    assert_eq!(starts(&editor.at("references", &program, 1, 1)), [(1, 0), (2, 9)]);
    assert_eq!(starts(&editor.at("documentHighlight", &program, 1, 10)), [(1, 9), (1, 13)]);
    assert_eq!(editor.at("hover", &program, 1, 27), Value::Null);
    assert_eq!(editor.at("completion", &program, 1, 26), json!([]));
    editor.end();
}

#[test]
fn a_register_is_found_under_all_its_names() {
    let mut editor = Editor::new(Value::Null);
    let program = tiny(&editor, "add x3, x2, t1\nadd s0, x3, fp\nadd x4, t1, x4\nadd \nadd x\nadd f\n");
    let t1 = [(1, 4), (1, 12), (2, 8), (3, 8)];
    for (line, column) in t1 {
        assert_eq!(starts(&editor.at("documentHighlight", &program, line as u32, column as u32 + 1)), t1);
    }
    let s0 = [(2, 4), (2, 12), (3, 4), (3, 12)];
    for (line, column) in s0 {
        assert_eq!(starts(&editor.at("references", &program, line as u32, column as u32 + 1)), s0);
    }
    let found = labels(&editor.at("completion", &program, 4, 4));
    assert!(["t1", "x3", "fp"].iter().all(|name| found.iter().any(|known| known == name)), "{found:?}");
    let found = labels(&editor.at("completion", &program, 5, 5));
    assert_eq!(found, (0..8).map(|number| format!("x{number}")).collect::<Vec<_>>());
    assert_eq!(labels(&editor.at("completion", &program, 6, 5)), ["fp"]);
    editor.end();
}

#[test]
fn labels_may_be_called_like_instructions_and_registers() {
    let mut editor = Editor::new(Value::Null);
    let text = "add: add a1, t0, t1\na0: add a2, a0, a0\njump a0, a0\njump a1, add\nadd a1 add\n";
    let program = tiny(&editor, text);
    let hover =
        |editor: &mut Editor, line, column| editor.at("hover", &program, line, column)["contents"]["value"].to_string();
    assert!(hover(&mut editor, 1, 1).contains("label `add`"));
    assert!(hover(&mut editor, 1, 6).contains("**add**"));
    assert!(hover(&mut editor, 4, 10).contains("label `add`"));
    assert!(hover(&mut editor, 2, 13).contains("**add**"), "a register");
    // The last line has a mistake; its first word is an instruction nevertheless.
    assert_eq!(starts(&editor.at("references", &program, 1, 1)), [(1, 0), (4, 9), (5, 7)]);
    assert_eq!(starts(&editor.at("references", &program, 2, 0)), [(2, 0), (3, 9)]);
    assert_eq!(starts(&editor.at("documentHighlight", &program, 3, 5)), [(2, 12), (2, 16), (3, 5)]);
    assert_eq!(editor.at("prepareRename", &program, 3, 5), Value::Null);
    let place = json!({
        "textDocument": { "uri": program }, "position": { "line": 2, "character": 0 }, "newName": "head",
    });
    let edits = editor.ask("textDocument/rename", place)["changes"][&program].clone();
    assert_eq!(starts(&edits), [(2, 0), (3, 9)]);
    editor.end();
}

#[test]
fn references_leave_out_the_declaration_if_it_is_not_wanted() {
    let mut editor = Editor::new(Value::Null);
    let program = tiny(&editor, "foo: jump t0, foo\njump t1, foo\n");
    let mut uses = |declaration: bool, column: u32| {
        let params = json!({
            "textDocument": { "uri": program }, "position": { "line": 1, "character": column },
            "context": { "includeDeclaration": declaration },
        });
        starts(&editor.ask("textDocument/references", params))
    };
    assert_eq!(uses(true, 0), [(1, 0), (1, 14), (2, 9)]);
    assert_eq!(uses(false, 0), [(1, 14), (2, 9)]);
    // Registers have no declaration.
    assert_eq!(uses(false, 10), [(1, 10)]);
    editor.end();
}

#[test]
fn completion_of_large_sets_is_short_and_without_duplicates() {
    let mut editor = Editor::new(Value::Null);
    editor.open("file:///a.usc", "asm", "0 : fmul ft1, \n1 : fmul ft1, r1\n2 : fmul ft1,");
    for (line, column) in [(0, 14), (2, 13)] {
        let answer = editor.at("completion", "file:///a.usc", line, column);
        assert_eq!(answer["isIncomplete"], true);
        let found = labels(&answer["items"]);
        assert!(found.len() <= 500 && found.contains(&"r0".to_owned()), "{found:?}");
        let names: std::collections::BTreeSet<&String> = found.iter().collect();
        assert_eq!(names.len(), found.len());
    }
    let found = labels(&editor.at("completion", "file:///a.usc", 1, 16));
    assert!(found.contains(&"r17".to_owned()) && found.iter().all(|name| name.starts_with("r1")), "{found:?}");
    editor.end();
}

#[test]
fn lists_of_registers_are_completed_as_lists() {
    let mut editor = Editor::new(Value::Null);
    let before = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store.wait0 ";
    let text = format!("# isa: valhall\n{before}\n{before}@\n{before}@r4:\n");
    editor.open("file:///a.s", "asm", &text);
    let start = before.len() as u32;
    for (line, typed) in [(1, ""), (2, "@"), (3, "@r4:")] {
        let answer = editor.at("completion", "file:///a.s", line, start + typed.len() as u32);
        let found = labels(&answer);
        assert!(found.contains(&"@r4:r5".to_owned()), "{typed}: {found:?}");
        assert!(found.iter().all(|name| name.starts_with("@r")), "{typed}: {found:?}");
        assert_eq!((edit(&answer[0]).0, edit(&answer[0]).1), (start.into(), u64::from(start) + typed.len() as u64));
    }
    let completed = format!("# isa: valhall\n{before}@r4:r5, r61, index:0x0\n");
    editor.open("file:///b.s", "asm", &completed);
    let found = editor.diagnostics("file:///b.s");
    assert_eq!(errors(&found), [] as [&Value; 0]);
    editor.end();
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_program() {
    let mut editor = Editor::new(Value::Null);
    for (uri, text) in [
        ("file:///a.valhall", "\u{feff}loop: MOV.i32 r1, r2\nBRANCHZ.eq r1, loop\n"),
        ("file:///a.s", "\u{feff}// isa: valhall\nloop: MOV.i32 r1, r2\nBRANCHZ.eq r1, loop\n"),
    ] {
        editor.open(uri, "asm", text);
        let found = editor.diagnostics(uri);
        assert_eq!(errors(&found), [] as [&Value; 0]);
    }
    let loops = editor.at("definition", "file:///a.valhall", 1, 16);
    assert_eq!(loops["range"]["start"], json!({ "line": 0, "character": 1 }));
    assert_eq!(starts(&editor.at("documentHighlight", "file:///a.valhall", 0, 16)), [(0, 15), (1, 11)]);
    editor.change("file:///a.valhall", 2, "\u{feff}MOV.i32 r1, r99\n");
    let found = editor.diagnostics("file:///a.valhall");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 0, "character": 14 }));
    editor.change("file:///a.valhall", 3, "\u{feff}MOV.i3\n");
    let found = editor.at("completion", "file:///a.valhall", 0, 7);
    assert_eq!((labels(&found), edit(&found[0]).0), (vec!["MOV.i32".to_owned()], 1));
    editor.end();
}

#[test]
fn a_completion_replaces_the_word_in_which_the_cursor_is() {
    let text = "# isa: valhall\nMOV.i32.wait0126 r1\n";
    let mut editor = Editor::new(Value::Null);
    editor.open("file:///a.s", "asm", text);
    let found = editor.at("completion", "file:///a.s", 1, 8);
    assert_eq!((edit(&found[0]).0, edit(&found[0]).1), (8, 16));
    editor.end();
    // An editor that can leaves the choice to its user.
    let item = json!({ "completionItem": { "insertReplaceSupport": true } });
    let mut editor = Editor::starting(json!({ "capabilities": { "textDocument": { "completion": item } } }));
    editor.open("file:///a.s", "asm", text);
    let edit = editor.at("completion", "file:///a.s", 1, 8)[0]["textEdit"].clone();
    let end = |range: &str| edit[range]["end"]["character"].as_u64();
    assert_eq!((end("insert"), end("replace")), (Some(8), Some(16)));
    editor.end();
}

#[test]
fn changes_of_ranges_are_applied_as_the_editor_counts() {
    let mut editor = Editor::new(Value::Null);
    editor.open("file:///a.s", "asm", "# isa: valhall\r\n# 𝒳\rMOV.i32 r1, r99\n");
    assert_eq!(errors(&editor.diagnostics("file:///a.s")), [] as [&Value; 0]);
    let range = |start: (u32, u32), end: (u32, u32)| {
        let place = |(line, character)| json!({ "line": line, "character": character });
        json!({ "start": place(start), "end": place(end) })
    };
    let changes = json!([
        { "range": range((1, 4), (2, 0)), "text": "\n" },
        { "range": range((2, 12), (2, 15)), "text": "r2" },
        { "range": range((9, 0), (9, 9)), "text": "MOV.i32 r1, r98" },
    ]);
    let document = json!({ "uri": "file:///a.s", "version": 2 });
    editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    let found = editor.diagnostics("file:///a.s");
    assert_eq!((found.len(), &found[0]["range"]["start"]), (1, &json!({ "line": 3, "character": 13 })), "{found:?}");
    assert_eq!(editor.at("hover", "file:///a.s", 2, 1)["range"], range((2, 0), (2, 14)));
    editor.end();
}

#[test]
fn labels_extend_to_the_next_one() {
    let mut editor = Editor::new(Value::Null);
    editor.open("file:///a.s", "asm", "# isa: valhall\na: MOV.i32 r1, r2\nMOV.i32 r1, r2\nb: c: MOV.i32 r1, r2\n");
    let found = editor.at("documentSymbol", "file:///a.s", 0, 0);
    let ranges = |name: &str| -> Vec<Value> { (0..3).map(|index| found[index][name].clone()).collect() };
    let range = |a, b, c, d| json!({ "start": { "line": a, "character": b }, "end": { "line": c, "character": d } });
    assert_eq!(ranges("range"), [range(1, 0, 2, 14), range(3, 0, 3, 3), range(3, 3, 4, 0)]);
    assert_eq!(ranges("selectionRange"), [range(1, 0, 1, 1), range(3, 0, 3, 1), range(3, 3, 3, 4)]);
    editor.end();
}

#[test]
fn the_set_follows_from_any_name_and_from_the_language() {
    let editor = Editor::new(Value::Null);
    for (uri, language) in [
        ("vscode-vfs://github/a/b.valhall", "asm"),
        ("http://example.org/b.valhall.s?raw=1", "plaintext"),
        ("untitled:Untitled-1", "valhall"),
        ("file:///a.s", "mali"),
    ] {
        editor.open(uri, language, "MOV.i32 r1, r99\n");
        let found = editor.diagnostics(uri);
        assert!(found[0]["message"].to_string().contains("`99`"), "{uri}: {found:?}");
    }
    editor.end();
}

#[test]
fn a_set_that_is_not_there_is_named_with_what_was_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let program = uri::of_path(&folder.join("program.s")).expect("a path").to_string();
    let editor = Editor::new(Value::Null);
    editor.open(&program, "asm", "// isa: ../nosuch.yaml\n");
    let path = folder.parent().expect("it has one").join("nosuch.yaml");
    assert_eq!(editor.diagnostics(&program)[0]["message"], format!("there is no file `{}`", path.display()));
    editor.end();
}
