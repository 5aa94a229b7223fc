//! E0014: An attribute is given twice.

isaforge::isa! { "specs/pages/e0014/isa.yaml" }

fn main() {}
