//! E0109: Two modifiers print alike.

isaforge::isa! { "specs/pages/e0109/isa.yaml" }

fn main() {}
