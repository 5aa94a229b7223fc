//! Pictures of tile memory and of external memory.

use half::f16;

use crate::vpu::memory::Memory;
use crate::vpu::tiles::{Tile, TileSize};

/// How the components of an element represent a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pixel {
    /// X, Y, Z, W are red, green, blue and opacity as FP16, 0 to 1.
    Float,
    /// As [`Float`](Pixel::Float), but every pixel is opaque.
    FloatOpaque,
    /// X, Y, Z, W are red, green, blue and opacity as integers, 0 to 255.
    Integer,
    /// X is a grey from 0 to 255.
    Grey,
    /// Two bytes per pixel: bit 15 is opacity, followed by 5 bits each of red, green and blue. For external memory.
    Rgb1555,
}

/// Rows of pixels: red, green, blue and opacity, one byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels per row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The pixels, four bytes each.
    pub rgba: Vec<u8>,
}

/// The maximum number of pixels of a picture.
pub const MAX_PIXELS: usize = 1 << 24;

fn byte(bits: u16) -> u8 {
    // The cast saturates and converts NaN to 0.
    (f16::from_bits(bits).to_f32() * 255.0 + 0.5) as u8
}

impl Pixel {
    /// The bytes of a pixel in external memory.
    pub fn bytes(self) -> usize {
        if self == Pixel::Rgb1555 { 2 } else { 8 }
    }

    /// Returns the colour of an element.
    pub fn rgba(self, [x, y, z, w]: [u16; 4]) -> [u8; 4] {
        let small = |v: u16| v.min(255) as u8;
        let five = |v: u16| ((u32::from(v & 31) * 255 + 15) / 31) as u8;
        match self {
            Pixel::Float => [byte(x), byte(y), byte(z), byte(w)],
            Pixel::FloatOpaque => [byte(x), byte(y), byte(z), 255],
            Pixel::Integer => [small(x), small(y), small(z), small(w)],
            Pixel::Grey => [small(x), small(x), small(x), 255],
            Pixel::Rgb1555 => [five(x >> 10), five(x >> 5), five(x), if x >> 15 == 1 { 255 } else { 0 }],
        }
    }
}

/// Returns a tile buffer as a picture.
pub fn tile(tile: &Tile, size: TileSize, pixel: Pixel) -> Picture {
    let rgba = tile.data.iter().flat_map(|element| pixel.rgba(*element)).collect();
    Picture { width: size.width(), height: size.height(), rgba }
}

/// Returns a region of external memory as a picture, row by row from `address`; `None` for more than [`MAX_PIXELS`]
/// pixels. Bytes past the end of memory are 0.
pub fn region(memory: &Memory, address: usize, width: usize, height: usize, pixel: Pixel) -> Option<Picture> {
    let count = width.checked_mul(height).filter(|n| *n <= MAX_PIXELS)?;
    let step = pixel.bytes();
    let mut bytes = memory.read(address, count * step);
    bytes.resize(count * step, 0);
    let half = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
    let element = |chunk: &[u8]| match step {
        2 => [half(chunk), 0, 0, 0],
        _ => std::array::from_fn(|c| half(&chunk[2 * c..2 * c + 2])),
    };
    let rgba = bytes.chunks_exact(step).flat_map(|chunk| pixel.rgba(element(chunk))).collect();
    Some(Picture { width, height, rgba })
}
