//! The language server as an editor starts it: a process spoken to over standard input and output.

use std::io::{BufReader, Read, Write};
use std::process::{Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

#[test]
fn an_editor_starts_the_server_and_ends_it() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["lsp", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut to = child.stdin.take().expect("stdin is piped");
    let mut from = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut tell = |message: Message| message.write(&mut to).expect("the server listens");
    let request = |id: i32, method: &str, params: Value| {
        Message::Request(Request { id: RequestId::from(id), method: method.to_owned(), params })
    };
    let notification =
        |method: &str, params: Value| Message::Notification(Notification::new(method.to_owned(), params));
    let mut hear = || Message::read(&mut from).expect("it speaks the protocol").expect("it speaks");

    tell(request(1, "initialize", json!({ "capabilities": {} })));
    let Message::Response(response) = hear() else { panic!("a response is expected") };
    let capabilities = &response.response_result.expect("it can be initialized")["capabilities"];
    for name in ["hoverProvider", "completionProvider", "renameProvider", "inlayHintProvider", "definitionProvider"] {
        assert!(!capabilities[name].is_null(), "{name}");
    }
    tell(notification("initialized", json!({})));
    for (number, name) in ["valhall", "vpu", "usc", "valhall-2021"].iter().enumerate() {
        let uri = format!("file:///shader{number}.s");
        let document =
            json!({ "uri": uri, "languageId": "asm", "version": 1, "text": format!("# isa: {name}\nfrobnicate r1\n") });
        tell(notification("textDocument/didOpen", json!({ "textDocument": document })));
        let Message::Notification(found) = hear() else { panic!("diagnostics are expected") };
        assert_eq!(
            (found.method.as_str(), found.params["uri"].as_str()),
            ("textDocument/publishDiagnostics", Some(&uri[..]))
        );
        assert_eq!(found.params["diagnostics"][0]["range"]["start"]["line"], 1, "{name}: {}", found.params);
    }
    tell(request(2, "shutdown", Value::Null));
    assert!(matches!(hear(), Message::Response(_)));
    tell(notification("exit", Value::Null));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut rest = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut rest).expect("messages are text");
    assert_eq!(rest, "");
}

#[test]
fn what_is_no_protocol_ends_the_server_with_a_message() {
    let answer = |input: &str| {
        let mut server = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = server.stdin.take().expect("stdin is piped");
        stdin.write_all(input.as_bytes()).expect("it is written");
        drop(stdin);
        let output = server.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8(output.stderr).expect("messages are text"))
    };
    // The end of the input is no mistake.
    assert_eq!(answer(""), (Some(0), String::new()));
    assert_eq!(answer("nonsense\r\n\r\n"), (Some(1), "isaforge lsp: a header has no value\n".to_owned()));
    let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let (status, message) = answer(&format!("Content-Length:{}\r\n\r\n{exit}", exit.len()));
    assert_eq!(
        (status, &message[..]),
        (Some(1), "isaforge lsp: the client sent `exit` without `shutdown` before it\n")
    );
    // A frame without a valid message is answered, and the server goes on.
    assert_eq!(answer("Content-Length: 15\r\n\r\n{\"jsonrpc\":\"2\"}"), (Some(0), String::new()));
    assert_eq!(answer("Content-Length: 4\r\n\r\n{foo"), (Some(0), String::new()));
}

/// An editor whose server must answer soon.
struct Editor {
    server: std::process::Child,
    heard: std::sync::mpsc::Receiver<Message>,
}

impl Editor {
    fn new() -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_isaforge"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut from = BufReader::new(server.stdout.take().expect("stdout is piped"));
        let (sender, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut from) {
                let _ = sender.send(message);
            }
        });
        let mut editor = Editor { server, heard };
        editor.ask(1, "initialize", json!({ "capabilities": {} }));
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: Message) {
        message.write(self.server.stdin.as_mut().expect("stdin is piped")).expect("the server listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Message::Notification(Notification::new(method.to_owned(), params)));
    }

    /// The next message that `wanted` accepts.
    fn hear<T>(&self, wanted: impl Fn(Message) -> Option<T>) -> T {
        loop {
            // Test machines may be slow.
            let message = self.heard.recv_timeout(std::time::Duration::from_secs(60)).expect("the server answers");
            if let Some(found) = wanted(message) {
                return found;
            }
        }
    }

    fn ask(&mut self, id: i32, method: &str, params: Value) {
        self.send(Message::Request(Request { id: RequestId::from(id), method: method.to_owned(), params }));
        self.hear(|message| {
            matches!(message, Message::Response(found) if found.id == RequestId::from(id)).then_some(())
        });
    }

    fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn diagnostics(&self) -> Vec<Value> {
        self.hear(|message| match message {
            Message::Notification(found) => found.params["diagnostics"].as_array().cloned(),
            _ => None,
        })
    }

    fn end(mut self) {
        self.ask(99, "shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.server.wait().expect("it ends").code(), Some(0));
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_beside_a_part_are_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    let part = "instructions: { A: { doc: x, fixed: { 7..0: 7 } } }\n";
    std::fs::write(here.join("part.yaml"), part).expect("it can be written");
    let made = Command::new("mkfifo").arg(here.join("pipe.yaml")).status().expect("mkfifo is there");
    assert!(made.success());
    std::os::unix::fs::symlink("/dev/zero", here.join("zero.yaml")).expect("a link");
    let mut editor = Editor::new();
    let uri = format!("file://{}", here.join("part.yaml").display());
    editor.open(&uri, "yaml", part);
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 2 } });
    editor.ask(2, "textDocument/hover", place.clone());
    editor.ask(3, "textDocument/documentSymbol", place);
    editor.end();
}

#[test]
fn an_editor_gets_so_many_diagnostics_and_the_number_of_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let enums: String =
        (0..2000).map(|n| format!("  I{n}: {{ doc: x, fixed: {{ 15..0: {n} }}, nonsense: 1 }}\n")).collect();
    let text = format!("isa: x\nword: 16\nprovenance: document\ninstructions:\n{enums}");
    let uri = format!("file://{}", folder.path().join("isa.yaml").display());
    std::fs::write(folder.path().join("isa.yaml"), &text).expect("it can be written");
    let mut editor = Editor::new();
    editor.open(&uri, "yaml", &text);
    let found = editor.diagnostics();
    assert_eq!(found.len(), 101);
    assert_eq!(found[100]["message"], "... and 1900 more errors");
    editor.open("file:///a.s", "asm", &format!("# isa: valhall\n{}", "NONSENSE r1\n".repeat(2000)));
    let found = editor.diagnostics();
    assert_eq!(found.len(), 101);
    assert_eq!(found[100]["message"], "... and 1900 more");
    // Messages quote the text.
    editor.open("file:///b.s", "asm", "# isa: valhall\nMOV.i32 r1, \u{202e}x\n");
    let found = editor.diagnostics();
    assert!(!found.is_empty() && !format!("{}", found[0]["message"]).contains('\u{202e}'), "{found:?}");
    editor.end();
}

#[test]
fn a_message_that_is_none_is_answered_and_the_next_one_too() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = server.stdin.take().expect("stdin is piped");
    for body in [
        "{foo",
        "[]",
        r#"{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":{}}}"#,
    ] {
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it is written");
    }
    drop(stdin);
    let output = server.wait_with_output().expect("it ends");
    let answers = String::from_utf8(output.stdout).expect("messages are text");
    let count = |part: &str| answers.matches(part).count();
    let refused = [count("\"id\":null"), count("\"code\":-32700"), count("\"code\":-32600")];
    assert_eq!((output.status.code(), refused, count("\"id\":7")), (Some(0), [3, 1, 2], 1), "{answers}");
}

#[cfg(unix)]
#[test]
fn the_server_ends_when_its_editor_is_gone_although_the_pipe_is_open() {
    let mut parent = Command::new("sleep").arg("600").spawn().expect("it starts");
    let mut server = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    let params = json!({ "capabilities": {}, "processId": parent.id() });
    let first = Request { id: RequestId::from(1), method: "initialize".to_owned(), params };
    Message::Request(first).write(server.stdin.as_mut().expect("stdin is piped")).expect("the server listens");
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(server.try_wait().expect("it can be asked").is_none());
    parent.kill().expect("it runs");
    parent.wait().expect("it ends");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let ended = loop {
        if let Some(status) = server.try_wait().expect("it can be asked") {
            break status;
        }
        assert!(std::time::Instant::now() < until, "the server stays");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(ended.code(), Some(0));
}
