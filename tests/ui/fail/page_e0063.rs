//! E0063: Incomplete syntax of an operation.

isaforge::isa! { "specs/pages/e0063/isa.yaml" }

fn main() {}
