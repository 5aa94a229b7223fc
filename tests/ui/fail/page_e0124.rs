//! E0124: Arms that do not fit the values of a modifier.

isaforge::isa! { "specs/pages/e0124/isa.yaml" }

fn main() {}
