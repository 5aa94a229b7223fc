//! AMD's own machine-readable description of its instruction sets: an XML file with the root `<Spec>`.
//!
//! [`document`] reads elements, and [`layouts`] makes the model from them. `conditions.tsv` defines the conditions that
//! select longer encodings, since the schema leaves their expressions unspecified.

mod document;
mod layouts;

use super::format::{Document, Format, Request};
use crate::diagnostic::Diagnostic;
use crate::model::Isa;
use crate::xml::read_xml;

/// The format.
pub const FORMAT: Format = Format {
    name: "amd_xml",
    doc: "AMD's description of an instruction set, an XML file with the root `<Spec>`",
    is,
    read,
};

fn is(document: &Document<'_>) -> bool {
    document.has_root("Spec")
}

fn read(request: Request<'_>) -> Option<Isa> {
    let Request { path, sources, out, .. } = request;
    let file = match sources.load(path) {
        Ok(file) => file,
        Err(error) => {
            out.push(Diagnostic::error_without_place("E0003", error.to_string()));
            return None;
        }
    };
    let root = read_xml(sources, file, out)?;
    let found = document::Reader { out }.document(&root)?;
    let isa = layouts::isa(&found, sources, out);
    (!out.has_errors()).then_some(isa)
}
