//! E0107: Two things claim the same bits.

isaforge::isa! { "specs/pages/e0107/isa.yaml" }

fn main() {}
