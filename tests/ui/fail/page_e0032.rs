//! E0032: A word cannot have so many bits.

isaforge::isa! { "specs/pages/e0032/isa.yaml" }

fn main() {}
