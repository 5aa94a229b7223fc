//! E0015: An attribute is not written as one.

isaforge::isa! { "specs/pages/e0015/isa.yaml" }

fn main() {}
