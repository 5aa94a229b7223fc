//! E0035: Not a valid name for a crate.

isaforge::isa! { "specs/pages/e0035/isa.yaml" }

fn main() {}
