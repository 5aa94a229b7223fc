//! E0012: A bare `<` in the XML file.

isaforge::isa! { "specs/pages/e0012/isa.yaml" }

fn main() {}
