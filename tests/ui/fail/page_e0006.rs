//! E0006: An invisible character.

isaforge::isa! { "specs/pages/e0006/isa.yaml" }

fn main() {}
