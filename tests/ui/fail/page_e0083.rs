//! E0083: A number cannot be stored so.

isaforge::isa! { "specs/pages/e0083/isa.yaml" }

fn main() {}
