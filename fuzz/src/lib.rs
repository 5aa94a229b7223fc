//! What the fuzz targets do. Tests on stable call the same functions: `compiler/tests/all/properties.rs`, those of `runtime/tests`
//! with random programs, `cli/tests/cli/launch.rs`; and `cli/examples/campaign.rs` calls them by the million.

pub mod change;
#[cfg(feature = "execution")]
pub mod execution;
#[cfg(feature = "execution")]
pub mod launches;
pub mod targets;
