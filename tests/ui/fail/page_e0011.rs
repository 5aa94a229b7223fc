//! E0011: A bare `&` in the XML file.

isaforge::isa! { "specs/pages/e0011/isa.yaml" }

fn main() {}
