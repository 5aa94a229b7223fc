//! A key with one quote.

isaforge::isa! { "specs/e0005_key_quote.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
