//! E0133: A text that is printed but does not read back.

isaforge::isa! { "specs/pages/e0133/isa.yaml" }

fn main() {}
