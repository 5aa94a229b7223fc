//! E0058: An attribute without an encoding.

isaforge::isa! { "specs/pages/e0058/isa.yaml" }

fn main() {}
