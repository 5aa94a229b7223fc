//! A field that takes a bit of another.

isaforge::isa! { "specs/e0107_overlap.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
