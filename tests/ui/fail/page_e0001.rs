//! E0001: Invalid YAML.

isaforge::isa! { "specs/pages/e0001/isa.yaml" }

fn main() {}
