//! E0020: A value of the wrong kind.

isaforge::isa! { "specs/pages/e0020/isa.yaml" }

fn main() {}
