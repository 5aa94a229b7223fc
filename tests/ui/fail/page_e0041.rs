//! E0041: A flag has no other default.

isaforge::isa! { "specs/pages/e0041/isa.yaml" }

fn main() {}
