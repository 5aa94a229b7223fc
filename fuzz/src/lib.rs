//! The functions of the fuzz targets. Tests on stable Rust call the same functions: `compiler/tests/all/properties.rs`,
//! the tests in `runtime/tests` with random programs, and `cli/tests/cli/launch.rs`. `cli/examples/campaign.rs` calls
//! them millions of times.

pub mod change;
#[cfg(feature = "execution")]
pub mod execution;
#[cfg(feature = "execution")]
pub mod launches;
pub mod targets;
