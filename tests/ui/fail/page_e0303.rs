//! E0303: No record fits in a slot.

isaforge::isa! { "specs/pages/e0303/isa.yaml" }

fn main() {}
