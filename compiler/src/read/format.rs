//! A document format: how documents are recognised and read.

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
