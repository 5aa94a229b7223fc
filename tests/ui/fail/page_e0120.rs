//! E0120: Syntax error in a text.

isaforge::isa! { "specs/pages/e0120/isa.yaml" }

fn main() {}
