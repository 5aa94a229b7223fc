//! E0045: A key that has no meaning here.

isaforge::isa! { "specs/pages/e0045/isa.yaml" }

fn main() {}
