//! E0125: A number that its type cannot hold.

isaforge::isa! { "specs/pages/e0125/isa.yaml" }

fn main() {}
