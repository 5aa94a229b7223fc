//! E0111: Limit of the tables exceeded.

isaforge::isa! { "specs/pages/e0111/isa.yaml" }

fn main() {}
