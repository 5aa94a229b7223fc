//! The life of a connection: its start, its end, its configuration, and when documents are checked.

use std::fs;
use std::time::{Duration, Instant};

use isaforge_lsp::{Known, ServeError, serve, uri};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::editor::Editor;

/// Sends messages to a server without sets and returns its responses and how it ended. The connection stays open.
fn conversation(messages: Vec<Message>) -> (Vec<Response>, Result<(), ServeError>) {
    let (client, theirs) = Connection::memory();
    let server = std::thread::spawn(move || serve(&theirs, &[] as &[Known]));
    messages.into_iter().for_each(|message| client.sender.send(message).expect("the server listens"));
    let ended = server.join().expect("it does not panic");
    let responses = client.receiver.into_iter().filter_map(|message| match message {
        Message::Response(response) => Some(response),
        _ => None,
    });
    (responses.collect(), ended)
}

fn ask(id: i32, method: &str) -> Message {
    let params = if method == "initialize" { json!({ "capabilities": {} }) } else { json!({}) };
    Message::Request(Request { id: RequestId::from(id), method: method.to_owned(), params })
}

fn tell(method: &str) -> Message {
    Message::Notification(Notification::new(method.to_owned(), json!({})))
}

fn code(response: &Response) -> i32 {
    response.response_result.as_ref().map_or_else(|error| error.code, |_| 0)
}

#[test]
fn exit_without_shutdown_is_an_error_and_with_it_none() {
    assert!(matches!(conversation(vec![tell("exit")]).1, Err(ServeError::Exit)));
    let (_, ended) = conversation(vec![ask(1, "initialize"), tell("initialized"), tell("exit")]);
    assert!(matches!(ended, Err(ServeError::Exit)));
    let (_, ended) = conversation(vec![ask(1, "initialize"), tell("initialized"), ask(2, "shutdown"), tell("exit")]);
    assert!(ended.is_ok());
}

#[test]
fn requests_at_the_wrong_time_are_refused() {
    let (responses, ended) = conversation(vec![
        ask(1, "textDocument/hover"),
        tell("textDocument/didClose"),
        ask(2, "initialize"),
        // A client need not wait for `initialized` to be sent.
        ask(3, "textDocument/hover"),
        tell("initialized"),
        ask(4, "initialize"),
        ask(5, "nonsense"),
        ask(6, "shutdown"),
        tell("textDocument/didClose"),
        ask(7, "textDocument/hover"),
        ask(8, "shutdown"),
        tell("exit"),
    ]);
    let codes: Vec<i32> = responses.iter().map(code).collect();
    let [early, params] = [ErrorCode::ServerNotInitialized, ErrorCode::InvalidParams].map(|code| code as i32);
    let [request, method] = [ErrorCode::InvalidRequest, ErrorCode::MethodNotFound].map(|code| code as i32);
    assert_eq!(codes, [early, 0, params, request, method, 0, request, request]);
    assert!(ended.is_ok());
}

#[test]
fn parameters_of_the_wrong_type_are_refused() {
    let mut editor = Editor::new(Value::Null);
    for method in ["hover", "completion", "definition", "references", "rename", "inlayHint", "documentSymbol"] {
        let place = json!({ "textDocument": { "uri": "file:///a.s" }, "position": { "line": -1, "character": 0 } });
        for params in [json!({}), place] {
            let refused = editor.response(&format!("textDocument/{method}"), params).response_result;
            let is_fine = method == "documentSymbol" && refused.is_ok();
            assert!(is_fine || refused.is_err_and(|error| error.code == ErrorCode::InvalidParams as i32), "{method}");
        }
    }
    editor.end();
}

#[test]
fn options_of_the_wrong_type_are_reported() {
    for (options, what) in [
        (
            json!({ "isa": "valhall", "generation": [9] }),
            "`generation` is ignored: it is a text or a number, not `[9]`",
        ),
        (json!({ "isa": 5 }), "`isa` is ignored"),
        (json!("valhall"), "they are an object"),
    ] {
        let editor = Editor::new(options);
        let message = editor.told("window/showMessage")["message"].to_string();
        assert!(message.contains(what), "{message}");
        editor.end();
    }
    // The other options count.
    let editor = Editor::new(json!({ "isa": "valhall", "generation": 9 }));
    editor.open("file:///a.s", "asm", "MOV.i32 r1, r2\nFROB\n");
    let found = editor.diagnostics("file:///a.s");
    assert!(found[0]["message"].as_str().is_some_and(|message| message.contains("`FROB`")), "{found:?}");
    editor.end();
}

#[test]
fn the_editors_set_is_a_path_in_the_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    for part in ["specs", "programs"] {
        fs::create_dir(folder.join(part)).expect("it can be made");
    }
    crate::blink(&folder.join("specs"));
    let name = |path: &str| uri::of_path(&folder.join(path)).expect("a path").to_string();
    let editor = Editor::starting(json!({
        "capabilities": {},
        "workspaceFolders": [{ "uri": name("programs/none"), "name": "a" }, { "uri": name(""), "name": "b" }],
        "initializationOptions": { "isa": "specs/blink.yaml" },
    }));
    editor.open(&name("programs/a.s"), "asm", "FROB\n");
    let found = editor.diagnostics(&name("programs/a.s"));
    assert_eq!(found[0]["message"], "no instruction is called `FROB`", "{found:?}");
    // What a comment names is relative to the program.
    editor.open(&name("programs/b.s"), "asm", "// isa: ../specs/blink.yaml\nFROB\n");
    let found = editor.diagnostics(&name("programs/b.s"));
    assert_eq!(found[0]["message"], "no instruction is called `FROB`", "{found:?}");
    editor.end();
}

#[test]
fn a_client_that_never_pauses_gets_diagnostics_too() {
    let mut editor = Editor::new(Value::Null);
    editor.open("file:///a.s", "asm", "// isa: valhall\nFROB\n");
    let place = json!({ "textDocument": { "uri": "file:///a.s" }, "position": { "line": 0, "character": 0 } });
    let started = Instant::now();
    let mut number = 0;
    loop {
        number += 1;
        // Every second message is a change.
        match number % 2 {
            0 => editor.change("file:///a.s", number, &format!("// isa: valhall\nFROB\n// {number}")),
            _ => {
                let request = Request {
                    id: (1000 + number).into(),
                    method: "textDocument/hover".to_owned(),
                    params: place.clone(),
                };
                editor.connection.sender.send(Message::Request(request)).expect("the server listens");
            }
        }
        std::thread::sleep(Duration::from_millis(30));
        let mut heard = editor.connection.receiver.try_iter();
        if heard.any(
            |message| matches!(message, Message::Notification(told) if told.method.ends_with("publishDiagnostics")),
        ) {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "diagnostics starve");
    }
    let _ = editor.ask("textDocument/hover", place);
    editor.end();
}

#[test]
fn a_client_that_can_is_asked_to_watch_files() {
    let watching = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let editor = Editor::starting(json!({ "capabilities": watching }));
    let asked = editor.told("client/registerCapability");
    assert_eq!(asked["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    editor.end();
}

#[test]
fn a_client_gets_only_what_it_can_show() {
    let mut editor = Editor::starting(json!({ "capabilities": { "textDocument": {
        "hover": { "contentFormat": ["plaintext", "markdown"] }, "documentSymbol": {},
    } } }));
    editor.open("file:///a.s", "asm", "# isa: valhall\nloop: MOV.i32 r1, r2\n");
    let shown = editor.at("hover", "file:///a.s", 1, 8)["contents"].clone();
    let text = shown["value"].as_str().expect("a text");
    assert_eq!(shown["kind"], "plaintext");
    assert!(text.starts_with("MOV.i32") && !text.contains(['|', '*', '`']), "{text}");
    let symbol = editor.at("documentSymbol", "file:///a.s", 0, 0)[0].clone();
    assert_eq!((&symbol["name"], &symbol["location"]["uri"]), (&json!("loop"), &json!("file:///a.s")));
    editor.end();
}

#[cfg(unix)]
#[test]
fn the_server_ends_with_the_process_of_its_client() {
    let (client, theirs) = Connection::memory();
    let server = std::thread::spawn(move || serve(&theirs, &[] as &[Known]));
    let params = json!({ "capabilities": {}, "processId": u32::MAX >> 1 });
    let first = Request { id: RequestId::from(1), method: "initialize".to_owned(), params };
    client.sender.send(Message::Request(first)).expect("the server listens");
    // The connection stays open.
    let ended = server.join().expect("it does not panic");
    assert!(matches!(ended, Err(ServeError::Ended(_))), "{ended:?}");
}
