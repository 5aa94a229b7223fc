//! E0115: An instruction is named like another one with a modifier.

isaforge::isa! { "specs/pages/e0115/isa.yaml" }

fn main() {}
