//! A host that several threads ask at once.

use super::{Attribute, Buffer, Handle, Host, HostError, Image, Lod, Lookup, Spot, Texel, VaryingSource};

/// A host that is only read: nothing can be drawn on it.
#[derive(Debug)]
pub(in crate::valhall) struct ReadOnly<'h>(pub &'h (dyn Host + Sync));

impl Host for ReadOnly<'_> {
    fn buffer(&self, handle: Handle) -> Result<Buffer, HostError> {
        self.0.buffer(handle)
    }

    fn attribute(&self, handle: Handle) -> Result<Attribute, HostError> {
        self.0.attribute(handle)
    }

    fn image(&self, handle: Handle) -> Result<Image, HostError> {
        self.0.image(handle)
    }

    fn look_up(&self, lookup: &Lookup) -> Result<Texel, HostError> {
        self.0.look_up(lookup)
    }

    fn level_of_detail(&self, lookup: &Lookup, lod: Lod, bias: bool, range: bool) -> Result<f32, HostError> {
        self.0.level_of_detail(lookup, lod, bias, range)
    }

    fn varying(&self, source: VaryingSource, component: u32, spot: Spot) -> Result<u32, HostError> {
        self.0.varying(source, component, spot)
    }

    fn depth_and_w(&self, spot: Spot) -> [f32; 2] {
        self.0.depth_and_w(spot)
    }

    fn framebuffer_size(&self) -> [u32; 2] {
        self.0.framebuffer_size()
    }

    fn samples(&self) -> u32 {
        self.0.samples()
    }

    fn place_in_point(&self, spot: Spot) -> [f32; 2] {
        self.0.place_in_point(spot)
    }

    fn tile(&self, target: u32, pixel: [u32; 2], sample: u32) -> Result<Texel, HostError> {
        self.0.tile(target, pixel, sample)
    }
}
