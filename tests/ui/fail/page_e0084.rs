//! E0084: The file and the specification do not match.

isaforge::isa! { "specs/pages/e0084/isa.yaml" }

fn main() {}
