//! An enum and a bank that are called something else.

isaforge::isa! { "specs/e0101_no_such_name.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
