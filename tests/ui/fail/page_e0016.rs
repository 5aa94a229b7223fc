//! E0016: Unknown entity.

isaforge::isa! { "specs/pages/e0016/isa.yaml" }

fn main() {}
