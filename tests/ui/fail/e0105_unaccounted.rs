//! Bits that the specification does not mention.

isaforge::isa! { "specs/e0105_unaccounted.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
