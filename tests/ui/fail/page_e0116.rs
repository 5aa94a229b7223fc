//! E0116: A default that is not one of the values.

isaforge::isa! { "specs/pages/e0116/isa.yaml" }

fn main() {}
