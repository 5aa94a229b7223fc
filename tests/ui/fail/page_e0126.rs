//! E0126: An assignment to what cannot be written, or a value that nobody takes.

isaforge::isa! { "specs/pages/e0126/isa.yaml" }

fn main() {}
