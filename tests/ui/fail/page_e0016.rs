//! E0016: There is no such entity.

isaforge::isa! { "specs/pages/e0016/isa.yaml" }

fn main() {}
