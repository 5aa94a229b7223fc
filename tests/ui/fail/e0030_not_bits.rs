//! A run of bits from low to high.

isaforge::isa! { "specs/e0030_not_bits.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
