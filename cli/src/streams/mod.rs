//! The commands on instruction sets that are streams of bytes.

pub mod dis;
pub mod explain;
pub mod translate;
