//! E0128: A destination that is never written.

isaforge::isa! { "specs/pages/e0128/isa.yaml" }

fn main() {}
