//! E0032: A word cannot be that wide.

isaforge::isa! { "specs/pages/e0032/isa.yaml" }

fn main() {}
