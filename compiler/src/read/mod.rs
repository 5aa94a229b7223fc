//! Readers of documents in foreign formats, one module each.
//!
//! A reader maps a document to the model, usually to a [`stream`](crate::stream::model), before anything is checked or
//! lowered, so that all later stages work as for isaforge's own specifications. A reader knows the vocabulary of its
//! format; positions, names and texts come from the document. The README of each module defines the meaning of
//! elements, and what is rejected and why.

mod amd_xml;
mod amdgpu;
mod bifrost;
mod isaspec;
mod riscv_unified_db;
mod spirv;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::diagnostic::Diagnostics;
use crate::model::Isa;
use crate::source::Sources;

/// A document format.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What its documents describe.
    pub doc: &'static str,
    /// Whether a document has this format, judged by its path and its beginning only.
    pub is: fn(&Document<'_>) -> bool,
    /// Reads a document. `None` when no model could be built; the reasons are among the diagnostics.
    pub read: fn(Request<'_>) -> Option<Isa>,
}

/// The data for detecting a format.
#[derive(Debug)]
pub struct Document<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// The first bytes of a file, enough for any header; empty for a folder.
    pub head: &'a [u8],
}

impl Document<'_> {
    /// Whether it is XML with a root of this name, after a declaration and comments.
    pub fn has_root(&self, name: &str) -> bool {
        let head = String::from_utf8_lossy(self.head);
        let mut rest = head.trim_start_matches('\u{feff}').trim_start();
        loop {
            let end = match rest {
                _ if rest.starts_with("<!--") => "-->",
                _ if rest.starts_with("<?") => "?>",
                _ => break,
            };
            match rest.split_once(end) {
                Some((_, tail)) => rest = tail.trim_start(),
                None => return false,
            }
        }
        let root = rest.strip_prefix('<').and_then(|rest| rest.strip_prefix(name));
        root.is_some_and(|tail| tail.starts_with(['>', '/']) || tail.starts_with(char::is_whitespace))
    }
}

/// A request to read a document.
#[derive(Debug)]
pub struct Request<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// The requested generation. A reader may omit the others, or read everything.
    pub generation: Option<&'a str>,
    /// The texts that diagnostics point into.
    pub sources: &'a mut Sources,
    /// Where mistakes in the document are reported.
    pub out: &'a mut Diagnostics,
}

/// The formats, in the order in which they are tried.
pub const FORMATS: &[Format] =
    &[amd_xml::FORMAT, amdgpu::FORMAT, bifrost::FORMAT, isaspec::FORMAT, riscv_unified_db::FORMAT, spirv::FORMAT];

/// How many bytes at the beginning of a file are used to detect its format.
const HEAD: u64 = 1 << 16;

/// The format of a document; `None` for isaforge's own specifications and for files that cannot be opened.
pub fn format_of(path: &Path) -> Option<&'static Format> {
    let mut head = Vec::new();
    if path.is_file() {
        File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    }
    format_of_text(path, &head)
}

/// The format of a document whose text is at hand.
pub fn format_of_text(path: &Path, text: &[u8]) -> Option<&'static Format> {
    let head = text.get(..HEAD as usize).unwrap_or(text);
    FORMATS.iter().find(|format| (format.is)(&Document { path, head }))
}
