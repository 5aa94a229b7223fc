//! E0045: A key that does not apply here.

isaforge::isa! { "specs/pages/e0045/isa.yaml" }

fn main() {}
