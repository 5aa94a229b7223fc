//! The default host: resources in tables that the caller fills.

use std::collections::BTreeMap;

use super::band::draws;
use super::error::HostError;
use super::format::{Class, Texel};
use super::handle::{Handle, Kind};
use super::point::Point;
use super::sample::{Lod, Lookup, Request};
use super::spot::{Spot, VaryingSource};
use super::target::{Target, find};
use super::texture::{Sampler, Texture};
use super::together::{Blends, Lanes, Lookups, Spots};
use super::varying::{Component, Varyings};
use super::{Attribute, Buffer, Host, Image};
use crate::valhall::warp::LANES;

/// Everything that a program can name, in tables.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Buffers, for `LD_BUFFER` and `LEA_BUF_IMM`.
    pub buffers: BTreeMap<Handle, Buffer>,
    /// Attributes of vertices.
    pub attributes: BTreeMap<Handle, Attribute>,
    /// Images.
    pub images: BTreeMap<Handle, Image>,
    /// Textures.
    pub textures: BTreeMap<Handle, Texture>,
    /// Samplers.
    pub samplers: BTreeMap<Handle, Sampler>,
    /// Varyings of the current primitive.
    pub varyings: Varyings,
    /// The special varyings `frag_z` and `frag_w`; by default z is 0 and w is 1.
    pub depth_and_w: [Option<Component>; 2],
    /// The point being drawn, if the primitive is a point.
    pub point: Option<Point>,
    /// Render targets by number, all with the same number of samples.
    pub targets: Vec<Option<Target>>,
    /// The depth buffer that `ZS_EMIT` writes; without it the depth is discarded.
    pub depth: Option<Target>,
    /// The stencil buffer that `ZS_EMIT` writes; without it the stencil is discarded.
    pub stencil: Option<Target>,
}

impl Resources {
    fn texture(&self, handle: Handle) -> Result<&Texture, HostError> {
        self.textures.get(&handle).ok_or(HostError::Missing { kind: Kind::Texture, handle })
    }

    fn sampler(&self, handle: Handle) -> Result<&Sampler, HostError> {
        self.samplers.get(&handle).ok_or(HostError::Missing { kind: Kind::Sampler, handle })
    }
}

impl Host for Resources {
    fn buffer(&self, handle: Handle) -> Result<Buffer, HostError> {
        self.buffers.get(&handle).copied().ok_or(HostError::Missing { kind: Kind::Buffer, handle })
    }

    fn attribute(&self, handle: Handle) -> Result<Attribute, HostError> {
        self.attributes.get(&handle).copied().ok_or(HostError::Missing { kind: Kind::Attribute, handle })
    }

    fn image(&self, handle: Handle) -> Result<Image, HostError> {
        self.images.get(&handle).copied().ok_or(HostError::Missing { kind: Kind::Image, handle })
    }

    fn look_up(&self, lookup: &Lookup) -> Result<Texel, HostError> {
        let texture = self.texture(lookup.texture)?;
        if texture.shape() != lookup.shape {
            return Err(HostError::Shape { handle: lookup.texture, found: texture.shape(), wanted: lookup.shape });
        }
        if matches!(lookup.request, Request::Fetch { .. }) {
            return Ok(texture.look_up(&Sampler::default(), lookup));
        }
        Ok(texture.look_up(self.sampler(lookup.sampler)?, lookup))
    }

    fn look_up_together(&self, lookups: &Lookups<'_>, found: &mut [[Lanes<u32>; 4]]) -> Option<()> {
        let texture = self.textures.get(&lookups.texture).filter(|texture| texture.shape() == lookups.shape)?;
        texture.look_up_together(self.samplers.get(&lookups.sampler)?, lookups, found)
    }

    fn varying_together(
        &self,
        source: VaryingSource,
        component: u32,
        spots: Spots<'_>,
        found: &mut [Lanes<u32>],
    ) -> Option<()> {
        match self.varyings.component(source.byte(component)).ok()? {
            Ok(component) => component.at_together(spots, found),
            Err(missing) => {
                found.fill([missing; LANES]);
                Some(())
            }
        }
    }

    fn level_of_detail(&self, lookup: &Lookup, lod: Lod, bias: bool, range: bool) -> Result<f32, HostError> {
        let texture = self.texture(lookup.texture)?;
        Ok(texture.level_of_detail(self.sampler(lookup.sampler)?, lod, bias, range))
    }

    fn varying(&self, source: VaryingSource, component: u32, spot: Spot) -> Result<u32, HostError> {
        self.varyings.at(source.byte(component), spot)
    }

    fn depth_and_w(&self, spot: Spot) -> [f32; 2] {
        let [z, w] =
            [&self.depth_and_w[0], &self.depth_and_w[1]].map(|component| component.as_ref().map(|c| c.at(spot)));
        [z.map_or(0.0, f32::from_bits), w.map_or(1.0, f32::from_bits)]
    }

    fn place_in_point(&self, spot: Spot) -> [f32; 2] {
        self.point.map_or([0.0; 2], |point| point.place_of(spot.position()))
    }

    draws!();
}
