//! E0030: Not a run of bits.

isaforge::isa! { "specs/pages/e0030/isa.yaml" }

fn main() {}
