//! E0059: An attribute cannot have this value.

isaforge::isa! { "specs/pages/e0059/isa.yaml" }

fn main() {}
