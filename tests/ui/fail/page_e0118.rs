//! E0118: Unreachable rule.

isaforge::isa! { "specs/pages/e0118/isa.yaml" }

fn main() {}
