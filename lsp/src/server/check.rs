//! Diagnostics of all documents that have changed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use isaforge_compiler::source::visible;
use lsp_server::{Message, Request};
use lsp_types::notification::PublishDiagnostics;
use lsp_types::request::{InlayHintRefreshRequest, Request as _};
use lsp_types::{Diagnostic, DiagnosticSeverity, Position, PublishDiagnosticsParams, Range, Uri};

use super::{ServeError, Server};
use crate::assembly;
use crate::specification::entry::{is_entry, is_foreign};
use crate::specification::{Checked, noted};
use crate::uri;

impl Server<'_> {
    /// Checks the documents that have changed.
    pub(super) fn check(&mut self) -> Result<(), ServeError> {
        let waiting = std::mem::take(&mut self.waiting);
        let is_waiting = |name: &&Uri| waiting.names.contains(name.as_str());
        let names: Vec<Uri> = self.documents.keys().filter(is_waiting).cloned().collect();
        let mut specifications = waiting.specifications;
        for name in names {
            let Some(document) = self.documents.get(&name) else { continue };
            let version = Some(document.version);
            if document.data {
                specifications |= document.path.is_some();
                if document.path.is_none() {
                    let message = "a specification is checked when it is a file, since it may name others; save it";
                    let entry = document.language == "yaml" && is_entry(&document.text);
                    let found = entry.then(|| noted(message.to_owned())).into_iter().collect();
                    self.publish(name, version, found)?;
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
            self.publish(name, version, found)?;
        }
        if specifications {
            self.check_specifications(&waiting.names)?;
        }
        if waiting.words && self.options.refreshes {
            self.refreshed += 1;
            let id = format!("words {}", self.refreshed).into();
            let method = InlayHintRefreshRequest::METHOD.to_owned();
            self.send(Message::Request(Request { id, method, params: serde_json::Value::Null }))?;
        }
        Ok(())
    }

    /// Checks the specifications that open documents belong to. Files that had diagnostics and no longer have any,
    /// because they were mended, closed, or are no specification any more, get empty lists. `changed` are the names of
    /// documents that get their diagnostics even if they are the same as before.
    fn check_specifications(&mut self, changed: &BTreeSet<String>) -> Result<(), ServeError> {
        let mut found: HashMap<PathBuf, Vec<Diagnostic>> = HashMap::new();
        for checked in self.specifications_in_use() {
            for (file, list) in checked.diagnostics() {
                let all = found.entry(file).or_default();
                // A file may be a part of several specifications.
                list.into_iter().for_each(|one| {
                    if !all.contains(&one) {
                        all.push(one)
                    }
                });
            }
        }
        let open =
            self.documents.values().filter(|document| document.data).filter_map(|document| document.path.clone());
        for path in open {
            found.entry(path).or_default();
        }
        let mut before = std::mem::take(&mut self.published);
        for (file, list) in found {
            let Some(name) = self.name_of(&file) else { continue };
            let had = before.remove(name.as_str()).unwrap_or_default();
            if had != list || changed.contains(name.as_str()) {
                self.publish(name.clone(), None, list.clone())?;
            }
            if !list.is_empty() {
                self.published.insert(name.to_string(), list);
            }
        }
        let gone = before.into_keys().filter_map(|name| name.parse().ok());
        gone.collect::<Vec<Uri>>().into_iter().try_for_each(|name| self.publish(name, None, Vec::new()))
    }

    /// The specifications that open documents belong to, each once.
    fn specifications_in_use(&mut self) -> Vec<Rc<Checked>> {
        let unsaved = self.unsaved();
        // Entries first: their parts need no search.
        let mut open: Vec<(bool, &PathBuf)> =
            unsaved.iter().map(|(path, text)| (is_foreign(path) || !is_entry(text), path)).collect();
        open.sort();
        let (mut found, mut entries): (Vec<Rc<Checked>>, HashSet<PathBuf>) = (Vec::new(), HashSet::new());
        for (is_part, path) in open {
            if is_part && found.iter().any(|checked| checked.files.contains(path)) {
                continue;
            }
            if let Some(checked) = self.specifications.of_file(path, &unsaved)
                && entries.insert(checked.entry.clone())
            {
                found.push(checked);
            }
        }
        found
    }

    /// The name that the editor has for a file, if it is open.
    fn name_of(&self, path: &Path) -> Option<Uri> {
        let open = self.documents.iter().find(|(_, document)| document.path.as_deref() == Some(path));
        open.map(|(name, _)| name.clone()).or_else(|| uri::of_path(path))
    }

    pub(super) fn publish(
        &self,
        uri: Uri,
        version: Option<i32>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Result<(), ServeError> {
        for found in &mut diagnostics {
            found.message = visible(&found.message);
            for related in found.related_information.iter_mut().flatten() {
                related.message = visible(&related.message);
            }
        }
        self.notify::<PublishDiagnostics>(PublishDiagnosticsParams { uri, diagnostics, version })
    }
}
