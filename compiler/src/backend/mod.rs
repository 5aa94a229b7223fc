//! Back ends: the outputs generated from a specification that has passed its checks.
//!
//! Each back end is a module. All of them use the tables of `isaforge-core` that [`lower`](crate::lower) and its
//! siblings make from the model, so that their outputs cannot disagree.

#[cfg(feature = "manual")]
pub mod manual;
pub mod rust;
