//! E0021: Unknown key.

isaforge::isa! { "specs/pages/e0021/isa.yaml" }

fn main() {}
