//! Bifrost as Mesa's `ISA.xml` describes it: tuples of the FMA unit (23 bits) and of the ADD unit (20 bits).
//!
//! [`document`] reads elements, [`logic`] inverts the packing of modifiers, [`context`] defines the operands that
//! depend on the clause, and [`layouts`] makes the model.

mod context;
mod document;
mod layouts;
mod logic;

use super::format::{Document, Format, Request};
use crate::diagnostic::Diagnostic;
use crate::model::Isa;
use crate::xml::read_xml;

/// The format.
pub const FORMAT: Format =
    Format { name: "bifrost", doc: "Mesa's description of Bifrost, an XML file with the root `<bifrost>`", is, read };

fn is(document: &Document<'_>) -> bool {
    document.has_root("bifrost")
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
    let instructions = document::Reader { out }.instructions(&root);
    let isa = layouts::isa(&root, &instructions, sources, out);
    (!out.has_errors()).then_some(isa)
}
