//! Two modifiers that both print `.lit`.

isaforge::isa! { "specs/e0109_print_alike.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
