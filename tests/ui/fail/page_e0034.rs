//! E0034: An empty list where something must stand.

isaforge::isa! { "specs/pages/e0034/isa.yaml" }

fn main() {}
