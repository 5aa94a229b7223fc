//! E0102: A name is defined twice.

isaforge::isa! { "specs/pages/e0102/isa.yaml" }

fn main() {}
