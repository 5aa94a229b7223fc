//! E0116: A default is none of the values.

isaforge::isa! { "specs/pages/e0116/isa.yaml" }

fn main() {}
