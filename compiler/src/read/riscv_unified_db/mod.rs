//! riscv-unified-db: a folder of YAML files, one an instruction.
//!
//! [`files`] finds and reads them, [`nodes`] looks into YAML, [`document`] has an instruction as plain data, [`condition`]
//! tells which generations have it, [`syntax`] is the table of what the documents leave open, [`layouts`] makes the model
//! of all that, its operands in [`operands`].

mod condition;
mod document;
mod files;
mod layouts;
mod nodes;
mod operands;
mod syntax;

use super::{Document, Format, Request};
use crate::model::Isa;

/// The format.
pub const FORMAT: Format = Format {
    name: "riscv-unified-db",
    doc: "the folder of riscv-unified-db, or the one that was unpacked of its instructions",
    is,
    read,
};

/// The widths of registers, which are the generations.
const GENERATIONS: [(&str, u64); 2] = [("rv32", 32), ("rv64", 64)];

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
