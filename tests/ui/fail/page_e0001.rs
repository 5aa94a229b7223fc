//! E0001: This is not YAML.

isaforge::isa! { "specs/pages/e0001/isa.yaml" }

fn main() {}
