//! E0004: A file imports itself.

isaforge::isa! { "specs/pages/e0004/isa.yaml" }

fn main() {}
