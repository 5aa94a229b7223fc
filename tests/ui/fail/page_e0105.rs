//! E0105: Nothing says what some bits are.

isaforge::isa! { "specs/pages/e0105/isa.yaml" }

fn main() {}
