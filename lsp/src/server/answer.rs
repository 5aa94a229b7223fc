//! Answers to requests.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use lsp_server::{ErrorCode, Message, Request, Response};
use lsp_types::request::{
    Completion, DocumentHighlightRequest, DocumentSymbolRequest, GotoDefinition, HoverRequest, InlayHintRequest,
    PrepareRenameRequest, References, Rename, Request as _,
};
use lsp_types::{
    DocumentHighlightKind, DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionResponse, Hover,
    HoverContents, InlayHintParams, Location, MarkupContent, MarkupKind, PrepareRenameResponse, Range, RenameParams,
    SymbolInformation, SymbolKind, TextDocumentPositionParams, Uri, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ServeError, Server};
use crate::assembly::{self, Source};
use crate::specification::entry::is_foreign;
use crate::specification::{self, Checked};
use crate::text::unmarked;

/// Why a request has no answer.
type Refused = (ErrorCode, String);
/// An answer; null when there is nothing to tell.
type Answer = Result<Value, Refused>;

impl Server<'_> {
    pub(super) fn answer(&mut self, request: Request) -> Result<(), ServeError> {
        let Request { id, method, params } = request;
        let answer = match method.as_str() {
            HoverRequest::METHOD => {
                read(params).and_then(|place| shown(self.hover(&place).map(|hover| self.plain(hover))))
            }
            Completion::METHOD => {
                let inserts = self.options.inserts;
                self.at(params, |source, place| Some(assembly::complete::complete(source, place.position, inserts)))
            }
            GotoDefinition::METHOD => read(params).and_then(|place| shown(self.definition(&place))),
            References::METHOD => {
                let all = params.pointer("/context/includeDeclaration").and_then(Value::as_bool).unwrap_or(true);
                self.at(params, |source, place| Some(references(source, place, all)))
            }
            DocumentHighlightRequest::METHOD => {
                self.at(params, |source, place| Some(assembly::names::places(source, place.position)))
            }
            PrepareRenameRequest::METHOD => self.at(params, |source, place| {
                let (_, bytes) = assembly::names::label_at(source, place.position)?;
                Some(PrepareRenameResponse::Range(source.text.range(place.position.line as usize, bytes)))
            }),
            Rename::METHOD => read(params).and_then(|params| self.rename(params)),
            InlayHintRequest::METHOD => read::<InlayHintParams>(params).and_then(|params| {
                shown(self.source(&params.text_document.uri).map(|source| assembly::words::hints(source, params.range)))
            }),
            DocumentSymbolRequest::METHOD => {
                read::<DocumentSymbolParams>(params).and_then(|params| shown(self.outline(&params.text_document.uri)))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not supported"))),
        };
        self.send(Message::Response(match answer {
            Ok(answer) => Response::new_ok(id, answer),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }))
    }

    /// Answers a request about a position in a program.
    fn at<T: Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&Source, &TextDocumentPositionParams) -> Option<T>,
    ) -> Answer {
        let place: TextDocumentPositionParams = read(params)?;
        shown(self.source(&place.text_document.uri).and_then(|source| answer(source, &place)))
    }

    /// The specification that a document belongs to, and the document's path.
    fn specification(&mut self, name: &Uri) -> Option<(Rc<Checked>, PathBuf)> {
        let path = self.documents.get(name).filter(|document| document.data)?.path.clone()?;
        if is_foreign(&path) {
            return None;
        }
        let unsaved = self.unsaved();
        Some((self.specifications.of_file(&path, &unsaved)?, path))
    }

    /// The hover text in a form that the client shows.
    fn plain(&self, mut hover: Hover) -> Hover {
        if let HoverContents::Markup(content) = &mut hover.contents
            && !self.options.markdown
        {
            *content = MarkupContent { kind: MarkupKind::PlainText, value: unmarked(&content.value) };
        }
        hover
    }

    fn hover(&mut self, place: &TextDocumentPositionParams) -> Option<Hover> {
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

    /// The labels of a program, or the definitions in a file of a specification.
    fn outline(&mut self, name: &Uri) -> Option<DocumentSymbolResponse> {
        let symbols = match self.specification(name) {
            Some((_, path)) => specification::answers::symbols(&path, &self.unsaved())?,
            None => symbols(self.source(name)?),
        };
        if self.options.nests {
            return Some(DocumentSymbolResponse::Nested(symbols));
        }
        let mut flat = Vec::new();
        flatten(name, None, symbols, &mut flat);
        Some(DocumentSymbolResponse::Flat(flat))
    }

    fn rename(&mut self, params: RenameParams) -> Answer {
        let failed = |message: String| (ErrorCode::RequestFailed, message);
        let RenameParams { text_document_position: place, new_name, .. } = params;
        let name = place.text_document.uri;
        let source = self.source(&name).ok_or_else(|| failed("this is not a program".to_owned()))?;
        let edits = assembly::names::rename(source, place.position, &new_name).map_err(failed)?;
        #[allow(clippy::mutable_key_type, reason = "the map of the protocol's own types")]
        let changes = HashMap::from([(name, edits)]);
        shown(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
    }
}

/// The places of a label or register. Only labels have a declaration.
fn references(source: &Source, place: &TextDocumentPositionParams, declaration: bool) -> Vec<Location> {
    let of_label = assembly::names::label_at(source, place.position).is_some();
    let mut found = assembly::names::places(source, place.position);
    found.retain(|one| declaration || !of_label || one.kind != Some(DocumentHighlightKind::WRITE));
    found.into_iter().map(|one| Location::new(place.text_document.uri.clone(), one.range)).collect()
}

/// Lists the symbols of a tree.
fn flatten(name: &Uri, container: Option<&str>, symbols: Vec<DocumentSymbol>, found: &mut Vec<SymbolInformation>) {
    for symbol in symbols {
        #[allow(deprecated, reason = "the field has no default")]
        found.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: symbol.kind,
            tags: None,
            deprecated: None,
            location: Location::new(name.clone(), symbol.range),
            container_name: container.map(str::to_owned),
        });
        flatten(name, Some(&symbol.name), symbol.children.unwrap_or_default(), found);
    }
}

/// The labels of a program, each with the lines up to the next one.
fn symbols(source: &Source) -> Vec<DocumentSymbol> {
    let labels = &source.assembly.labels;
    let symbol = |(index, label): (usize, &isaforge_core::assembly::Label)| {
        let selection_range = source.text.range(label.line, label.at..label.at + label.name.len());
        let end = match labels.get(index + 1) {
            Some(next) if next.line == label.line => source.text.position(next.line, next.at),
            Some(next) => source.text.position(next.line - 1, usize::MAX),
            None => source.text.position(source.text.lines() - 1, usize::MAX),
        };
        let range = Range::new(selection_range.start, end);
        #[allow(deprecated, reason = "the field has no default")]
        DocumentSymbol {
            name: label.name.clone(),
            detail: None,
            kind: SymbolKind::FUNCTION,
            tags: None,
            deprecated: None,
            range,
            selection_range,
            children: None,
        }
    };
    labels.iter().enumerate().map(symbol).collect()
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, format!("invalid parameters: {error}")))
}

fn shown<T: Serialize>(answer: Option<T>) -> Answer {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
