//! Readers of documents in foreign formats, one module each.
//!
//! A reader maps a document to the model, usually to a [`stream`](crate::stream::model), before anything is checked or
//! lowered, so that all later stages work as for isaforge's own specifications. A reader knows the vocabulary of its
//! format; positions, names and texts come from the document. The README of each module defines the meaning of
//! elements, and what is rejected and why.
//!
//! - here: the list of formats, and the one of a document
//! - `format`: what a reader provides
//! - `pattern`: patterns of names, for the tables of readers

mod amd_xml;
mod amdgpu;
mod bifrost;
mod format;
mod isaspec;
mod pattern;
mod riscv_unified_db;
mod spirv;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use format::{Document, Format, Request};

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
