//! E0010: Unterminated markup in the XML file.

isaforge::isa! { "specs/pages/e0010/isa.yaml" }

fn main() {}
