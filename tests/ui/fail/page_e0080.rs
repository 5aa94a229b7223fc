//! E0080: The text of an instruction does not show a field.

isaforge::isa! { "specs/pages/e0080/isa.yaml" }

fn main() {}
