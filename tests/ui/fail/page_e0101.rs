//! E0101: There is nothing of this name.

isaforge::isa! { "specs/pages/e0101/isa.yaml" }

fn main() {}
