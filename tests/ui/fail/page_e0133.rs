//! E0133: A text prints and does not read back.

isaforge::isa! { "specs/pages/e0133/isa.yaml" }

fn main() {}
