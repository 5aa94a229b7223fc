//! E0110: Two readings of an operand match the same bits.

isaforge::isa! { "specs/pages/e0110/isa.yaml" }

fn main() {}
