//! E0055: An element without a position.

isaforge::isa! { "specs/pages/e0055/isa.yaml" }

fn main() {}
