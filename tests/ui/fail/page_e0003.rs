//! E0003: A file cannot be read.

isaforge::isa! { "specs/pages/e0003/isa.yaml" }

fn main() {}
