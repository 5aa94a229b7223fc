//! E0044: Unknown name in a template.

isaforge::isa! { "specs/pages/e0044/isa.yaml" }

fn main() {}
