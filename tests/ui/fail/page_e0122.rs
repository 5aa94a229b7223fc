//! E0122: Mismatched types.

isaforge::isa! { "specs/pages/e0122/isa.yaml" }

fn main() {}
