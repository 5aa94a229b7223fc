//! E0131: A value is computed from itself.

isaforge::isa! { "specs/pages/e0131/isa.yaml" }

fn main() {}
