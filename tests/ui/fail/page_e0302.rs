//! E0302: A record gives a value twice, or one that its field cannot have.

isaforge::isa! { "specs/pages/e0302/isa.yaml" }

fn main() {}
