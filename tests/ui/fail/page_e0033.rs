//! E0033: A number that makes no sense here.

isaforge::isa! { "specs/pages/e0033/isa.yaml" }

fn main() {}
