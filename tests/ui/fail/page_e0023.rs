//! E0023: A word that is not one of the choices.

isaforge::isa! { "specs/pages/e0023/isa.yaml" }

fn main() {}
