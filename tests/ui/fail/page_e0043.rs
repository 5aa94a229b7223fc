//! E0043: Unmatched brace.

isaforge::isa! { "specs/pages/e0043/isa.yaml" }

fn main() {}
