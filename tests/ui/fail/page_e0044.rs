//! E0044: A template names something that is not there.

isaforge::isa! { "specs/pages/e0044/isa.yaml" }

fn main() {}
