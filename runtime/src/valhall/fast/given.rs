//! The inputs of a launch that are the same for all threads.

use crate::valhall::host::Host;
use crate::valhall::source::framebuffer_size;

/// The inputs that a launch gives to all threads.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub uniforms: &'a [u32],
    /// The number of warps of a workgroup.
    pub warps: u32,
    /// The special value of this name; 0 without a host.
    pub framebuffer_size: u64,
    /// The number of samples of a pixel.
    pub samples: u32,
    /// Whether it is a fragment program.
    pub draws: bool,
    /// Whether accesses to memory are recorded.
    pub logs: bool,
}

impl<'a> Given<'a> {
    /// Returns those of a compute program.
    pub fn compute(uniforms: &'a [u32], warps: u32, host: &dyn Host) -> Self {
        let (framebuffer_size, samples) = (framebuffer_size(host), host.samples());
        Given { uniforms, warps, framebuffer_size, samples, draws: false, logs: false }
    }
}
