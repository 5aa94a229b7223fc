//! E0021: A key that nobody reads.

isaforge::isa! { "specs/pages/e0021/isa.yaml" }

fn main() {}
