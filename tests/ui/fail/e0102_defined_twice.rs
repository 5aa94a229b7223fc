//! Two values of one enum with one name.

isaforge::isa! { "specs/e0102_defined_twice.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
