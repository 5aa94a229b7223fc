//! An enum without a named value has no code.

isaforge::isa! { "specs/e0034_no_values.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
