//! E0058: Nothing says how an attribute is encoded.

isaforge::isa! { "specs/pages/e0058/isa.yaml" }

fn main() {}
