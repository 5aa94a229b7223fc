//! E0130: A key that a stream does not have.

isaforge::isa! { "specs/pages/e0130/isa.yaml" }

fn main() {}
