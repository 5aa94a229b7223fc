//! E0123: Wrong arguments to a function.

isaforge::isa! { "specs/pages/e0123/isa.yaml" }

fn main() {}
