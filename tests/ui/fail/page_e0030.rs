//! E0030: This is not a run of bits.

isaforge::isa! { "specs/pages/e0030/isa.yaml" }

fn main() {}
