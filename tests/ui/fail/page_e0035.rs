//! E0035: No crate can be called so.

isaforge::isa! { "specs/pages/e0035/isa.yaml" }

fn main() {}
