//! E0134: It cannot be decided whether two instructions match the same word.

isaforge::isa! { "specs/pages/e0134/isa.yaml" }

fn main() {}
