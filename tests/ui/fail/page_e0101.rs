//! E0101: Unknown name.

isaforge::isa! { "specs/pages/e0101/isa.yaml" }

fn main() {}
