//! E0053: Not a number.

isaforge::isa! { "specs/pages/e0053/isa.yaml" }

fn main() {}
