//! E0124: Arms that do not fit the values that `match` chooses by.

isaforge::isa! { "specs/pages/e0124/isa.yaml" }

fn main() {}
