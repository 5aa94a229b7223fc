//! E0103: Two values have the same bits.

isaforge::isa! { "specs/pages/e0103/isa.yaml" }

fn main() {}
