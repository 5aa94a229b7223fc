//! E0055: An element has no place.

isaforge::isa! { "specs/pages/e0055/isa.yaml" }

fn main() {}
