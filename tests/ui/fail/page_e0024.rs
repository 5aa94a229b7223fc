//! E0024: A number out of range.

isaforge::isa! { "specs/pages/e0024/isa.yaml" }

fn main() {}
