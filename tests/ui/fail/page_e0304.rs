//! E0304: A header cannot decide.

isaforge::isa! { "specs/pages/e0304/isa.yaml" }

fn main() {}
