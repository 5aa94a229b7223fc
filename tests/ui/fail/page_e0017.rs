//! E0017: Content outside the root element.

isaforge::isa! { "specs/pages/e0017/isa.yaml" }

fn main() {}
