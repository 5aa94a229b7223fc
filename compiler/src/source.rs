//! Source texts and positions in them.
//!
//! Every value that a spec declares keeps the file and the byte range it was written in, so that a diagnostic of any
//! later stage can show the line. A [`Span`] is twelve bytes and `Copy`; the texts themselves live in [`Sources`].

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use isaforge_core::text::is_unseen;

/// The largest file that [`Sources::load`] accepts, in bytes (16 MiB). The largest known spec is a hundredth of that.
pub const MAX_FILE_SIZE: u64 = 16 << 20;

/// Identifies a text in [`Sources`]. Ids are ordered by time of loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A range of bytes in one file: `start` is the first byte, `end` the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset of the byte after the last; `start` for an empty span.
    pub end: u32,
}

impl Span {
    /// The span of `range` in `file`. Offsets beyond `u32` saturate.
    pub fn new(file: FileId, range: Range<usize>) -> Span {
        let start = offset(range.start);
        Span { file, start, end: offset(range.end).max(start) }
    }

    /// The smallest span that covers both. Spans of different files do not join: the result is `self`.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The part `range` of this span, counted in bytes from its start and clamped to it.
    pub fn slice(self, range: Range<usize>) -> Span {
        let at = |index: usize| self.start.saturating_add(offset(index)).min(self.end);
        let start = at(range.start);
        Span { file: self.file, start, end: at(range.end).max(start) }
    }

    /// The byte offsets as a range for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The empty span at the end of this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A value and the place where it was written. Dereferences to the value.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// Changes the value and keeps the place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }

    /// Borrows the value and keeps the place.
    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Why a file could not be loaded. Paths are as shown in messages.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file `{}`", path.display())]
    NotFound {
        /// The path as shown.
        path: PathBuf,
    },
    /// The file is not UTF-8 text.
    #[error("`{}` is not UTF-8 text: the first bad byte is byte {offset}, on line {line}", path.display())]
    NotUtf8 {
        /// The path as shown.
        path: PathBuf,
        /// Offset of the first byte that is not UTF-8.
        offset: usize,
        /// The line of that byte, counted from 1.
        line: usize,
    },
    /// The file is larger than [`MAX_FILE_SIZE`].
    #[error("`{}` is larger than {} MiB", path.display(), MAX_FILE_SIZE >> 20)]
    TooLarge {
        /// The path as shown.
        path: PathBuf,
    },
    /// Reading it could block or never end: it is a pipe, a device or a folder.
    #[error("`{}` is not a regular file", path.display())]
    NotRegular {
        /// The path as shown.
        path: PathBuf,
    },
    /// A file names another whose extension does not belong to a specification.
    #[error("`{}` is not named like a part of a specification: {}", path.display(), endings(expected.endings))]
    WrongName {
        /// The path as shown.
        path: PathBuf,
        /// The kind that is allowed.
        expected: &'static Kind,
    },
    /// A file names another whose content does not belong to a specification.
    #[error("`{}` does not read like a part of a specification: it has none of its keys or elements", path.display())]
    WrongContent {
        /// The path as shown.
        path: PathBuf,
    },
    /// The operating system reported an error.
    #[error("`{}` cannot be read: {error}", path.display())]
    Io {
        /// The path as shown.
        path: PathBuf,
        /// The error.
        #[source]
        error: io::Error,
    },
}

/// The first character of a text that is invisible or changes how its neighbours are displayed, with its offset. No
/// specification has a reason to contain one. Tabs and line breaks are allowed.
pub fn unseen(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, c)| is_unseen(*c))
}

/// Replaces each character that [`unseen`] finds with U+FFFD.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The text of a file in UTF-16 with a byte order mark, which is left out. `None` for any other file, and for one
/// with control characters, which texts do not have.
pub fn of_utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (units, rest) = bytes[2..].as_chunks();
    let text = char::decode_utf16(units.iter().map(|bytes| unit(*bytes))).collect::<Result<String, _>>().ok()?;
    let is_text = !text.is_empty() && text.chars().all(|c| !c.is_control() || c.is_whitespace());
    (rest.is_empty() && is_text).then_some(text)
}

/// A kind of file that a specification may name.
#[derive(Debug)]
pub struct Kind {
    /// The extensions of its files.
    pub endings: &'static [&'static str],
    /// Whether a text may be of this kind.
    pub is: fn(&str) -> bool,
}

fn endings(expected: &[&str]) -> String {
    let endings: Vec<String> = expected.iter().map(|ending| format!("`.{ending}`")).collect();
    format!("that ends with {}", endings.join(" or "))
}

/// Whether a YAML document has a top-level key with one of these names. The text need not be valid YAML.
pub(crate) fn has_key(text: &str, names: &[&str]) -> bool {
    let is_known = |entry: &str| {
        let key = entry.split(':').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        entry.contains(':') && names.contains(&key)
    };
    let ignored = |line: &str| line.trim().is_empty() || line.starts_with(['%', '#']) || line.starts_with("---");
    let mut lines = text.lines().filter(|line| !ignored(line) && !line.trim_start().starts_with('#'));
    let Some(first) = lines.next() else { return false };
    if first.trim_start().starts_with('{') {
        return text.split(['{', ',', '\n']).any(is_known);
    }
    let margin = first.len() - first.trim_start().len();
    let top =
        |line: &str| line.get(margin..).is_some_and(|rest| !rest.starts_with(' ')) && line[..margin].trim().is_empty();
    std::iter::once(first).chain(lines.filter(|line| top(line))).any(is_known)
}

/// Whether an XML document has an element with one of these names. The text need not be valid XML.
pub fn has_element(text: &str, names: &[&str]) -> bool {
    let ends = |rest: &str| rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    let is_known = |tag: &str| names.iter().any(|known| tag.strip_prefix(known).is_some_and(ends));
    text.split('<').skip(1).any(is_known)
}

#[derive(Debug)]
struct Source {
    shown: PathBuf,
    /// `None` for a text that was never a file.
    real: Option<PathBuf>,
    text: String,
    /// Offset of the first byte of each line; begins with 0.
    lines: Vec<usize>,
    /// How many characters begin before each multiple of [`STRIDE`]. A file may be a single line of megabytes, in which
    /// many columns are computed.
    characters: Vec<usize>,
}

/// The distance in bytes between offsets for which character counts are stored.
const STRIDE: usize = 1024;

/// Counts the characters that begin in a slice of UTF-8.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

impl Source {
    /// How many characters begin before an offset.
    fn characters_before(&self, at: usize) -> usize {
        let stride = (at / STRIDE).min(self.characters.len().saturating_sub(1));
        let bytes = self.text.as_bytes();
        let rest = bytes.get(stride * STRIDE..at.min(bytes.len())).unwrap_or_default();
        self.characters.get(stride).copied().unwrap_or(0) + beginnings(rest)
    }
}

/// All texts of one compiler run.
#[derive(Debug, Default)]
pub struct Sources {
    /// Texts that replace the contents of files, keyed by canonical path. The file need not exist.
    pub unsaved: HashMap<PathBuf, String>,
    root: Option<PathBuf>,
    files: Vec<Source>,
    by_path: HashMap<PathBuf, FileId>,
}

impl Sources {
    /// Creates an empty collection of texts; paths are shown as given.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty collection of texts. Files below `root` are shown relative to it, so that messages do not
    /// depend on the machine.
    pub fn with_root(root: impl Into<PathBuf>) -> Self {
        Sources { root: Some(root.into()), ..Self::default() }
    }

    /// Reads a file. A file that is already loaded, under any path that leads to it, keeps its id and is not read
    /// again.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(&mut self, path: &Path) -> Result<FileId, LoadError> {
        let real = self.real(path)?;
        self.load_real(path, real)
    }

    /// Resolves links in a path.
    fn real(&self, path: &Path) -> Result<PathBuf, LoadError> {
        let unsaved = || std::path::absolute(path).ok().filter(|path| self.unsaved.contains_key(path));
        fs::canonicalize(path).or_else(|error| unsaved().ok_or_else(|| self.load_error(path, error)))
    }

    /// Reads a file that another file names. The author of that file may not be trusted by the reader of the messages,
    /// which must not quote lines of an unrelated file. Therefore the extension of the path, and of the file it
    /// resolves to through links, must be one of the expected kind, and the content must read like it.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load_part(&mut self, path: &Path, expected: &'static Kind) -> Result<FileId, LoadError> {
        let is_part =
            |path: &Path| path.extension().is_some_and(|found| expected.endings.iter().any(|ending| found == *ending));
        // The error must not reveal whether a file of another name exists, either.
        if !is_part(path) {
            return Err(LoadError::WrongName { path: self.shown(path, path), expected });
        }
        let real = fs::canonicalize(path).map_err(|error| self.load_error(path, error))?;
        if !is_part(&real) {
            return Err(LoadError::WrongName { path: self.shown(path, path), expected });
        }
        let file = self.load_real(path, real)?;
        if !(expected.is)(self.text(file)) {
            return Err(LoadError::WrongContent { path: self.path(file).to_owned() });
        }
        Ok(file)
    }

    fn load_real(&mut self, path: &Path, real: PathBuf) -> Result<FileId, LoadError> {
        if let Some(&file) = self.by_path.get(&real) {
            return Ok(file);
        }
        let shown = self.shown(path, &real);
        let io_error = |error| LoadError::Io { path: shown.clone(), error };
        if let Some(text) = self.unsaved.get(&real).cloned() {
            let file = self.insert(shown, Some(real.clone()), text);
            self.by_path.insert(real, file);
            return Ok(file);
        }
        // Opening a pipe blocks until another process writes to it.
        if !fs::metadata(&real).map_err(io_error)?.is_file() {
            return Err(LoadError::NotRegular { path: shown });
        }
        let mut bytes = Vec::new();
        // Reading one byte more than allowed detects a file that is too large without trusting the reported length.
        let mut file = fs::File::open(&real).map_err(io_error)?.take(MAX_FILE_SIZE + 1);
        file.read_to_end(&mut bytes).map_err(io_error)?;
        // Compressed files are recognised by content, not by name.
        if bytes.starts_with(b"\x1f\x8b") {
            let packed = std::mem::take(&mut bytes);
            let mut content = MultiGzDecoder::new(&packed[..]).take(MAX_FILE_SIZE + 1);
            content.read_to_end(&mut bytes).map_err(io_error)?;
        }
        if let Some(text) = of_utf16(&bytes) {
            bytes = text.into_bytes();
        }
        if bytes.len() as u64 > MAX_FILE_SIZE {
            return Err(LoadError::TooLarge { path: shown });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count();
            LoadError::NotUtf8 { path: shown.clone(), offset, line }
        })?;
        let file = self.insert(shown, Some(real.clone()), text);
        self.by_path.insert(real, file);
        Ok(file)
    }

    /// Adds a text that is not a file, under the path to show in messages.
    pub fn add(&mut self, shown_path: impl Into<PathBuf>, text: String) -> FileId {
        self.insert(shown_path.into(), None, text)
    }

    /// The whole text, without a byte order mark; empty if the id is from other `Sources`.
    pub fn text(&self, file: FileId) -> &str {
        self.source(file).map_or("", |source| &source.text)
    }

    /// The path that messages show.
    pub fn path(&self, file: FileId) -> &Path {
        self.source(file).map_or(Path::new(""), |source| &source.shown)
    }

    /// The real path of the file, for finding others next to it; the shown path for a text that was never a file.
    pub fn path_on_disk(&self, file: FileId) -> &Path {
        self.source(file).map_or(Path::new(""), |source| source.real.as_deref().unwrap_or(&source.shown))
    }

    /// Line and column of the span's start, both counted from 1; columns count characters.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let Some(source) = self.source(span.file) else { return (1, 1) };
        let at = source.text.floor_char_boundary(span.start as usize);
        let line = source.lines.partition_point(|&start| start <= at);
        // `lines` begins with 0, so at least one line starts at or before `at`.
        let start = source.lines[line - 1];
        (line, 1 + source.characters_before(at) - source.characters_before(start))
    }

    /// The text of a span, clamped to the file and to whole characters.
    pub fn snippet(&self, span: Span) -> &str {
        let text = self.text(span.file);
        let end = text.floor_char_boundary(span.end as usize);
        let start = text.floor_char_boundary(span.start as usize).min(end);
        &text[start..end]
    }

    /// A scalar with the place of its text without quotes, where that is written in one piece: offsets within the text
    /// are then offsets within its span.
    pub fn inside_quotes(&self, text: &Spanned<String>) -> Spanned<String> {
        let (length, written) = (text.value.len(), self.snippet(text.span));
        let quotes = usize::from(written.get(1..=length) == Some(text.value.as_str()) && written.len() == length + 2);
        Spanned::new(text.value.clone(), text.span.slice(quotes..written.len() - quotes))
    }

    /// The span of a whole text.
    pub fn whole(&self, file: FileId) -> Span {
        Span::new(file, 0..self.text(file).len())
    }

    /// The canonical paths of all files that were read, in loading order: the dependencies of a build.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|source| source.real.as_deref())
    }

    /// All texts, in loading order.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..offset(self.files.len())).map(FileId)
    }

    /// Offset of the first byte of the line that holds `at`, and that line's number from 1.
    pub(crate) fn line_start(&self, file: FileId, at: usize) -> (usize, usize) {
        let Some(source) = self.source(file) else { return (0, 1) };
        let line = source.lines.partition_point(|&start| start <= at).max(1);
        (source.lines[line - 1], line)
    }

    /// Offset of the character at a line and column, both counted from 1; clamped to the line and the text.
    pub(crate) fn offset_of(&self, file: FileId, line: usize, column: usize) -> usize {
        let Some(source) = self.source(file) else { return 0 };
        let Some(&start) = source.lines.get(line.saturating_sub(1)) else { return source.text.len() };
        let end = source.lines.get(line).map_or(source.text.len(), |next| next - 1);
        let within = source.text[start..end].char_indices().nth(column.saturating_sub(1));
        within.map_or(end, |(index, _)| start + index)
    }

    fn source(&self, file: FileId) -> Option<&Source> {
        self.files.get(file.0 as usize)
    }

    fn insert(&mut self, shown: PathBuf, real: Option<PathBuf>, mut text: String) -> FileId {
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(index, _)| index + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        let counts = text.as_bytes().chunks(STRIDE).map(beginnings);
        let characters = counts.scan(0, |before, count| Some(std::mem::replace(before, *before + count))).collect();
        let file = FileId(offset(self.files.len()));
        self.files.push(Source { shown, real, text, lines, characters });
        file
    }

    fn shown(&self, path: &Path, real: &Path) -> PathBuf {
        let Some(root) = &self.root else { return path.to_owned() };
        let below = fs::canonicalize(root).ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
        below.or_else(|| path.strip_prefix(root).ok().map(Path::to_owned)).unwrap_or_else(|| path.to_owned())
    }

    fn load_error(&self, path: &Path, error: io::Error) -> LoadError {
        let path = self.shown(path, path);
        if error.kind() == io::ErrorKind::NotFound {
            LoadError::NotFound { path }
        } else {
            LoadError::Io { path, error }
        }
    }
}
