//! E0002: A key is given twice.

isaforge::isa! { "specs/pages/e0002/isa.yaml" }

fn main() {}
