//! E0017: Something stands beside the root element.

isaforge::isa! { "specs/pages/e0017/isa.yaml" }

fn main() {}
