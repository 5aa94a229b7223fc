//! E0121: A name that nothing has.

isaforge::isa! { "specs/pages/e0121/isa.yaml" }

fn main() {}
