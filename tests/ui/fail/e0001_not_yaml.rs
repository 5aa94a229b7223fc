//! A list that is never closed.

isaforge::isa! { "specs/e0001_not_yaml.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
