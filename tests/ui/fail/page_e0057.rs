//! E0057: More sources than positions.

isaforge::isa! { "specs/pages/e0057/isa.yaml" }

fn main() {}
