//! Two instructions for one word.

isaforge::isa! { "specs/e0106_same_word.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
