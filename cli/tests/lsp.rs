//! The language server as an editor starts it: a process spoken to over standard input and output.

use std::io::{BufReader, Read};
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
    let output =
        Command::new(env!("CARGO_BIN_EXE_isaforge")).arg("lsp").stdin(Stdio::null()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).expect("messages are text");
    assert!(message.starts_with("isaforge lsp: the client violates the protocol"), "{message}");
}
