//! E0114: What is written cannot be read back.

isaforge::isa! { "specs/pages/e0114/isa.yaml" }

fn main() {}
