//! E0126: Invalid assignment, or an unused value.

isaforge::isa! { "specs/pages/e0126/isa.yaml" }

fn main() {}
