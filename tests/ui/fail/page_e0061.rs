//! E0061: Keys that exclude each other.

isaforge::isa! { "specs/pages/e0061/isa.yaml" }

fn main() {}
