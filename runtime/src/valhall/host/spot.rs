//! Where a pixel takes a varying from, and for which position.

use super::handle::Handle;

/// The position at which a varying is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The pixel.
    pub pixel: [u32; 2],
    /// The position within the pixel, from its corner in 1/256 pixel; the centre is (128, 128).
    pub within: [i16; 2],
}

impl Spot {
    /// Returns the centre of a pixel.
    pub fn centre(pixel: [u32; 2]) -> Self {
        Spot { pixel, within: [128; 2] }
    }

    /// Whether this is the centre of the pixel.
    pub fn is_centre(&self) -> bool {
        self.within == [128; 2]
    }

    /// The position in the window, in pixels.
    pub fn position(&self) -> [f32; 2] {
        [0, 1].map(|axis| self.pixel[axis] as f32 + f32::from(self.within[axis]) / 256.0)
    }
}

/// The source of a varying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaryingSource {
    /// The varying at a byte of the vertices' buffer.
    Buffer {
        /// The byte offset.
        byte: u32,
        /// Whether its components have 16 bits.
        half: bool,
    },
    /// An entry of a table.
    Table(Handle),
}

impl VaryingSource {
    /// Returns the byte of a component in a buffer of 16-byte slots with 4 bytes for each component. 16-bit components
    /// are counted from the start of their slot. An entry of any table is a slot.
    pub fn byte(self, component: u32) -> u32 {
        match self {
            VaryingSource::Buffer { byte, half: false } => byte.wrapping_add(component * 4),
            VaryingSource::Buffer { byte, half: true } => (byte & !15).wrapping_add((byte % 16 / 2 + component) * 4),
            VaryingSource::Table(handle) => handle.index.wrapping_mul(16).wrapping_add(component * 4),
        }
    }
}
