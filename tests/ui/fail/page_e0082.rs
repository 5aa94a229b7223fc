//! E0082: Fields that depend on each other do not fit.

isaforge::isa! { "specs/pages/e0082/isa.yaml" }

fn main() {}
