//! Open texts, and what must be checked when they or files change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lsp_server::Notification;
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification as _,
};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, TextDocumentContentChangeEvent,
    Uri,
};

use super::{ServeError, Server, read};
use crate::assembly::Source;
use crate::specification::Unsaved;
use crate::specification::entry::{is_foreign, is_yaml};
use crate::{text, uri};

/// How long a pause in typing must be before a text is checked …
const PAUSE: Duration = Duration::from_millis(120);
/// … unless it has waited this long.
const PATIENCE: Duration = Duration::from_millis(500);

/// A document that is open in the editor.
pub struct Document {
    pub text: String,
    pub version: i32,
    /// Its file, with symbolic links resolved.
    pub path: Option<PathBuf>,
    /// The name of its language, as the editor calls it.
    pub language: String,
    /// Whether it may be a part of a specification: YAML, or a document in a format that specifications import.
    pub data: bool,
    /// The result for exactly this text, or the error; `None` when it has not been computed.
    pub assembly: Option<Result<Source, (String, usize)>>,
    /// Whether the result depends on the files of a specification.
    pub depends: bool,
}

/// What must be checked.
#[derive(Debug, Default)]
pub struct Waiting {
    /// The names of changed documents.
    pub names: BTreeSet<String>,
    /// Whether specifications must be checked, whatever documents have changed.
    pub specifications: bool,
    /// Whether the words of programs may have changed although their texts have not.
    pub words: bool,
    /// When the first and the last change came.
    since: Option<(Instant, Instant)>,
}

impl Waiting {
    /// When the check is due unless there are messages, and when in any case. `None` when nothing waits.
    pub fn due(&self) -> Option<(Instant, Instant)> {
        self.since.map(|(first, last)| (last + PAUSE, first + PATIENCE))
    }

    fn add(&mut self, name: &Uri) {
        self.names.insert(name.to_string());
        self.changed();
    }

    fn changed(&mut self) {
        let now = Instant::now();
        self.since = Some((self.since.map_or(now, |(first, _)| first), now));
    }
}

impl Document {
    /// Applies a change: of a range, or of the whole text.
    fn edit(&mut self, change: TextDocumentContentChangeEvent) {
        match change.range {
            Some(range) => {
                let start = text::offset(&self.text, range.start);
                let end = text::offset(&self.text, range.end).max(start);
                self.text.replace_range(start..end, &change.text);
            }
            None => self.text = change.text,
        }
    }
}

impl Server<'_> {
    pub(super) fn hear(&mut self, notification: Notification) -> Result<(), ServeError> {
        let Notification { method, params } = notification;
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(DidOpenTextDocumentParams { text_document: opened }) = read(params) else { return Ok(()) };
                let path = uri::path(&opened.uri).map(|path| path.canonicalize().unwrap_or(path));
                let language = opened.language_id;
                let of_kind = |path: &Path| is_yaml(path) || is_foreign(path);
                let data = matches!(&language[..], "yaml" | "xml" | "json") || path.as_deref().is_some_and(of_kind);
                let (text, version) = (opened.text, opened.version);
                let document = Document { text, version, path, language, data, assembly: None, depends: false };
                self.waiting.add(&opened.uri);
                self.documents.insert(opened.uri, document);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = read::<DidChangeTextDocumentParams>(params) else { return Ok(()) };
                let name = params.text_document.uri;
                if let Some(document) = self.documents.get_mut(&name).filter(|_| !params.content_changes.is_empty()) {
                    params.content_changes.into_iter().for_each(|change| document.edit(change));
                    document.version = params.text_document.version;
                    document.assembly = None;
                    self.waiting.add(&name);
                }
            }
            // Whatever was saved may be a part of a specification.
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.files_changed(),
            DidCloseTextDocument::METHOD => {
                let Some(DidCloseTextDocumentParams { text_document }) = read(params) else { return Ok(()) };
                let name = text_document.uri;
                self.waiting.names.remove(name.as_str());
                match self.documents.remove(&name) {
                    // Its diagnostics may belong to its unsaved text.
                    Some(Document { data: true, path: Some(_), .. }) => {
                        self.waiting.specifications = true;
                        self.waiting.changed();
                    }
                    Some(_) => self.publish(name, None, Vec::new())?,
                    None => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks everything again that depends on files.
    fn files_changed(&mut self) {
        self.sets.forget_failures();
        for (name, document) in self.documents.iter_mut().filter(|(_, document)| !document.data && document.depends) {
            document.assembly = None;
            self.waiting.add(name);
            self.waiting.words = true;
        }
        self.waiting.specifications = true;
        self.waiting.changed();
    }

    /// The unsaved texts of specifications.
    pub(super) fn unsaved(&self) -> Unsaved {
        let open = self.documents.values().filter(|document| document.data);
        open.filter_map(|document| Some((document.path.clone()?, document.text.clone()))).collect()
    }

    /// An assembled program, or the error and the line that causes it. `None` for other documents.
    pub(super) fn assembly(&mut self, name: &Uri) -> Option<&Result<Source, (String, usize)>> {
        let document = self.documents.get_mut(name).filter(|document| !document.data)?;
        if document.assembly.is_none() {
            let path = document.path.clone().unwrap_or_default();
            let file = uri::file_name(name);
            let read = match self.sets.named(&document.text, &file, &document.language, &self.options.default) {
                Some(found) => {
                    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                    let workspace = self.options.folder(document.path.as_deref());
                    let folder = if found.by_editor { workspace.or(beside) } else { beside.or(workspace) };
                    document.depends = !self.sets.is_known(&found.named);
                    let set = self.sets.open(&found.named, folder.unwrap_or(Path::new("")));
                    set.map(|set| Source::read(document.text.clone(), set)).map_err(|message| (message, found.line))
                }
                None => Err(("no instruction set is named; begin with a comment such as `// isa: NAME`".to_owned(), 0)),
            };
            document.assembly = Some(read);
        }
        document.assembly.as_ref()
    }

    pub(super) fn source(&mut self, name: &Uri) -> Option<&Source> {
        self.assembly(name)?.as_ref().ok()
    }
}
