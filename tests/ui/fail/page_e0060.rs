//! E0060: Not a value of the field.

isaforge::isa! { "specs/pages/e0060/isa.yaml" }

fn main() {}
