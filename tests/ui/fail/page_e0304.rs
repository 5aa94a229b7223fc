//! E0304: A header that does not determine its group.

isaforge::isa! { "specs/pages/e0304/isa.yaml" }

fn main() {}
