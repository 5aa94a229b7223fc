//! Tests of the USC: programs with known results, and comparisons with models of its units.

#[path = "../seed/mod.rs"]
mod seed;
mod support;

mod corpus;
mod expressions;
mod extended;
mod flow;
mod pack;
mod reference;
mod texture;
mod together;
mod typed;
mod units;
mod vendor;
