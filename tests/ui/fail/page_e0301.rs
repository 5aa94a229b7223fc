//! E0301: Two records start alike.

isaforge::isa! { "specs/pages/e0301/isa.yaml" }

fn main() {}
