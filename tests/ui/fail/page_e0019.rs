//! E0019: A DOCTYPE is not allowed.

isaforge::isa! { "specs/pages/e0019/isa.yaml" }

fn main() {}
