//! What the fuzz targets do. `compiler/tests/properties.rs` calls the same functions on stable.

pub mod targets;
