//! E0034: An empty list where an entry is required.

isaforge::isa! { "specs/pages/e0034/isa.yaml" }

fn main() {}
