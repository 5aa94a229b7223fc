//! E0062: Unsupported size of a group.

isaforge::isa! { "specs/pages/e0062/isa.yaml" }

fn main() {}
