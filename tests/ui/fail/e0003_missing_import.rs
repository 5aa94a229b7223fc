//! An import that is not there.

isaforge::isa! { "specs/e0003_missing_import.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
