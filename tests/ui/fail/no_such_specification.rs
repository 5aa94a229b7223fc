//! A path with a slip in it, and one that resembles nothing.

isaforge::isa! { "specs/e0107_overlaps.yaml" }

isaforge::isa! { spec: "elsewhere/machine.yaml", module: machine }

#[allow(unused_imports, reason = "the name of this module is known")]
use machine as module;

fn main() {}
