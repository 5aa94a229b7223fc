//! E0132: No inverse from a value to its bits.

isaforge::isa! { "specs/pages/e0132/isa.yaml" }

fn main() {}
