//! E0084: The file and the specification do not fit each other.

isaforge::isa! { "specs/pages/e0084/isa.yaml" }

fn main() {}
