//! Hosts that wrap another host.

use super::Host;

/// Forwards the methods that only query a host, but none of its pixels, to the wrapped host.
macro_rules! inputs {
    ($inner:tt) => {
        fn buffer(
            &self,
            handle: $crate::valhall::host::Handle,
        ) -> Result<$crate::valhall::host::Buffer, $crate::valhall::host::HostError> {
            self.$inner.buffer(handle)
        }

        fn attribute(
            &self,
            handle: $crate::valhall::host::Handle,
        ) -> Result<$crate::valhall::host::Attribute, $crate::valhall::host::HostError> {
            self.$inner.attribute(handle)
        }

        fn image(
            &self,
            handle: $crate::valhall::host::Handle,
        ) -> Result<$crate::valhall::host::Image, $crate::valhall::host::HostError> {
            self.$inner.image(handle)
        }

        fn look_up(
            &self,
            lookup: &$crate::valhall::host::Lookup,
        ) -> Result<$crate::valhall::host::Texel, $crate::valhall::host::HostError> {
            self.$inner.look_up(lookup)
        }

        fn look_up_together(
            &self,
            lookups: &$crate::valhall::host::Lookups<'_>,
            found: &mut [[$crate::valhall::host::Lanes<u32>; 4]],
        ) -> Option<()> {
            self.$inner.look_up_together(lookups, found)
        }

        fn varying_together(
            &self,
            source: $crate::valhall::host::VaryingSource,
            component: u32,
            spots: $crate::valhall::host::Spots<'_>,
            found: &mut [$crate::valhall::host::Lanes<u32>],
        ) -> Option<()> {
            self.$inner.varying_together(source, component, spots, found)
        }

        fn level_of_detail(
            &self,
            lookup: &$crate::valhall::host::Lookup,
            lod: $crate::valhall::host::Lod,
            bias: bool,
            range: bool,
        ) -> Result<f32, $crate::valhall::host::HostError> {
            self.$inner.level_of_detail(lookup, lod, bias, range)
        }

        fn varying(
            &self,
            source: $crate::valhall::host::VaryingSource,
            component: u32,
            spot: $crate::valhall::host::Spot,
        ) -> Result<u32, $crate::valhall::host::HostError> {
            self.$inner.varying(source, component, spot)
        }

        fn depth_and_w(&self, spot: $crate::valhall::host::Spot) -> [f32; 2] {
            self.$inner.depth_and_w(spot)
        }

        fn place_in_point(&self, spot: $crate::valhall::host::Spot) -> [f32; 2] {
            self.$inner.place_in_point(spot)
        }
    };
}
pub(in crate::valhall) use inputs;

/// Forwards the methods that only query a host to the wrapped host.
macro_rules! asks {
    ($inner:tt) => {
        $crate::valhall::host::inputs!($inner);

        fn framebuffer_size(&self) -> [u32; 2] {
            self.$inner.framebuffer_size()
        }

        fn samples(&self) -> u32 {
            self.$inner.samples()
        }

        fn tile(
            &self,
            target: u32,
            pixel: [u32; 2],
            sample: u32,
        ) -> Result<$crate::valhall::host::Texel, $crate::valhall::host::HostError> {
            self.$inner.tile(target, pixel, sample)
        }

        fn depth(&self, pixel: [u32; 2]) -> Option<f32> {
            self.$inner.depth(pixel)
        }

        fn stencil(&self, pixel: [u32; 2]) -> Option<u32> {
            self.$inner.stencil(pixel)
        }
    };
}
pub(in crate::valhall) use asks;

/// A host that is only read: nothing can be drawn on it, so several threads may use it at once.
#[derive(Debug)]
pub(in crate::valhall) struct ReadOnly<'h>(pub &'h (dyn Host + Sync));

impl Host for ReadOnly<'_> {
    asks!(0);
}
