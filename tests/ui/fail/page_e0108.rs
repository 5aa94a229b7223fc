//! E0108: A field cannot hold a value.

isaforge::isa! { "specs/pages/e0108/isa.yaml" }

fn main() {}
