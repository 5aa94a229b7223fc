//! An unknown key, similar to a known one.

isaforge::isa! { "specs/e0021_unknown_key.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
