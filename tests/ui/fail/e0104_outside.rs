//! A lamp beyond the word.

isaforge::isa! { "specs/e0104_outside.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
