//! E0127: A text that expands beyond the limits of an instruction.

isaforge::isa! { "specs/pages/e0127/isa.yaml" }

fn main() {}
