//! E0070: An enum has two defaults.

isaforge::isa! { "specs/pages/e0070/isa.yaml" }

fn main() {}
