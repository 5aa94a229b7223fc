//! E0118: A rule can never be the one that decides.

isaforge::isa! { "specs/pages/e0118/isa.yaml" }

fn main() {}
