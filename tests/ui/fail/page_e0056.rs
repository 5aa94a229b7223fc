//! E0056: No rule for the position of a secondary opcode.

isaforge::isa! { "specs/pages/e0056/isa.yaml" }

fn main() {}
