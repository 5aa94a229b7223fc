//! E0054: This cannot be corrected.

isaforge::isa! { "specs/pages/e0054/isa.yaml" }

fn main() {}
