//! E0060: This is no value of the field.

isaforge::isa! { "specs/pages/e0060/isa.yaml" }

fn main() {}
