//! E0019: A DOCTYPE is not read.

isaforge::isa! { "specs/pages/e0019/isa.yaml" }

fn main() {}
