//! E0121: Unknown name in a text.

isaforge::isa! { "specs/pages/e0121/isa.yaml" }

fn main() {}
