//! E0018: Elements nest too deeply.

isaforge::isa! { "specs/pages/e0018/isa.yaml" }

fn main() {}
