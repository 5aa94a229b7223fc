//! E0005: Unmatched quote.

isaforge::isa! { "specs/pages/e0005/isa.yaml" }

fn main() {}
