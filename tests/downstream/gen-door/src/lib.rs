//! The command line as a door to the compiler: `isaforge gen tests/specs/blink.yaml -o tests/downstream/gen-door/blink`, and
//! with `--semantics required` for the other.
#![deny(warnings, missing_docs)]

pub use blink;
pub use blink_strict as strict;
pub use isaforge_core as rt;

#[doc = include_str!("../../forgotten.md")]
pub mod forgotten {}
