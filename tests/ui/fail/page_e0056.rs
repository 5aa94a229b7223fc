//! E0056: No rule says where the secondary opcode lies.

isaforge::isa! { "specs/pages/e0056/isa.yaml" }

fn main() {}
