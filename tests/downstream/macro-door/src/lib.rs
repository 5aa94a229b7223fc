//! The macro as a door to the compiler.
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, unsafe_code)]

pub use isaforge::core as rt;

isaforge::isa! { "../../specs/blink.yaml" }

isaforge::isa! {
    spec: "../../specs/blink.yaml",
    module: strict,
    semantics: required,
    tests: false,
}

#[doc = include_str!("../../forgotten.md")]
pub mod forgotten {}
