//! E0081: An expression cannot be computed.

isaforge::isa! { "specs/pages/e0081/isa.yaml" }

fn main() {}
