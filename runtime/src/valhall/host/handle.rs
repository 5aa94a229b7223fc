//! The names of resources.

use std::fmt;

/// The name of a resource: an entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// The table.
    pub table: u8,
    /// The entry, below 2^24.
    pub index: u32,
}

impl Handle {
    /// Creates the name of an entry of a table.
    pub fn new(table: u8, index: u32) -> Self {
        Handle { table, index }
    }

    /// Decodes a name in a register, which has the table in the high byte.
    pub fn from_word(word: u32) -> Self {
        Handle { table: (word >> 24) as u8, index: word & 0x00ff_ffff }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in table {}", self.index, self.table)
    }
}

/// The tables of Mesa's OpenGL driver for Valhall v9.
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
    /// A range of bytes.
    Buffer,
    /// Values of vertices.
    Attribute,
    /// Texels that can be written.
    Image,
    /// Texels that are looked up.
    Texture,
    /// The parameters of look-ups.
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
