//! A build script as a door to the compiler.
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, unsafe_code)]

pub use isaforge::core as rt;

isaforge::include_isa!("blink");

// The macro saves just this much.
include!(concat!(env!("OUT_DIR"), "/strict.rs"));

#[doc = include_str!("../../forgotten.md")]
pub mod forgotten {}
