//! E0013: A closing tag is missing or closes something else.

isaforge::isa! { "specs/pages/e0013/isa.yaml" }

fn main() {}
