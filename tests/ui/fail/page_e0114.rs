//! E0114: Text that cannot be read back.

isaforge::isa! { "specs/pages/e0114/isa.yaml" }

fn main() {}
