//! E0051: An attribute is missing.

isaforge::isa! { "specs/pages/e0051/isa.yaml" }

fn main() {}
