//! Back ends: what is made of a specification that has passed its checks.
//!
//! Each is a room. All work on the tables of `isaforge-core`, which [`lower`](crate::lower) and its siblings make of the model:
//! what one back end prints and another describes cannot differ.

#[cfg(feature = "manual")]
pub mod manual;
pub mod rust;
