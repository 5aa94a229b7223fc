//! E0123: Arguments that a function does not take.

isaforge::isa! { "specs/pages/e0123/isa.yaml" }

fn main() {}
