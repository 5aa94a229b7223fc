//! E0111: More than the tables hold.

isaforge::isa! { "specs/pages/e0111/isa.yaml" }

fn main() {}
