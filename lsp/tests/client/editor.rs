//! A simulated editor.

use isaforge_core::Tables;
use isaforge_lsp::{Known, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

/// An editor connected to a server.
pub struct Editor {
    pub connection: Connection,
    next: i32,
    server: Option<std::thread::JoinHandle<()>>,
}

impl Editor {
    pub fn new(options: Value) -> Editor {
        let capabilities = json!({
            "hover": { "contentFormat": ["markdown", "plaintext"] },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        });
        Editor::starting(json!({ "capabilities": { "textDocument": capabilities }, "initializationOptions": options }))
    }

    /// Starts a server with these parameters.
    pub fn starting(params: Value) -> Editor {
        let (connection, theirs) = Connection::memory();
        let server = std::thread::spawn(move || {
            let sets = [
                Known {
                    name: "valhall",
                    aliases: &["mali"],
                    tables: Tables::Words(isaforge_valhall::ISA),
                    semantics: Some(isaforge_valhall::semantics::SEMANTICS),
                    hardware: Some(isaforge_valhall::semantics::HARDWARE),
                },
                Known {
                    name: "usc",
                    aliases: &[],
                    tables: Tables::Groups(isaforge_usc::ISA),
                    semantics: Some(isaforge_usc::semantics::SEMANTICS),
                    hardware: Some(isaforge_usc::semantics::HARDWARE),
                },
            ];
            serve(&theirs, &sets).expect("the client keeps to the protocol");
        });
        let mut editor = Editor { connection, next: 0, server: Some(server) };
        let answer = editor.ask("initialize", params);
        assert_eq!(answer["serverInfo"]["name"], "isaforge");
        editor.tell("initialized", json!({}));
        editor
    }

    pub fn tell(&self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        self.connection.sender.send(message).expect("the server listens");
    }

    /// Waits for the response to a request.
    pub fn response(&mut self, method: &str, params: Value) -> lsp_server::Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(Message::Request(request)).expect("the server listens");
        loop {
            match self.connection.receiver.recv().expect("the server answers") {
                Message::Response(response) if response.id == id => return response,
                _ => {}
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.response(method, params).response_result.expect("there is an answer")
    }

    pub fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let place = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line, "character": character },
            "context": { "includeDeclaration": true },
        });
        self.ask(&format!("textDocument/{method}"), place)
    }

    pub fn open(&self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// Waits for the next diagnostics of a document.
    pub fn diagnostics(&self, uri: &str) -> Vec<Value> {
        loop {
            if let Message::Notification(found) = self.connection.receiver.recv().expect("the server speaks")
                && found.method == "textDocument/publishDiagnostics"
                && found.params["uri"] == uri
            {
                return found.params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// The next message of the server that is a notification or a request with this method.
    pub fn told(&self, method: &str) -> Value {
        loop {
            match self.connection.receiver.recv().expect("the server speaks") {
                Message::Notification(told) if told.method == method => return told.params,
                Message::Request(asked) if asked.method == method => return asked.params,
                _ => {}
            }
        }
    }

    pub fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().expect("it runs").join().expect("it ends well");
    }
}

pub fn labels(answer: &Value) -> Vec<String> {
    answer.as_array().into_iter().flatten().filter_map(|item| Some(item["label"].as_str()?.to_owned())).collect()
}

pub fn edit(item: &Value) -> (u64, u64, &str) {
    let range = &item["textEdit"]["range"];
    let column = |end: &str| range[end]["character"].as_u64().expect("a column");
    (column("start"), column("end"), item["textEdit"]["newText"].as_str().expect("a text"))
}

/// The first line and column of each range in a list.
pub fn starts(answer: &Value) -> Vec<(u64, u64)> {
    let start = |found: &Value| {
        let start = &found["range"]["start"];
        (start["line"].as_u64().expect("a line"), start["character"].as_u64().expect("a column"))
    };
    answer.as_array().into_iter().flatten().map(start).collect()
}
