//! riscv-unified-db: a folder of YAML files, one for each instruction.
//!
//! [`files`] finds and reads them, [`nodes`] extracts data from YAML, [`document`] makes each a plain [`instruction`],
//! [`condition`] determines the generations that have it, [`syntax`] is the table of facts that the documents lack, and
//! [`layouts`] makes the model, with its operands in [`operands`].

mod condition;
mod document;
mod files;
mod instruction;
mod layouts;
mod nodes;
mod operands;
mod syntax;

use super::format::{Document, Format, Request};
use crate::model::Isa;

/// The format.
pub const FORMAT: Format = Format {
    name: "riscv-unified-db",
    doc: "the folder of riscv-unified-db, or the one that was unpacked of its instructions",
    is,
    read,
};

fn is(document: &Document<'_>) -> bool {
    document.path.is_dir() && files::instructions(document.path).is_some()
}

fn read(request: Request<'_>) -> Option<Isa> {
    let Request { path, sources, out, .. } = request;
    let table = sources.add("syntax.yaml of riscv-unified-db's reader", include_str!("syntax.yaml").to_owned());
    let root = crate::yaml::read_yaml(sources, table, out)?;
    let syntax = syntax::read(&root, sources, out)?;
    let documents = files::read(path, sources, out);
    let mut instructions = Vec::new();
    for node in documents.iter().chain(&syntax.instructions) {
        instructions.extend(document::instruction(node, &syntax, sources, out));
    }
    let isa = layouts::isa(root.span, &instructions, &syntax, sources, out);
    (!out.has_errors()).then_some(isa)
}
