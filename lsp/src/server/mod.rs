//! The main loop: reads messages, keeps documents and answers requests.
//!
//! ```text
//! initialize ──▶ requests: answered immediately ─────────────────▶ shutdown ──▶ exit
//!                notifications ──▶ documents ──pause──▶ diagnostics
//! ```
//!
//! - `options`: what the editor configures
//! - `documents`: open texts, and what must be checked when they or files change
//! - `check`: diagnostics, which wait for a pause in typing
//! - `answer`: requests, which depend on the current text
//! - `client`: whether the process of the client is still there
//! - this file: the life of a connection

mod answer;
mod check;
mod client;
mod documents;
mod options;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use lsp_server::{Connection, ErrorCode, Message, Request, Response};
use lsp_types::notification::{Exit, Initialized, Notification as _, ShowMessage};
use lsp_types::request::{Initialize, RegisterCapability, Request as _, Shutdown};
use lsp_types::{Diagnostic, InitializeParams, MessageType, ShowMessageParams, Uri};
use serde::de::DeserializeOwned;
use serde_json::json;
use thiserror::Error;

use self::documents::{Document, Waiting};
use self::options::{Options, capabilities};
use crate::set::{Known, Sets};
use crate::specification::Specifications;

/// Why the server ended before its client asked it to.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client sent `exit` although it had not sent `shutdown`.
    #[error("the client sent `exit` without `shutdown` before it")]
    Exit,
    /// The client is gone.
    #[error("the connection to the client is closed")]
    Gone,
    /// The process that the client named as its own has ended; the connection may still be open.
    #[error("the process {0} of the client has ended")]
    Ended(u32),
}

/// Serves one client until it asks to exit. `sets` are the built-in instruction sets.
///
/// # Errors
/// When the client closes the connection or sends `exit`, both without `shutdown` before, or when its process ends.
pub fn serve(connection: &Connection, sets: &[Known]) -> Result<(), ServeError> {
    let params = initialize(connection, sets)?;
    let (options, complaints) = Options::read(&params);
    let mut server = Server {
        connection,
        sets: Sets::new(sets),
        options,
        documents: HashMap::new(),
        waiting: Waiting::default(),
        published: HashMap::new(),
        specifications: Specifications::default(),
        refreshed: 0,
    };
    for message in complaints {
        server.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::WARNING, message })?;
    }
    server.run()?;
    // Only `exit` is left.
    loop {
        match server.hear_until(None) {
            Ok(Some(Message::Request(request))) => {
                refuse(connection, request, ErrorCode::InvalidRequest, "the server is shut down")?;
            }
            Ok(Some(Message::Notification(told))) if told.method == Exit::METHOD => return Ok(()),
            Ok(_) => {}
            Err(ServeError::Ended(process)) => return Err(ServeError::Ended(process)),
            Err(_) => return Ok(()),
        }
    }
}

/// Waits for the client's first request, and answers it.
fn initialize(connection: &Connection, sets: &[Known]) -> Result<InitializeParams, ServeError> {
    loop {
        match connection.receiver.recv().map_err(|_| ServeError::Gone)? {
            Message::Request(Request { id, method, params }) if method == Initialize::METHOD => {
                let server = json!({ "name": "isaforge", "version": env!("CARGO_PKG_VERSION") });
                let answer = json!({ "capabilities": capabilities(sets), "serverInfo": server });
                send(connection, Message::Response(Response::new_ok(id, answer)))?;
                return Ok(read(params).unwrap_or_default());
            }
            Message::Request(request) => {
                refuse(connection, request, ErrorCode::ServerNotInitialized, "`initialize` must come first")?;
            }
            Message::Notification(told) if told.method == Exit::METHOD => return Err(ServeError::Exit),
            _ => {}
        }
    }
}

fn send(connection: &Connection, message: Message) -> Result<(), ServeError> {
    connection.sender.send(message).map_err(|_| ServeError::Gone)
}

fn refuse(connection: &Connection, request: Request, code: ErrorCode, why: &str) -> Result<(), ServeError> {
    send(connection, Message::Response(Response::new_err(request.id, code as i32, why.to_owned())))
}

struct Server<'s> {
    connection: &'s Connection,
    sets: Sets<'s>,
    options: Options,
    documents: HashMap<Uri, Document>,
    waiting: Waiting,
    /// The diagnostics of specifications that the client shows, by name of the file; only those that are not empty.
    published: HashMap<String, Vec<Diagnostic>>,
    specifications: Specifications,
    /// How often the client was told to ask for inlay hints again.
    refreshed: u32,
}

/// How often the server looks whether its client is still there.
const LOOKS: Duration = Duration::from_secs(3);

impl Server<'_> {
    /// Serves until `shutdown`.
    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            let Some(message) = self.next()? else {
                self.check()?;
                continue;
            };
            match message {
                Message::Request(Request { id, method, .. }) if method == Shutdown::METHOD => {
                    return self.send(Message::Response(Response::new_ok(id, ())));
                }
                Message::Request(request) if request.method == Initialize::METHOD => {
                    refuse(self.connection, request, ErrorCode::InvalidRequest, "the server is initialized already")?;
                }
                Message::Request(request) => self.answer(request)?,
                Message::Notification(told) if told.method == Exit::METHOD => return Err(ServeError::Exit),
                Message::Notification(told) if told.method == Initialized::METHOD => self.watch()?,
                Message::Notification(told) => self.hear(told)?,
                Message::Response(_) => {}
            }
        }
    }

    /// The next message. `None` when it is time to check what has changed.
    fn next(&self) -> Result<Option<Message>, ServeError> {
        match self.waiting.due() {
            Some((_, latest)) if Instant::now() >= latest => Ok(None),
            // A message that is there already is read even if the pause has passed: it may change the text once more.
            Some((due, _)) => self.hear_until(Some(due)),
            None => self.hear_until(None),
        }
    }

    /// Waits for a message, at most until a time. `None` when that time has come.
    fn hear_until(&self, due: Option<Instant>) -> Result<Option<Message>, ServeError> {
        let receiver = &self.connection.receiver;
        loop {
            let look = Instant::now() + LOOKS;
            let until = match (due, self.options.client) {
                (None, None) => return receiver.recv().map(Some).map_err(|_| ServeError::Gone),
                (Some(due), None) => due,
                (due, Some(_)) => due.map_or(look, |due| due.min(look)),
            };
            match receiver.recv_deadline(until) {
                Ok(message) => return Ok(Some(message)),
                Err(error) if !error.is_timeout() => return Err(ServeError::Gone),
                Err(_) if due.is_some_and(|due| Instant::now() >= due) => return Ok(None),
                Err(_) => {}
            }
            if let Some(process) = self.options.client.filter(|process| client::has_ended(*process)) {
                return Err(ServeError::Ended(process));
            }
        }
    }

    /// Asks the client to tell when the files of specifications change, if it can.
    fn watch(&self) -> Result<(), ServeError> {
        if !self.options.watches {
            return Ok(());
        }
        let watchers = json!({ "watchers": [{ "globPattern": "**/*.{yaml,yml,xml,json}" }] });
        let registration = json!({
            "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": watchers,
        });
        let params = json!({ "registrations": [registration] });
        let id = "files".to_owned().into();
        self.send(Message::Request(Request { id, method: RegisterCapability::METHOD.to_owned(), params }))
    }

    fn send(&self, message: Message) -> Result<(), ServeError> {
        send(self.connection, message)
    }

    fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) -> Result<(), ServeError> {
        self.send(Message::Notification(lsp_server::Notification::new(N::METHOD.to_owned(), params)))
    }
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
