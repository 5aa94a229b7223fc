//! E0063: The syntax of an operation is not complete.

isaforge::isa! { "specs/pages/e0063/isa.yaml" }

fn main() {}
