//! What operations compute, one instance at a time, on bits.

pub mod bits;
pub mod float;
pub mod pack;
pub mod special;
