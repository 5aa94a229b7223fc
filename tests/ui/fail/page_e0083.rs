//! E0083: Unsupported way to store a number.

isaforge::isa! { "specs/pages/e0083/isa.yaml" }

fn main() {}
