//! E0046: A text writes the name of a register twice.

isaforge::isa! { "specs/pages/e0046/isa.yaml" }

fn main() {}
