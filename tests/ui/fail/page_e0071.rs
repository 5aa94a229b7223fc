//! E0071: A group without instructions.

isaforge::isa! { "specs/pages/e0071/isa.yaml" }

fn main() {}
