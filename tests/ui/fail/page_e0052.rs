//! E0052: An unknown attribute.

isaforge::isa! { "specs/pages/e0052/isa.yaml" }

fn main() {}
