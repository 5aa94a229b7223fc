//! E0005: A quote without its partner.

isaforge::isa! { "specs/pages/e0005/isa.yaml" }

fn main() {}
