//! Constant bits that their places cannot hold.

isaforge::isa! { "specs/e0031_too_large.yaml" }

#[allow(unused_imports, reason = "it need only resolve")]
use lamps as module;

fn main() {}
