//! E0022: A key is missing.

isaforge::isa! { "specs/pages/e0022/isa.yaml" }

fn main() {}
