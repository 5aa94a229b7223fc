//! An instruction set without instructions has no code.

isaforge::isa! { "specs/e0034_no_instructions.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
