//! What a program cannot know: attributes, varyings, buffers, textures, images and render targets.
//!
//! A program names them by table and index. A [`Host`] says what the names stand for; [`Resources`] is one that keeps
//! everything in tables. Buffers, attributes and images lie in [`Memory`](crate::Memory), so that a program can also
//! reach them by address.
//!
//! # Decisions
//!
//! Coordinates, their order in registers, gathering, coverage and the blend descriptors are as Mesa's compiled shaders need
//! them. Where nothing is known, this is what happens here.
//!
//! * A pixel has as many samples as the first target, at the places of [`samples`]. Programs run once for a pixel, in its
//!   centre; the sample that they are run for is the first. Depth and stencil have one sample.
//! * `ATEST` and `ZS_EMIT` pass the coverage on. A colour goes to those samples that the coverage of its `BLEND` names, sample
//!   n by bit n. It replaces the one that is there, or is blended with it as the target says; there are no blend shaders.
//! * A fragment that fails leaves no pixel of later ones behind: quads come row by row, their pixels in the order of lanes.
//! * Helper lanes execute everything, also behind `.discard` and `.skip`. Their stores, atomics and colours are dropped, an
//!   atomic gives them 0, and where another lane would end the run they get zeros.
//! * Look-ups follow OpenGL ES: the level of detail comes from the longer of the two changes across a quad, halves go to
//!   the lower level, cubes are seamless with the mean of three texels at a corner. Filters are in single precision. A lane
//!   whose neighbour does not take part sees no change, which is level 0. Layers are rounded to the nearest that exists.
//! * A depth comparison gives (result, 0, 0, 1), and compares nothing when the sampler says not how. Textures of whole
//!   numbers are not filtered. Outside its texture a fetch gives zeros; so does an image load, and a store does nothing.
//! * `TEX_DUAL` takes the names of the second texture and sampler from the high word, and puts its results behind the
//!   first's. A gradient is a level of detail with 8 bits behind the point, in the low half of its first word.
//! * `VAR_TEX` interpolates what its look-up needs: coordinates (a cube: the direction), layer, reference. It has no level
//!   or bias to add, and no place but the centre when that is explicit.
//! * Entry n of a table of varyings, whatever the table, is byte 16 n of the vertices' buffer. Halves of flat varyings are
//!   their low bits. Special varying 1, which is not known, is that of the place in a point, too; elsewhere that is 0.
//! * Whole numbers saturate when their register, texel or pixel is too small for them. A number of another kind than the
//!   resource holds is converted.

pub mod blend;
mod compressed;
pub(crate) mod cube;
pub mod format;
pub mod line;
mod packed;
pub mod point;
pub mod primitive;
pub mod resources;
pub mod sample;
pub mod samples;
mod shared;
pub mod target;
pub mod texture;
pub mod triangle;
pub mod varying;

use std::fmt;

use thiserror::Error;

pub use blend::{Blend, Equation, Factor, Operation};
pub use compressed::Blocks;
pub use format::{Class, Format, Texel};
pub(super) use format::{narrow, widen};
pub use line::Line;
pub use point::Point;
pub use primitive::Primitive;
pub use resources::Resources;
pub use sample::{Coordinates, Lod, Lookup, Request};
pub(super) use shared::{ReadOnly, asks};
pub use target::Target;
pub use texture::{Compare, Filter, Sampler, Shape, Storage, Texture, TextureError, Wrap};
pub use triangle::Triangle;
pub use varying::{Between, Component, Plane, Varying, Varyings};

/// The name of a resource: an entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// The table.
    pub table: u8,
    /// The entry, below 2^24.
    pub index: u32,
}

impl Handle {
    /// The entry of a table.
    pub fn new(table: u8, index: u32) -> Self {
        Handle { table, index }
    }

    /// The name in a register: the table in the high byte.
    pub fn from_word(word: u32) -> Self {
        Handle { table: (word >> 24) as u8, index: word & 0x00ff_ffff }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in table {}", self.index, self.table)
    }
}

/// The tables of Mesa's OpenGL driver for v9.
pub mod table {
    /// Uniform buffers.
    pub const UNIFORMS: u8 = 0;
    /// Attributes.
    pub const ATTRIBUTES: u8 = 1;
    /// Samplers.
    pub const SAMPLERS: u8 = 3;
    /// Textures.
    pub const TEXTURES: u8 = 4;
    /// Images.
    pub const IMAGES: u8 = 5;
}

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    Buffer,
    /// Values that belong to vertices.
    Attribute,
    /// Texels that can be written.
    Image,
    /// Texels that are looked up.
    Texture,
    /// A way of looking up.
    Sampler,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Buffer => "buffer",
            Kind::Attribute => "attribute",
            Kind::Image => "image",
            Kind::Texture => "texture",
            Kind::Sampler => "sampler",
        })
    }
}

/// What is wrong with a name or a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    /// The table has no such entry.
    #[error("there is no {kind} {handle}")]
    Missing {
        /// What was wanted.
        kind: Kind,
        /// The name.
        handle: Handle,
    },
    /// The texture has another shape than the instruction says.
    #[error("texture {handle} has the shape {found:?}, not {wanted:?}")]
    Shape {
        /// The name.
        handle: Handle,
        /// The texture's shape.
        found: Shape,
        /// The instruction's.
        wanted: Shape,
    },
    /// Bytes beyond the end of a buffer.
    #[error("{size} bytes at {offset:#x} reach beyond buffer {handle}, which has {len}")]
    OutOfBuffer {
        /// The name.
        handle: Handle,
        /// The first byte.
        offset: u32,
        /// How many bytes were wanted.
        size: usize,
        /// How many there are.
        len: u64,
    },
    /// No varying is there.
    #[error("there is no varying at byte {byte:#x}")]
    Varying {
        /// The first byte of the component.
        byte: u32,
    },
    /// No such special varying.
    #[error("there is no special varying {index}")]
    Special {
        /// Its number.
        index: u8,
    },
    /// No such render target.
    #[error("there is no render target {number}")]
    Target {
        /// Its number.
        number: u32,
    },
    /// A word that is no conversion descriptor.
    #[error("{word:#010x} is not a conversion descriptor")]
    Descriptor {
        /// The word.
        word: u32,
    },
}

/// Bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The address of the first.
    pub address: u64,
    /// How many there are.
    pub len: u64,
    /// Bytes from one element to the next, where a program asks for the address of an element.
    pub stride: u32,
}

/// Values of vertices, in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The address of the first vertex's.
    pub address: u64,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Whether there is one for each instance, not for each vertex.
    pub per_instance: bool,
    /// How the value lies in memory.
    pub format: Format,
}

/// Texels in memory, row by row and slice by slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The address of the first.
    pub address: u64,
    /// Width, height and depth; layers and faces count as depth.
    pub size: [u32; 3],
    /// How a texel lies in memory.
    pub format: Format,
}

impl Image {
    /// The address of a texel; `None` outside the image.
    pub fn texel(&self, [x, y, z]: [u32; 3]) -> Option<u64> {
        let [width, height, depth] = self.size;
        let row = u64::from(z) * u64::from(height) + u64::from(y);
        let index = row.wrapping_mul(width.into()).wrapping_add(x.into());
        let inside = x < width && y < height && z < depth;
        inside.then_some(self.address.wrapping_add(index.wrapping_mul(self.format.size() as u64)))
    }
}

/// Where in a pixel a varying is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The pixel.
    pub pixel: [u32; 2],
    /// The place in it, from its corner, in parts of 256; the centre is (128, 128).
    pub within: [i16; 2],
}

impl Spot {
    /// The centre of a pixel.
    pub fn centre(pixel: [u32; 2]) -> Self {
        Spot { pixel, within: [128; 2] }
    }

    /// Whether it is the centre.
    pub fn is_centre(&self) -> bool {
        self.within == [128; 2]
    }

    /// The position in the window, in pixels.
    pub fn position(&self) -> [f32; 2] {
        [0, 1].map(|axis| self.pixel[axis] as f32 + f32::from(self.within[axis]) / 256.0)
    }
}

/// Which varying is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaryingSource {
    /// The one at a byte of the vertices' buffer.
    Buffer {
        /// The byte.
        byte: u32,
        /// Whether components lie there as 16 bits.
        half: bool,
    },
    /// An entry of a table.
    Table(Handle),
}

impl VaryingSource {
    /// The byte of a component in a buffer whose slots of 16 bytes hold a component every 4. Components of 16 bits are
    /// counted from the start of their slot. An entry of a table is a slot, whatever the table.
    pub fn byte(self, component: u32) -> u32 {
        match self {
            VaryingSource::Buffer { byte, half: false } => byte.wrapping_add(component * 4),
            VaryingSource::Buffer { byte, half: true } => (byte & !15).wrapping_add((byte % 16 / 2 + component) * 4),
            VaryingSource::Table(handle) => handle.index.wrapping_mul(16).wrapping_add(component * 4),
        }
    }
}

/// What programs ask for, one lane at a time. The methods of a host that has nothing are given. Where a fragment fails, the
/// colours, depths and stencil values of those behind it are set once more, to what [`Host::tile`], [`Host::depth`] and
/// [`Host::stencil`] gave before.
pub trait Host: fmt::Debug {
    /// A buffer.
    ///
    /// # Errors
    /// When there is none.
    fn buffer(&self, handle: Handle) -> Result<Buffer, HostError> {
        Err(HostError::Missing { kind: Kind::Buffer, handle })
    }

    /// An attribute.
    ///
    /// # Errors
    /// When there is none.
    fn attribute(&self, handle: Handle) -> Result<Attribute, HostError> {
        Err(HostError::Missing { kind: Kind::Attribute, handle })
    }

    /// An image.
    ///
    /// # Errors
    /// When there is none.
    fn image(&self, handle: Handle) -> Result<Image, HostError> {
        Err(HostError::Missing { kind: Kind::Image, handle })
    }

    /// Looks a texture up.
    ///
    /// # Errors
    /// When there is no such texture or sampler, or it has another shape.
    fn look_up(&self, lookup: &Lookup) -> Result<Texel, HostError> {
        Err(HostError::Missing { kind: Kind::Texture, handle: lookup.texture })
    }

    /// The level of detail that a look-up would have, with or without the bias and the range of its sampler.
    ///
    /// # Errors
    /// When there is no such texture or sampler.
    fn level_of_detail(&self, lookup: &Lookup, _lod: Lod, _bias: bool, _range: bool) -> Result<f32, HostError> {
        Err(HostError::Missing { kind: Kind::Texture, handle: lookup.texture })
    }

    /// The bits of a component of a varying: those of an f32 where it is interpolated.
    ///
    /// # Errors
    /// When there is no such varying.
    fn varying(&self, source: VaryingSource, component: u32, _spot: Spot) -> Result<u32, HostError> {
        Err(HostError::Varying { byte: source.byte(component) })
    }

    /// Depth and w of the fragment.
    fn depth_and_w(&self, _spot: Spot) -> [f32; 2] {
        [0.0, 1.0]
    }

    /// Width and height of what is drawn on.
    fn framebuffer_size(&self) -> [u32; 2] {
        [0; 2]
    }

    /// Samples of a pixel of what is drawn on: 1, 2, 4, 8 or 16.
    fn samples(&self) -> u32 {
        1
    }

    /// The place in the point that is drawn, from 0 to 1 rightwards and downwards.
    fn place_in_point(&self, _spot: Spot) -> [f32; 2] {
        [0.0; 2]
    }

    /// The colour of a sample of a pixel.
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

    /// Blends a colour into the samples of a pixel that `coverage` has; here it replaces the one that is there.
    ///
    /// # Errors
    /// When there is no such target.
    fn blend(&mut self, target: u32, pixel: [u32; 2], coverage: u32, colour: Texel) -> Result<(), HostError> {
        let covered = (0..self.samples()).filter(|sample| coverage >> sample & 1 != 0);
        covered.into_iter().try_for_each(|sample| self.set_tile(target, pixel, sample, colour))
    }

    /// The depth of a pixel, if it is kept.
    fn depth(&self, _pixel: [u32; 2]) -> Option<f32> {
        None
    }

    /// The stencil value of a pixel, if it is kept.
    fn stencil(&self, _pixel: [u32; 2]) -> Option<u32> {
        None
    }

    /// Sets the depth of a pixel.
    fn set_depth(&mut self, _pixel: [u32; 2], _depth: f32) {}

    /// Sets the stencil value of a pixel.
    fn set_stencil(&mut self, _pixel: [u32; 2], _stencil: u32) {}
}

/// A host that has nothing.
#[derive(Clone, Debug)]
pub(super) struct Nothing;

impl Host for Nothing {}
