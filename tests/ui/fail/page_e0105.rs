//! E0105: Undefined bits.

isaforge::isa! { "specs/pages/e0105/isa.yaml" }

fn main() {}
