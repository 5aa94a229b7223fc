//! E0127: A text that grows beyond what an instruction may be.

isaforge::isa! { "specs/pages/e0127/isa.yaml" }

fn main() {}
