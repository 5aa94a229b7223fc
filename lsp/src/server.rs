//! The main loop: reads messages, keeps documents and answers requests.
//!
//! Requests are answered immediately, since they depend on the current text; diagnostics wait for a pause in typing.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use isaforge_compiler::source::visible;
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{
    Completion, DocumentHighlightRequest, DocumentSymbolRequest, GotoDefinition, HoverRequest, InlayHintRequest,
    PrepareRenameRequest, References, Rename, Request as _,
};
use lsp_types::{
    CompletionOptions, CompletionResponse, Diagnostic, DiagnosticSeverity, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentSymbol,
    DocumentSymbolResponse, GotoDefinitionResponse, HoverProviderCapability, InitializeParams, Location, OneOf,
    Position, PrepareRenameResponse, PublishDiagnosticsParams, Range, RenameOptions, ServerCapabilities, SymbolKind,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, Uri,
    WorkspaceEdit,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::assembly::{self, Source};
use crate::set::{Known, Named, Sets};
use crate::specification::{self, Checked, Specifications, Unsaved};
use crate::uri;

/// Why the server ended before its client asked it to.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client violated the protocol.
    #[error("the client violates the protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// The client is gone.
    #[error("the connection to the client is closed")]
    Gone,
}

/// How long a pause in typing must be before a text is checked.
const PAUSE: Duration = Duration::from_millis(120);

/// Serves one client until it asks to exit. `sets` are the built-in instruction sets.
///
/// # Errors
/// When the client violates the protocol.
pub fn serve(connection: &Connection, sets: &[Known]) -> Result<(), ServeError> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let server = json!({ "name": "isaforge", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": server }))?;
    let default = params.initialization_options.and_then(|options| serde_json::from_value(options).ok());
    #[allow(deprecated, reason = "clients that know no other field still send this one")]
    let root = params.root_uri.as_ref().and_then(uri::path);
    let folders = params.workspace_folders.unwrap_or_default();
    let root = folders.first().and_then(|folder| uri::path(&folder.uri)).or(root).unwrap_or_default();
    let mut server = Server {
        connection,
        sets: Sets::new(sets),
        default: default.unwrap_or_default(),
        root,
        documents: HashMap::new(),
        waiting: BTreeSet::new(),
        reported: HashMap::new(),
        specifications: Specifications::default(),
    };
    server.run()
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(true.into()),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", ",", " "].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// A document that is open in the editor.
struct Document {
    text: String,
    version: i32,
    /// Its file, with symbolic links resolved.
    path: Option<PathBuf>,
    yaml: bool,
    /// The result for exactly this text, or the error; `None` when it has not been computed.
    assembly: Option<Result<Source, (String, usize)>>,
}

struct Server<'s> {
    connection: &'s Connection,
    sets: Sets<'s>,
    default: Named,
    root: PathBuf,
    documents: HashMap<Uri, Document>,
    /// Documents that must be checked, by name.
    waiting: BTreeSet<String>,
    /// The files in which each specification had errors.
    reported: HashMap<PathBuf, Vec<PathBuf>>,
    specifications: Specifications,
}

impl Server<'_> {
    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            let message = if self.waiting.is_empty() {
                self.connection.receiver.recv().map_err(|_| ServeError::Gone)?
            } else {
                match self.connection.receiver.recv_timeout(PAUSE) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.check()?;
                        continue;
                    }
                    Err(_) => return Err(ServeError::Gone),
                }
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.answer(request)?;
                }
                Message::Notification(notification) => self.hear(notification)?,
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: Message) -> Result<(), ServeError> {
        self.connection.sender.send(message).map_err(|_| ServeError::Gone)
    }

    fn hear(&mut self, notification: Notification) -> Result<(), ServeError> {
        let method = notification.method.clone();
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(DidOpenTextDocumentParams { text_document: opened }) = read(notification.params) else {
                    return Ok(());
                };
                let path = uri::path(&opened.uri).map(|path| path.canonicalize().unwrap_or(path));
                let end = path.as_deref().and_then(Path::extension).and_then(|end| end.to_str());
                let yaml = opened.language_id == "yaml" || matches!(end, Some("yaml" | "yml"));
                let (text, version) = (opened.text, opened.version);
                self.documents.insert(opened.uri.clone(), Document { text, version, path, yaml, assembly: None });
                self.waiting.insert(opened.uri.to_string());
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<DidChangeTextDocumentParams>(notification.params) else { return Ok(()) };
                let name = params.text_document.uri;
                if let (Some(document), Some(last)) =
                    (self.documents.get_mut(&name), params.content_changes.into_iter().next_back())
                {
                    (document.text, document.version) = (last.text, params.text_document.version);
                    document.assembly = None;
                    self.waiting.insert(name.to_string());
                }
            }
            DidSaveTextDocument::METHOD => {
                let Some(params) = read::<DidSaveTextDocumentParams>(notification.params) else { return Ok(()) };
                // Programs may depend on the specification that was saved.
                let saved = self.documents.get(&params.text_document.uri).is_some_and(|document| document.yaml);
                for (name, document) in self.documents.iter_mut().filter(|(_, document)| saved && !document.yaml) {
                    document.assembly = None;
                    self.waiting.insert(name.to_string());
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(DidCloseTextDocumentParams { text_document }) = read(notification.params) else {
                    return Ok(());
                };
                self.waiting.remove(text_document.uri.as_str());
                if self.documents.remove(&text_document.uri).is_some_and(|document| !document.yaml) {
                    self.publish(text_document.uri, None, Vec::new())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the documents that have changed.
    fn check(&mut self) -> Result<(), ServeError> {
        let waiting = std::mem::take(&mut self.waiting);
        let names: Vec<Uri> = self.documents.keys().filter(|name| waiting.contains(name.as_str())).cloned().collect();
        for name in names {
            let Some(document) = self.documents.get(&name) else { continue };
            if document.yaml {
                if let Some(path) = document.path.clone() {
                    self.check_specification(&path)?;
                }
                continue;
            }
            let found = match self.assembly(&name) {
                Some(Ok(source)) => assembly::diagnostics::diagnostics(source),
                Some(Err((message, line))) => {
                    let place = Position::new(*line as u32, 0);
                    vec![Diagnostic {
                        range: Range::new(place, Position::new(*line as u32, u32::MAX)),
                        severity: Some(DiagnosticSeverity::WARNING),
                        source: Some("isaforge".to_owned()),
                        message: message.clone(),
                        ..Diagnostic::default()
                    }]
                }
                None => continue,
            };
            let version = self.documents.get(&name).map(|document| document.version);
            self.publish(name, version, found)?;
        }
        Ok(())
    }

    fn check_specification(&mut self, path: &Path) -> Result<(), ServeError> {
        let unsaved = self.unsaved();
        let Some(checked) = self.specifications.of_file(path, &unsaved) else { return Ok(()) };
        let mut found = checked.diagnostics();
        // Also publish the files whose errors have been fixed.
        for file in self.reported.remove(&checked.entry).unwrap_or_default() {
            found.entry(file).or_default();
        }
        found.entry(path.to_owned()).or_default();
        let wrong = found.iter().filter(|(_, found)| !found.is_empty()).map(|(file, _)| file.clone()).collect();
        self.reported.insert(checked.entry.clone(), wrong);
        for (file, found) in found {
            if let Some(name) = self.name_of(&file) {
                self.publish(name, None, found)?;
            }
        }
        Ok(())
    }

    /// The name that the editor has for a file, if it is open.
    fn name_of(&self, path: &Path) -> Option<Uri> {
        let open = self.documents.iter().find(|(_, document)| document.path.as_deref() == Some(path));
        open.map(|(name, _)| name.clone()).or_else(|| uri::of_path(path))
    }

    fn publish(&self, uri: Uri, version: Option<i32>, mut diagnostics: Vec<Diagnostic>) -> Result<(), ServeError> {
        for found in &mut diagnostics {
            found.message = visible(&found.message);
            for related in found.related_information.iter_mut().flatten() {
                related.message = visible(&related.message);
            }
        }
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        self.send(Message::Notification(Notification::new(PublishDiagnostics::METHOD.to_owned(), params)))
    }

    /// The unsaved texts of specifications.
    fn unsaved(&self) -> Unsaved {
        let open = self.documents.values().filter(|document| document.yaml);
        open.filter_map(|document| Some((document.path.clone()?, document.text.clone()))).collect()
    }

    /// An assembled program, or the error and the line that causes it. `None` for other documents.
    fn assembly(&mut self, name: &Uri) -> Option<&Result<Source, (String, usize)>> {
        let document = self.documents.get_mut(name).filter(|document| !document.yaml)?;
        if document.assembly.is_none() {
            let path = document.path.clone().unwrap_or_default();
            let read = match self.sets.named(&document.text, &path, &self.default) {
                Some((named, line)) => {
                    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(&self.root);
                    let set = self.sets.open(&named, folder);
                    set.map(|set| Source::read(document.text.clone(), set)).map_err(|message| (message, line))
                }
                None => Err(("no instruction set is named; begin with a comment such as `// isa: NAME`".to_owned(), 0)),
            };
            document.assembly = Some(read);
        }
        document.assembly.as_ref()
    }

    fn source(&mut self, name: &Uri) -> Option<&Source> {
        self.assembly(name)?.as_ref().ok()
    }

    /// The specification that a document belongs to, and the document's path.
    fn specification(&mut self, name: &Uri) -> Option<(Rc<Checked>, PathBuf)> {
        let path = self.documents.get(name).filter(|document| document.yaml)?.path.clone()?;
        let unsaved = self.unsaved();
        Some((self.specifications.of_file(&path, &unsaved)?, path))
    }

    fn answer(&mut self, request: Request) -> Result<(), ServeError> {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            HoverRequest::METHOD => self.at(params, |server, place| server.hover(&place)),
            Completion::METHOD => self.at(params, |server, place| {
                let source = server.source(&place.text_document.uri)?;
                Some(CompletionResponse::Array(assembly::complete::complete(source, place.position)))
            }),
            GotoDefinition::METHOD => self.at(params, |server, place| server.definition(&place)),
            References::METHOD => self.at(params, |server, place| {
                let source = server.source(&place.text_document.uri)?;
                let places = assembly::names::places(source, place.position).into_iter();
                Some(
                    places.map(|found| Location::new(place.text_document.uri.clone(), found.range)).collect::<Vec<_>>(),
                )
            }),
            DocumentHighlightRequest::METHOD => self.at(params, |server, place| {
                let source = server.source(&place.text_document.uri)?;
                Some(assembly::names::places(source, place.position))
            }),
            PrepareRenameRequest::METHOD => self.at(params, |server, place| {
                let source = server.source(&place.text_document.uri)?;
                let (_, bytes) = assembly::names::label_at(source, place.position)?;
                Some(PrepareRenameResponse::Range(source.text.range(place.position.line as usize, bytes)))
            }),
            Rename::METHOD => return self.rename(id, params),
            InlayHintRequest::METHOD => read::<lsp_types::InlayHintParams>(params).and_then(|params| {
                let source = self.source(&params.text_document.uri)?;
                shown(assembly::words::hints(source, params.range))
            }),
            DocumentSymbolRequest::METHOD => read::<lsp_types::DocumentSymbolParams>(params).and_then(|params| {
                let source = self.source(&params.text_document.uri)?;
                shown(DocumentSymbolResponse::Nested(symbols(source)))
            }),
            _ => {
                let message = format!("`{method}` is not supported");
                return self.send(Message::Response(Response::new_err(id, ErrorCode::MethodNotFound as i32, message)));
            }
        };
        self.send(Message::Response(Response::new_ok(id, answer.unwrap_or(Value::Null))))
    }

    fn at<T: serde::Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&mut Self, TextDocumentPositionParams) -> Option<T>,
    ) -> Option<Value> {
        let place = read::<TextDocumentPositionParams>(params)?;
        answer(self, place).and_then(shown)
    }

    fn hover(&mut self, place: &TextDocumentPositionParams) -> Option<lsp_types::Hover> {
        let name = &place.text_document.uri;
        if let Some((checked, path)) = self.specification(name) {
            return specification::answers::hover(&checked, &path, place.position, &self.unsaved());
        }
        assembly::hover::hover(self.source(name)?, place.position)
    }

    fn definition(&mut self, place: &TextDocumentPositionParams) -> Option<GotoDefinitionResponse> {
        let name = &place.text_document.uri;
        if let Some((checked, path)) = self.specification(name) {
            let found = specification::answers::definition(&checked, &path, place.position, &self.unsaved())?;
            return Some(GotoDefinitionResponse::Scalar(found));
        }
        let range = assembly::names::definition(self.source(name)?, place.position)?;
        Some(GotoDefinitionResponse::Scalar(Location::new(name.clone(), range)))
    }

    fn rename(&mut self, id: RequestId, params: Value) -> Result<(), ServeError> {
        let edit = read::<lsp_types::RenameParams>(params).ok_or_else(|| "the request is invalid".to_owned()).and_then(
            |params| {
                let lsp_types::RenameParams { text_document_position: place, new_name, .. } = params;
                let name = place.text_document.uri;
                let source = self.source(&name).ok_or_else(|| "this is not a program".to_owned())?;
                let edits = assembly::names::rename(source, place.position, &new_name)?;
                #[allow(clippy::mutable_key_type, reason = "the map of the protocol's own types")]
                let changes = HashMap::from([(name, edits)]);
                Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
            },
        );
        let response = match edit {
            Ok(edit) => Response::new_ok(id, edit),
            Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
        };
        self.send(Message::Response(response))
    }
}

/// The labels of a program.
fn symbols(source: &Source) -> Vec<DocumentSymbol> {
    let symbol = |label: &isaforge_core::assembly::Label| {
        let range = source.text.range(label.line, label.at..label.at + label.name.len());
        #[allow(deprecated, reason = "the field has no default")]
        DocumentSymbol {
            name: label.name.clone(),
            detail: None,
            kind: SymbolKind::FUNCTION,
            tags: None,
            deprecated: None,
            range,
            selection_range: range,
            children: None,
        }
    };
    source.assembly.labels.iter().map(symbol).collect()
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn shown<T: serde::Serialize>(answer: T) -> Option<Value> {
    serde_json::to_value(answer).ok()
}
