//! E0042: Exactly one of several keys is needed.

isaforge::isa! { "specs/pages/e0042/isa.yaml" }

fn main() {}
