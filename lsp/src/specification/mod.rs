//! Specifications in YAML and their files.
//!
//! - [`entry`]: which documents are specifications
//! - [`outline`]: the keys around a position, the keys allowed there, and all definitions
//! - [`answers`]: hover and definitions
//! - this file: checks, on texts that need not be saved

pub mod answers;
pub mod entry;
pub mod outline;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use isaforge_compiler::diagnostic::{Diagnostic as Found, Diagnostics, Severity};
use isaforge_compiler::model::Isa;
use isaforge_compiler::source::{FileId, Sources, Span};
use isaforge_compiler::{Settings, check_spec};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position, Range,
};

use self::entry::{is_foreign, is_yaml};
use crate::text::Text;
use crate::uri;

/// Unsaved texts, by path with symbolic links resolved.
pub type Unsaved = HashMap<PathBuf, String>;

/// A checked specification.
#[derive(Debug)]
pub struct Checked {
    /// Its entry file.
    pub entry: PathBuf,
    /// Its files, with symbolic links resolved.
    pub files: Vec<PathBuf>,
    /// The model, if there are no errors.
    pub model: Option<Isa>,
    /// The texts that spans refer to.
    pub sources: Sources,
    diagnostics: Diagnostics,
}

impl Checked {
    /// Reads and checks the specification with this entry.
    pub fn read(entry: &Path, unsaved: &Unsaved) -> Checked {
        let settings = Settings { unsaved: unsaved.clone(), ..Settings::new(entry) };
        let (model, diagnostics, sources) = match check_spec(&settings) {
            Ok(checked) => (Some(checked.isa), checked.diagnostics, checked.sources),
            Err(failure) => (None, failure.diagnostics, failure.sources),
        };
        let files = sources.paths().map(|path| path.canonicalize().unwrap_or(path.to_owned())).collect();
        Checked { entry: entry.to_owned(), files, model, sources, diagnostics }
    }

    /// The diagnostics for each file.
    pub fn diagnostics(&self) -> HashMap<PathBuf, Vec<Diagnostic>> {
        let mut texts = HashMap::new();
        let mut found: HashMap<PathBuf, Vec<Diagnostic>> = HashMap::new();
        let (shown, rest) = self.diagnostics.capped(MAX_SHOWN);
        for one in shown {
            let places = one.primary.into_iter().chain(one.rivals.iter().map(|(span, _)| *span));
            let mut places: Vec<(PathBuf, Range)> =
                places.filter_map(|span| Some((self.path(span.file)?, self.range(span, &mut texts)))).collect();
            if places.is_empty() {
                places.push((self.entry.clone(), Range::new(Position::new(0, 0), Position::new(0, 0))));
            }
            for (path, range) in places {
                found.entry(path).or_default().push(self.diagnostic(one, range, &mut texts));
            }
        }
        if let Some(message) = rest {
            found.entry(self.entry.clone()).or_default().push(left_out(message));
        }
        found
    }

    /// Whether a new check would read the same texts. An error may be due to a file that did not exist.
    fn is_current(&self, unsaved: &Unsaved) -> bool {
        let mut now = Sources::new();
        now.unsaved.clone_from(unsaved);
        let mut same = |file| {
            let text = now.load(self.sources.path_on_disk(file));
            text.is_ok_and(|text| now.text(text) == self.sources.text(file))
        };
        self.model.is_some() && self.sources.files().all(&mut same)
    }

    fn diagnostic(&self, found: &Found, range: Range, texts: &mut HashMap<FileId, Text>) -> Diagnostic {
        let mut message = found.message.clone();
        let label = Some(found.label.as_str()).filter(|label| !label.is_empty());
        for more in label.into_iter().chain(found.notes.iter().chain(&found.help).map(String::as_str)) {
            message.push('\n');
            message.push_str(more);
        }
        let mut related = Vec::new();
        for (span, text) in &found.secondary {
            if let Some(location) = self.location(*span, texts) {
                related.push(DiagnosticRelatedInformation { location, message: text.clone() });
            }
        }
        let severity = match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        Diagnostic {
            range,
            severity: Some(severity),
            code: Some(NumberOrString::String(found.code.to_owned())),
            source: Some("isaforge".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    }

    fn path(&self, file: FileId) -> Option<PathBuf> {
        let path = self.sources.path_on_disk(file);
        (!path.as_os_str().is_empty()).then(|| path.canonicalize().unwrap_or(path.to_owned()))
    }

    fn range(&self, span: Span, texts: &mut HashMap<FileId, Text>) -> Range {
        let text = texts.entry(span.file).or_insert_with(|| Text::new(self.sources.text(span.file).to_owned()));
        Range::new(text.place(span.range().start), text.place(span.range().end))
    }

    fn location(&self, span: Span, texts: &mut HashMap<FileId, Text>) -> Option<Location> {
        Some(Location::new(uri::of_path(&self.path(span.file)?)?, self.range(span, texts)))
    }
}

/// How many diagnostics of a document are published; the rest are only counted.
pub const MAX_SHOWN: usize = 100;

/// A diagnostic at the beginning of a document that counts those left out.
pub fn left_out(message: String) -> Diagnostic {
    noted(message)
}

/// A note at the beginning of a document.
pub fn noted(message: String) -> Diagnostic {
    let range = Range::new(Position::new(0, 0), Position::new(0, 0));
    let severity = Some(DiagnosticSeverity::INFORMATION);
    Diagnostic { range, severity, source: Some("isaforge".to_owned()), message, ..Diagnostic::default() }
}

/// The number of folders, from a file upwards, that are searched for the entry of its specification.
const MAX_FOLDERS: usize = 3;

/// Specifications by their entry. A result is kept until one of its texts changes.
#[derive(Debug, Default)]
pub struct Specifications(HashMap<PathBuf, Rc<Checked>>);

impl Specifications {
    /// The specification that a file belongs to: its own, or one whose entry is beside or above it.
    pub fn of_file(&mut self, path: &Path, unsaved: &Unsaved) -> Option<Rc<Checked>> {
        if is_entry(path, unsaved)? && !is_foreign(path) {
            return Some(self.check(path, unsaved));
        }
        let folders = path.ancestors().skip(1).take(MAX_FOLDERS);
        let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let files = files.map(|file| file.path()).filter(|file| is_yaml(file));
        let mut entries = files.filter(|file| is_entry(file, unsaved) == Some(true));
        let belongs = |checked: &Rc<Checked>| checked.files.iter().any(|file| file == path);
        entries.find_map(|entry| Some(self.check(&entry, unsaved)).filter(belongs))
    }

    fn check(&mut self, entry: &Path, unsaved: &Unsaved) -> Rc<Checked> {
        if let Some(kept) = self.0.get(entry).filter(|kept| kept.is_current(unsaved)) {
            return Rc::clone(kept);
        }
        let checked = Rc::new(Checked::read(entry, unsaved));
        self.0.insert(entry.to_owned(), Rc::clone(&checked));
        checked
    }
}

/// Whether a file is the entry of a specification. `None` when it cannot be read: a folder may contain pipes and
/// devices.
fn is_entry(path: &Path, unsaved: &Unsaved) -> Option<bool> {
    if let Some(text) = unsaved.get(path) {
        return Some(entry::is_entry(text));
    }
    let mut sources = Sources::new();
    let file = sources.load(path).ok()?;
    Some(entry::is_entry(sources.text(file)))
}
