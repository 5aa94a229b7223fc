//! Readers of the documents of others, each a room of its own.
//!
//! A reader maps a document onto the model, most often onto a [`stream`](crate::stream::model), before anything is checked
//! or lowered, so everything behind it works as for a specification of our own. A reader knows the vocabulary of its
//! format; positions, names and texts come from the document. The README of each room says which elements mean what, what is
//! refused, and why.

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

/// A format of documents.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What documents of it describe.
    pub doc: &'static str,
    /// Whether a document is of this format. Only its path and its beginning are looked at.
    pub is: fn(&Document<'_>) -> bool,
    /// Reads one. `None` when there is no model to speak of; the reasons are among the diagnostics.
    pub read: fn(Request<'_>) -> Option<Isa>,
}

/// What tells a format.
#[derive(Debug)]
pub struct Document<'a> {
    /// The file or the folder.
    pub path: &'a Path,
    /// The first bytes of a file, as many as a header may take; empty for a folder.
    pub head: &'a [u8],
}

impl Document<'_> {
    /// Whether it is XML with a root of this name, behind a declaration and comments.
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
                Some((_, behind)) => rest = behind.trim_start(),
                None => return false,
            }
        }
        let root = rest.strip_prefix('<').and_then(|rest| rest.strip_prefix(name));
        root.is_some_and(|behind| behind.starts_with(['>', '/']) || behind.starts_with(char::is_whitespace))
    }
}

/// A document that is to be read.
#[derive(Debug)]
pub struct Request<'a> {
    /// The file or the folder.
    pub path: &'a Path,
    /// The generation that is wanted. A reader may leave out what others have, or take everything.
    pub generation: Option<&'a str>,
    /// The texts that diagnostics point into.
    pub sources: &'a mut Sources,
    /// What is wrong with the document.
    pub out: &'a mut Diagnostics,
}

/// The formats, in the order in which a document is tried.
pub const FORMATS: &[Format] =
    &[amd_xml::FORMAT, amdgpu::FORMAT, bifrost::FORMAT, isaspec::FORMAT, riscv_unified_db::FORMAT, spirv::FORMAT];

/// Bytes at the beginning of a file that tell its format.
const HEAD: u64 = 1 << 16;

/// The format of a document, `None` for a specification of our own or for what cannot be opened.
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
