//! An enum with more values than the field has.

isaforge::isa! { "specs/e0108_too_many_values.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
