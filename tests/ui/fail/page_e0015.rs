//! E0015: Malformed attribute.

isaforge::isa! { "specs/pages/e0015/isa.yaml" }

fn main() {}
