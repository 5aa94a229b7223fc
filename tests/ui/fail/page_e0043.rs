//! E0043: A brace without its partner.

isaforge::isa! { "specs/pages/e0043/isa.yaml" }

fn main() {}
