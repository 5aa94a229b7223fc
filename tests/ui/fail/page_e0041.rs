//! E0041: A flag cannot have another default.

isaforge::isa! { "specs/pages/e0041/isa.yaml" }

fn main() {}
