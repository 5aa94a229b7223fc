//! Resources of programs: attributes, varyings, buffers, textures, images and render targets.
//!
//! A program names resources by table and index. A [`Host`] resolves the names; [`Resources`] is a host that keeps
//! everything in tables. Buffers, attributes and images are in [`Memory`](crate::Memory), so programs can also access
//! them by address.
//!
//! - `handle`, `error`: the names of resources, and why a name is invalid
//! - `channel`, `packed`, [`mod@format`], `compressed`: how texels are laid out
//! - [`texture`], [`sample`], `cube`: textures, and look-ups with their filters and levels of detail
//! - [`primitive`], [`triangle`], [`mod@line`], [`point`], [`samples`]: what a primitive covers
//! - `spot`, [`varying`], [`blend`], [`target`]: what pixels start with, and what becomes of their colours
//! - [`together`]: requests of all lanes of some warps
//! - [`resources`]: the tables; `band`: rows of the targets; `shared`: hosts that wrap another
//!
//! # Decisions
//!
//! Coordinates and their order in registers, gathering, coverage and blend descriptors are as the shaders compiled by
//! Mesa require. The following behaviours were chosen where the hardware is not documented.
//!
//! * A pixel has as many samples as the first target, at the positions of [`samples`]. Programs run once per pixel, at
//!   its centre, and for its first sample. Depth and stencil have one sample.
//! * `ATEST` and `ZS_EMIT` pass the coverage on. A colour is written to the samples in the coverage of its `BLEND`,
//!   where bit n stands for sample n. It replaces the previous colour, or is blended with it according to the target;
//!   there are no blend shaders.
//! * A failed fragment leaves no pixels of later ones: quads are ordered row by row, their pixels by lane.
//! * Helper lanes execute everything, even after `.discard` and `.skip`. Their stores, atomics and colours are dropped,
//!   their atomics return 0, and they get zeros where another lane would end the run with an error.
//! * Look-ups follow OpenGL ES: the level of detail is computed from the longer of the two derivatives across a quad,
//!   ties between levels are rounded to the lower one, and cubes are seamless with the mean of three texels at a
//!   corner. Filters use single precision. A lane with an inactive neighbour has derivative 0, which selects level 0.
//!   Layers are rounded and clamped to those that exist.
//! * A depth comparison returns (result, 0, 0, 1), and compares only if the sampler defines a comparison. Integer
//!   textures are not filtered. A fetch outside its texture and a load outside its image return zeros, and such a store
//!   has no effect.
//! * `TEX_DUAL` takes the names of the second texture and sampler from the high word, and its results follow those of
//!   the first. A gradient is a level of detail with 8 fraction bits, in the low half of its first word.
//! * `VAR_TEX` interpolates the coordinates (for a cube, the direction), layer and reference that its look-up needs. It
//!   has no level or bias to add, and an explicit sample position is the centre.
//! * Entry n of every table of varyings is byte 16 n of the vertices' buffer. Half-precision components of flat
//!   varyings are their low bits. Special varying 1, whose meaning is unknown, also gives the position in a point,
//!   which is 0 for other primitives.
//! * A filtered or interpolated value that is not a number is the canonical NaN.
//! * Integers saturate if their register, texel or pixel is too narrow for them. A number of another class than that of
//!   the resource is converted.

mod band;
pub mod blend;
mod channel;
mod compressed;
pub(crate) mod cube;
mod error;
pub mod format;
mod handle;
pub mod line;
mod packed;
pub mod point;
pub mod primitive;
pub mod resources;
pub mod sample;
pub mod samples;
mod shared;
mod spot;
pub mod target;
pub mod texture;
pub mod together;
pub mod triangle;
pub mod varying;

use std::fmt;

pub use blend::{Blend, Equation, Factor, Operation};
pub use compressed::Blocks;
pub use error::HostError;
pub use format::{Class, Format, Texel};
pub(super) use format::{narrow, widen};
pub use handle::{Handle, Kind, table};
pub use line::Line;
pub use point::Point;
pub use primitive::Primitive;
pub use resources::Resources;
pub use sample::{Coordinates, Lod, Lookup, Request};
pub(super) use shared::{ReadOnly, asks, inputs};
pub use spot::{Spot, VaryingSource};
pub use target::Target;
pub use texture::{Compare, Filter, Sampler, Shape, Storage, Texture, TextureError, Wrap};
pub use together::{Blends, Lanes, Lods, Lookups, Spots};
pub use triangle::Triangle;
pub use varying::{Between, Component, Plane, Varying, Varyings};

/// A range of bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The address of the first byte.
    pub address: u64,
    /// The number of bytes.
    pub len: u64,
    /// The distance between elements in bytes, for programs that ask for the address of an element.
    pub stride: u32,
}

/// Values of vertices in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The address of the value of the first vertex.
    pub address: u64,
    /// The distance between values in bytes.
    pub stride: u32,
    /// Whether there is a value for each instance instead of each vertex.
    pub per_instance: bool,
    /// The format of the value in memory.
    pub format: Format,
}

/// Texels in memory, ordered by row and slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The address of the first texel.
    pub address: u64,
    /// Width, height and depth; layers and faces count as depth.
    pub size: [u32; 3],
    /// The format of a texel in memory.
    pub format: Format,
}

impl Image {
    /// Returns the address of a texel. `None` when it is outside the image.
    pub fn texel(&self, place: [u32; 3]) -> Option<u64> {
        place.iter().zip(self.size).all(|(at, size)| *at < size).then(|| self.place(place))
    }

    /// Returns the address of a texel that is inside the image.
    #[inline(always)]
    fn place(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.size.map(u64::from);
        let row = u64::from(z) * height + u64::from(y);
        let index = row.wrapping_mul(width).wrapping_add(x.into());
        self.address.wrapping_add(index.wrapping_mul(self.format.size() as u64))
    }
}

/// Resolves the requests of programs, one lane at a time. The default methods are those of a host without resources.
/// After a fragment has failed, the colours, depths and stencil values that later fragments changed are set back to
/// what [`Host::tile`], [`Host::depth`] and [`Host::stencil`] returned before.
pub trait Host: fmt::Debug {
    /// Returns a buffer.
    ///
    /// # Errors
    /// When there is no such buffer.
    fn buffer(&self, handle: Handle) -> Result<Buffer, HostError> {
        Err(HostError::Missing { kind: Kind::Buffer, handle })
    }

    /// Returns an attribute.
    ///
    /// # Errors
    /// When there is no such attribute.
    fn attribute(&self, handle: Handle) -> Result<Attribute, HostError> {
        Err(HostError::Missing { kind: Kind::Attribute, handle })
    }

    /// Returns an image.
    ///
    /// # Errors
    /// When there is no such image.
    fn image(&self, handle: Handle) -> Result<Image, HostError> {
        Err(HostError::Missing { kind: Kind::Image, handle })
    }

    /// Performs a texture look-up.
    ///
    /// # Errors
    /// When there is no such texture or sampler, or it has another shape.
    fn look_up(&self, lookup: &Lookup) -> Result<Texel, HostError> {
        Err(HostError::Missing { kind: Kind::Texture, handle: lookup.texture })
    }

    /// Performs filtered look-ups of several warps and sets the channels of each, as [`Host::look_up`] would find them
    /// one after the other. `None` if they must be performed one by one, as always by default.
    fn look_up_together(&self, _lookups: &Lookups<'_>, _found: &mut [[Lanes<u32>; 4]]) -> Option<()> {
        None
    }

    /// Returns the level of detail of a look-up, with or without the bias and the range of its sampler.
    ///
    /// # Errors
    /// When there is no such texture or sampler.
    fn level_of_detail(&self, lookup: &Lookup, _lod: Lod, _bias: bool, _range: bool) -> Result<f32, HostError> {
        Err(HostError::Missing { kind: Kind::Texture, handle: lookup.texture })
    }

    /// Returns the bits of a component of a varying: those of an f32 if it is interpolated.
    ///
    /// # Errors
    /// When there is no such varying.
    fn varying(&self, source: VaryingSource, component: u32, _spot: Spot) -> Result<u32, HostError> {
        Err(HostError::Varying { byte: source.byte(component) })
    }

    /// Finds a component of a varying at the positions of some warps, as [`Host::varying`] would. `None` if
    /// lanes must be asked for one by one, as always by default.
    fn varying_together(
        &self,
        _source: VaryingSource,
        _component: u32,
        _spots: Spots<'_>,
        _found: &mut [Lanes<u32>],
    ) -> Option<()> {
        None
    }

    /// Returns depth and w of the fragment.
    fn depth_and_w(&self, _spot: Spot) -> [f32; 2] {
        [0.0, 1.0]
    }

    /// Returns width and height of the framebuffer.
    fn framebuffer_size(&self) -> [u32; 2] {
        [0; 2]
    }

    /// Returns the number of samples of a framebuffer pixel: 1, 2, 4, 8 or 16.
    fn samples(&self) -> u32 {
        1
    }

    /// Returns the position within the point being drawn, from 0 to 1 rightwards and downwards.
    fn place_in_point(&self, _spot: Spot) -> [f32; 2] {
        [0.0; 2]
    }

    /// Returns the colour of a sample of a pixel.
    ///
    /// # Errors
    /// When there is no such target.
    fn tile(&self, target: u32, _pixel: [u32; 2], _sample: u32) -> Result<Texel, HostError> {
        Err(HostError::Target { number: target })
    }

    /// Sets the colour of a sample of a pixel.
    ///
    /// # Errors
    /// When there is no such target.
    fn set_tile(&mut self, target: u32, _pixel: [u32; 2], _sample: u32, _colour: Texel) -> Result<(), HostError> {
        Err(HostError::Target { number: target })
    }

    /// Blends a colour into the samples of a pixel in `coverage`; by default it replaces the previous colour.
    ///
    /// # Errors
    /// When there is no such target.
    fn blend(&mut self, target: u32, pixel: [u32; 2], coverage: u32, colour: Texel) -> Result<(), HostError> {
        let covered = (0..self.samples()).filter(|sample| coverage >> sample & 1 != 0);
        covered.into_iter().try_for_each(|sample| self.set_tile(target, pixel, sample, colour))
    }

    /// Blends the colours of some lanes of warps, which are floats, into pixels with one sample, as [`Host::blend`]
    /// would, and sets their previous colours. `None`, without any effect, if they must be blended one by one, as
    /// always by default.
    fn blend_together(&mut self, _target: u32, _blends: &Blends<'_>, _before: &mut [Lanes<[u32; 4]>]) -> Option<()> {
        None
    }

    /// Returns the depth of a pixel. `None` when there is no depth buffer.
    fn depth(&self, _pixel: [u32; 2]) -> Option<f32> {
        None
    }

    /// Returns the stencil value of a pixel. `None` when there is no stencil buffer.
    fn stencil(&self, _pixel: [u32; 2]) -> Option<u32> {
        None
    }

    /// Sets the depth of a pixel.
    fn set_depth(&mut self, _pixel: [u32; 2], _depth: f32) {}

    /// Sets the stencil value of a pixel.
    fn set_stencil(&mut self, _pixel: [u32; 2], _stencil: u32) {}
}

/// A host without resources.
#[derive(Clone, Debug)]
pub(super) struct Nothing;

impl Host for Nothing {}
