//! E0057: More sources than places.

isaforge::isa! { "specs/pages/e0057/isa.yaml" }

fn main() {}
