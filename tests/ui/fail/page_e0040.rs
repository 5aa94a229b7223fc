//! E0040: The text of a register is missing its number.

isaforge::isa! { "specs/pages/e0040/isa.yaml" }

fn main() {}
