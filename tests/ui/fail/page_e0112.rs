//! E0112: A syntax leaves something out.

isaforge::isa! { "specs/pages/e0112/isa.yaml" }

fn main() {}
