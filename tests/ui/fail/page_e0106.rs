//! E0106: Two instructions match the same word.

isaforge::isa! { "specs/pages/e0106/isa.yaml" }

fn main() {}
