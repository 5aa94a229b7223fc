//! E0113: The assembler cannot read this name.

isaforge::isa! { "specs/pages/e0113/isa.yaml" }

fn main() {}
