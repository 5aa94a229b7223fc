//! What the editor and the server tell each other when they start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use isaforge_core::Tables;
use isaforge_core::table::Shape;
use lsp_types::{
    CompletionOptions, HoverProviderCapability, InitializeParams, MarkupKind, OneOf, RenameOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde_json::Value;

use crate::set::{Known, Named};
use crate::uri;

/// What the server can do.
pub fn capabilities(sets: &[Known]) -> ServerCapabilities {
    let triggers = [".", ",", " "].map(str::to_owned).into_iter().chain(sets.iter().flat_map(marks));
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(true.into()),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers.collect::<BTreeSet<String>>().into_iter().collect()),
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

/// The characters with which lists of registers start.
fn marks(set: &Known) -> Vec<String> {
    let Tables::Words(isa) = set.tables else { return Vec::new() };
    let shapes = isa.forms.iter().flat_map(|form| form.operands).map(|operand| &operand.shape);
    let open = shapes.filter_map(|shape| match shape {
        Shape::List { open, .. } => open.chars().last(),
        _ => None,
    });
    open.filter(|mark| !mark.is_alphanumeric()).map(String::from).collect()
}

/// The configuration of the editor.
#[derive(Debug, Default)]
pub struct Options {
    /// The set of programs that name none.
    pub default: Named,
    /// Whether the client watches files if it is asked to.
    pub watches: bool,
    /// Whether the client shows Markdown on hover; otherwise it gets plain text.
    pub markdown: bool,
    /// Whether the outline may be a tree.
    pub nests: bool,
    /// Whether a completion may leave the rest of a word in place.
    pub inserts: bool,
    /// Whether the client asks for inlay hints again if it is told to.
    pub refreshes: bool,
    /// The process of the client, with which the server ends.
    pub client: Option<u32>,
    folders: Vec<PathBuf>,
}

impl Options {
    /// Reads the configuration, and says what in it is wrong.
    pub fn read(params: &InitializeParams) -> (Options, Vec<String>) {
        let (default, complaints) = default_set(params.initialization_options.as_ref());
        let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let mut folders: Vec<PathBuf> = folders.filter_map(uri::path).collect();
        #[allow(deprecated, reason = "clients that know no other field still send this one")]
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().and_then(uri::path));
        }
        let workspace = params.capabilities.workspace.as_ref();
        let watching = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let watches = watching.and_then(|files| files.dynamic_registration).unwrap_or(false);
        let hints = workspace.and_then(|workspace| workspace.inlay_hint.as_ref());
        let refreshes = hints.and_then(|hints| hints.refresh_support).unwrap_or(false);
        let documents = params.capabilities.text_document.as_ref();
        let formats = documents.and_then(|all| all.hover.as_ref()?.content_format.as_deref()).unwrap_or_default();
        let markdown = formats.first() == Some(&MarkupKind::Markdown);
        let outline = documents.and_then(|all| all.document_symbol.as_ref());
        let nests = outline.and_then(|outline| outline.hierarchical_document_symbol_support).unwrap_or(false);
        let completion = documents.and_then(|all| all.completion.as_ref()?.completion_item.as_ref());
        let inserts = completion.and_then(|item| item.insert_replace_support).unwrap_or(false);
        let client = params.process_id;
        (Options { default, watches, markdown, nests, inserts, refreshes, client, folders }, complaints)
    }

    /// The workspace folder of a document, or else the first one, if there is any.
    pub fn folder(&self, document: Option<&Path>) -> Option<&Path> {
        let holds = |folder: &&PathBuf| {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
            document.is_some_and(|document| document.starts_with(real))
        };
        let found = self.folders.iter().filter(holds).max_by_key(|folder| folder.as_os_str().len());
        found.or(self.folders.first()).map(PathBuf::as_path)
    }
}

/// The set that the initialization options name.
fn default_set(options: Option<&Value>) -> (Named, Vec<String>) {
    let mut named = Named::default();
    let mut complaints = Vec::new();
    let object = match options {
        None | Some(Value::Null) => return (named, complaints),
        Some(Value::Object(object)) => object,
        Some(other) => {
            let instead = "they are an object, such as {\"isa\": \"PATH\", \"generation\": \"NAME\"}";
            complaints.push(format!("the initialization options `{other}` are ignored: {instead}"));
            return (named, complaints);
        }
    };
    match object.get("isa") {
        None | Some(Value::Null) => {}
        Some(Value::String(isa)) => named.isa.clone_from(isa),
        Some(other) => complaints.push(format!(
            "the initialization option `isa` is ignored: it is a text, the name of a set or the path of a \
             specification, not `{other}`"
        )),
    }
    match object.get("generation") {
        None | Some(Value::Null) => {}
        Some(Value::String(generation)) => named.generation = Some(generation.clone()),
        Some(Value::Number(number)) => named.generation = Some(number.to_string()),
        Some(other) => complaints.push(format!(
            "the initialization option `generation` is ignored: it is a text or a number, not `{other}`"
        )),
    }
    (named, complaints)
}
