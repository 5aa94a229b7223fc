//! E0050: An unknown element.

isaforge::isa! { "specs/pages/e0050/isa.yaml" }

fn main() {}
