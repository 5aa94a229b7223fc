//! E0124: Arms that do not fit the values of a `match`.

isaforge::isa! { "specs/pages/e0124/isa.yaml" }

fn main() {}
