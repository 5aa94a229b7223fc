//! E0032: Unsupported word width.

isaforge::isa! { "specs/pages/e0032/isa.yaml" }

fn main() {}
