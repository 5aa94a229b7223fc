//! E0031: A constant does not fit its bits.

isaforge::isa! { "specs/pages/e0031/isa.yaml" }

fn main() {}
