//! E0120: A text that the grammar does not allow.

isaforge::isa! { "specs/pages/e0120/isa.yaml" }

fn main() {}
