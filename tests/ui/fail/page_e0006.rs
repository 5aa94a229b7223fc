//! E0006: A character that cannot be seen.

isaforge::isa! { "specs/pages/e0006/isa.yaml" }

fn main() {}
