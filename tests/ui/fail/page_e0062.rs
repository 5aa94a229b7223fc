//! E0062: A group cannot have such a size.

isaforge::isa! { "specs/pages/e0062/isa.yaml" }

fn main() {}
