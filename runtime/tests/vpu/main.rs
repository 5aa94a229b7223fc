//! Tests of the VPU: comparison with a scalar model, its examples, and programs with known results.

mod model;
#[path = "../seed/mod.rs"]
mod seed;

mod against_model;
mod corpus;
mod engines;
mod examples;
mod float;
mod machine;
mod picture;
mod words;
