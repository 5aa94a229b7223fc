//! E0303: Nothing can stand in a slot.

isaforge::isa! { "specs/pages/e0303/isa.yaml" }

fn main() {}
