//! E0010: Markup in the XML file does not end.

isaforge::isa! { "specs/pages/e0010/isa.yaml" }

fn main() {}
