//! E0122: Types that do not go together.

isaforge::isa! { "specs/pages/e0122/isa.yaml" }

fn main() {}
