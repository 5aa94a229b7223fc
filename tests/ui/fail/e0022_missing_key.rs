//! A bank without a number of registers.

isaforge::isa! { "specs/e0022_missing_key.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
