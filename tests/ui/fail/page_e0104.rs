//! E0104: Bits outside the word.

isaforge::isa! { "specs/pages/e0104/isa.yaml" }

fn main() {}
