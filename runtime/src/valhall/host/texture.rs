//! Textures and samplers.

use thiserror::Error;

use super::compressed::Blocks;
use super::format::{Format, Texel};

/// How the texels of a texture are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row.
    One,
    /// A rectangle.
    Two,
    /// A block.
    Three,
    /// Six squares: +X, -X, +Y, -Y, +Z, -Z.
    Cube,
}

/// Why a texture is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextureError {
    /// It has no texels, or too many in some direction.
    #[error(
        "a texture has 1 to {} texels in each direction and 1 to {} layers, not {size:?} and {layers}",
        Texture::MAX_SIZE,
        Texture::MAX_LAYERS
    )]
    Size {
        /// Width, height and depth.
        size: [u32; 3],
        /// Layers.
        layers: u32,
    },
    /// The faces of a cube are not square, or some are missing.
    #[error("a cube has square faces, six a layer, not {layers} of {width} x {height}")]
    Cube {
        /// Texels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// How many faces there are.
        layers: u32,
    },
    /// It has no level, or more than can halve its size.
    #[error("a texture of this size has 1 to {most} levels, not {found}")]
    Levels {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A level has the wrong number of bytes.
    #[error("level {level} has {found} bytes, not {expected}")]
    Bytes {
        /// The level.
        level: usize,
        /// Bytes it has.
        found: usize,
        /// Bytes it needs.
        expected: u64,
    },
    /// Its blocks are too many texels.
    #[error("the texels of compressed blocks may have {} bytes, not {found}", Texture::MAX_DECODED)]
    Decoded {
        /// Bytes that its texels would have.
        found: u64,
    },
}

/// How the texels of a texture are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// One by one.
    Texels(Format),
    /// In compressed blocks.
    Blocks(Blocks),
}

impl Storage {
    /// The format with a name: one of [`Format::parse`] or of [`Blocks::parse`].
    pub fn parse(name: &str) -> Option<Storage> {
        Format::parse(name).map(Storage::Texels).or_else(|| Blocks::parse(name).map(Storage::Blocks))
    }

    /// The format of the texels as they are looked up.
    pub fn format(self) -> Format {
        match self {
            Storage::Texels(format) => format,
            Storage::Blocks(blocks) => blocks.format(),
        }
    }

    /// Bytes of a level of a layer.
    pub fn size_of(self, size: [u32; 3]) -> u64 {
        match self {
            Storage::Texels(format) => texels(size).saturating_mul(format.size() as u64),
            Storage::Blocks(blocks) => blocks.size_of(size),
        }
    }
}

impl From<Format> for Storage {
    fn from(format: Format) -> Storage {
        Storage::Texels(format)
    }
}

fn texels(size: [u32; 3]) -> u64 {
    size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul)
}

/// Texels to look up: levels that halve in size, each with layers of rows, the first row at t = 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    shape: Shape,
    size: [u32; 3],
    layers: u32,
    format: Format,
    levels: Vec<Vec<u8>>,
}

impl Texture {
    /// Texels in one direction.
    pub const MAX_SIZE: u32 = 1 << 15;
    /// Layers, or faces of cubes.
    pub const MAX_LAYERS: u32 = 1 << 12;
    /// Bytes of the texels of a level that was compressed.
    pub const MAX_DECODED: u64 = 1 << 30;

    /// A texture. `size` is width, height and depth of level 0, 1 where `shape` has no such direction; `layers` counts
    /// every face of a cube. A level holds layers (or slices), rows and texels, or blocks of these, the outermost first.
    ///
    /// # Errors
    /// When the bytes do not fit the size, or the size is none.
    pub fn new(
        shape: Shape,
        size: [u32; 3],
        layers: u32,
        storage: impl Into<Storage>,
        levels: Vec<Vec<u8>>,
    ) -> Result<Self, TextureError> {
        let storage = storage.into();
        let flat = match shape {
            Shape::One => size[1] == 1 && size[2] == 1,
            Shape::Two | Shape::Cube => size[2] == 1,
            Shape::Three => layers == 1,
        };
        let valid = size.iter().all(|n| (1..=Self::MAX_SIZE).contains(n)) && (1..=Self::MAX_LAYERS).contains(&layers);
        if !flat || !valid {
            return Err(TextureError::Size { size, layers });
        }
        if shape == Shape::Cube && (size[0] != size[1] || !layers.is_multiple_of(6)) {
            return Err(TextureError::Cube { width: size[0], height: size[1], layers });
        }
        let longest = size.iter().copied().max().unwrap_or(1);
        let most = longest.ilog2() as usize + 1;
        if levels.is_empty() || levels.len() > most {
            return Err(TextureError::Levels { found: levels.len(), most });
        }
        let mut texture = Texture { shape, size, layers, format: storage.format(), levels };
        for level in 0..texture.levels.len() {
            let size = texture.size_of(level);
            let (found, expected) = (texture.levels[level].len(), storage.size_of(size).saturating_mul(layers.into()));
            if found as u64 != expected {
                return Err(TextureError::Bytes { level, found, expected });
            }
            if let Storage::Blocks(blocks) = storage {
                let decoded = texels(size) * u64::from(layers) * blocks.format().size() as u64;
                if decoded > Self::MAX_DECODED {
                    return Err(TextureError::Decoded { found: decoded });
                }
                let [width, height, depth] = size.map(|n| n as usize);
                let slices = depth * layers as usize;
                texture.levels[level] = blocks.decode(&texture.levels[level], [width, height], slices);
            }
        }
        Ok(texture)
    }

    /// How its texels are arranged.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The format of its texels, decoded if they were compressed.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Layers, every face of a cube counted.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// How many levels there are, at least one.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Width, height and depth of a level.
    pub fn size_of(&self, level: usize) -> [u32; 3] {
        self.size.map(|n| n.checked_shr(level as u32).unwrap_or(0).max(1))
    }

    /// A texel; `None` outside the texture.
    pub fn texel(&self, level: usize, layer: i64, place: [i64; 3]) -> Option<Texel> {
        let bytes = self.levels.get(level)?;
        let size = self.size_of(level);
        let inside = |at: i64, n: u32| usize::try_from(at).ok().filter(|&at| at < n as usize);
        let [x, y, z] = [inside(place[0], size[0])?, inside(place[1], size[1])?, inside(place[2], size[2])?];
        let layer = inside(layer, self.layers)?;
        let [width, height, depth] = size.map(|n| n as usize);
        let start = (((layer * depth + z) * height + y) * width + x) * self.format.size();
        bytes.get(start..start + self.format.size()).map(|bytes| self.format.decode(bytes))
    }
}

/// How values between texels, or between levels, are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The nearest.
    Nearest,
    /// In proportion to the distance.
    Linear,
}

/// What lies beyond the edge of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The texel at the edge.
    Clamp,
    /// The texture again.
    Repeat,
    /// The texture again, every other time mirrored.
    Mirror,
    /// The texture mirrored once, then the texel at its edge.
    MirrorOnce,
    /// The border colour.
    Border,
}

impl Wrap {
    /// The texel of `n` that stands for position `at`; `None` for the border.
    pub(super) fn apply(self, at: i64, n: i64) -> Option<i64> {
        match self {
            Wrap::Clamp => Some(at.clamp(0, n - 1)),
            Wrap::Repeat => Some(at.rem_euclid(n)),
            Wrap::Mirror => {
                let at = at.rem_euclid(2 * n);
                Some(at.min(2 * n - 1 - at))
            }
            // The mirror image of texel 0 is texel -1.
            Wrap::MirrorOnce => Some(if at < 0 { -1 - at } else { at }.min(n - 1)),
            Wrap::Border => (0..n).contains(&at).then_some(at),
        }
    }
}

/// How a shadow look-up compares its reference with a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Never true.
    Never,
    /// The reference is less than the texel.
    Less,
    /// It is the same.
    Equal,
    /// It is less or the same.
    LessEqual,
    /// It is greater.
    Greater,
    /// It is different.
    NotEqual,
    /// It is greater or the same.
    GreaterEqual,
    /// Always true.
    Always,
}

impl Compare {
    pub(super) fn holds(self, reference: f32, texel: f32) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterEqual => reference >= texel,
            Compare::Always => true,
        }
    }
}

/// How a texture is looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Between texels that are smaller than pixels.
    pub min: Filter,
    /// Between texels that are larger than pixels.
    pub mag: Filter,
    /// Between levels; `None` looks at level 0 only.
    pub mip: Option<Filter>,
    /// What lies beyond the edges along s, t and r. Faces of a cube continue on the next face.
    pub wrap: [Wrap; 3],
    /// How shadow look-ups compare; `None` returns the depth itself.
    pub compare: Option<Compare>,
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// The least and the greatest level of detail.
    pub lod_range: [f32; 2],
    /// The colour of [`Wrap::Border`], as f32 or as the whole numbers of the texture's class; only channels that the
    /// texture has count.
    pub border: [u32; 4],
}

impl Default for Sampler {
    /// The nearest texel of level 0, clamped to the edges.
    fn default() -> Self {
        Sampler {
            min: Filter::Nearest,
            mag: Filter::Nearest,
            mip: None,
            wrap: [Wrap::Clamp; 3],
            compare: None,
            lod_bias: 0.0,
            lod_range: [-1000.0, 1000.0],
            border: [0; 4],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_beyond_the_edge_wrap() {
        let wrapped = |wrap: Wrap| (-5..=8).map(|at| wrap.apply(at, 4)).map(|at| at.unwrap_or(9)).collect::<Vec<_>>();
        assert_eq!(wrapped(Wrap::Clamp), [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(wrapped(Wrap::Repeat), [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(wrapped(Wrap::Mirror), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!(wrapped(Wrap::MirrorOnce), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(wrapped(Wrap::Border), [9, 9, 9, 9, 9, 0, 1, 2, 3, 9, 9, 9, 9, 9]);
        assert_eq!(Wrap::Mirror.apply(i64::MIN, 1), Some(0));
    }

    #[test]
    fn a_texture_needs_all_its_bytes() {
        let new = |shape, size, layers, levels| Texture::new(shape, size, layers, Format::RGBA8, levels);
        let texture = new(Shape::Two, [4, 2, 1], 3, vec![vec![0; 96], vec![0; 24], vec![0; 12]]).unwrap();
        assert_eq!([texture.size_of(0), texture.size_of(1), texture.size_of(2)], [[4, 2, 1], [2, 1, 1], [1, 1, 1]]);
        assert_eq!(
            new(Shape::Two, [4, 2, 1], 1, vec![vec![0; 31]]),
            Err(TextureError::Bytes { level: 0, found: 31, expected: 32 })
        );
        let blocks = |name: &str, size: [u32; 3], layers, len| {
            let storage = Storage::parse(name).unwrap();
            Texture::new(Shape::Two, size, layers, storage, vec![vec![0; len]])
        };
        // Two by one blocks of 8 bytes, in two layers.
        assert_eq!(blocks("BC1", [5, 3, 1], 2, 32).unwrap().format(), Format::RGBA8);
        assert_eq!(blocks("BC1", [5, 3, 1], 2, 31), Err(TextureError::Bytes { level: 0, found: 31, expected: 32 }));
        let [side, layers] = [Texture::MAX_SIZE, Texture::MAX_LAYERS];
        assert!(matches!(blocks("RGBA_ASTC_12x12", [side, side, 1], layers, 0), Err(TextureError::Bytes { .. })));
        let large = blocks("RGBA_ASTC_12x12", [1 << 14, 1 << 14, 1], 2, 2 * 1366 * 1366 * 16);
        assert_eq!(large, Err(TextureError::Decoded { found: 1 << 31 }));
        assert!(matches!(new(Shape::Two, [4, 0, 1], 1, vec![vec![]]), Err(TextureError::Size { .. })));
        assert!(matches!(new(Shape::Two, [1 << 20, 1, 1], 1, vec![vec![]]), Err(TextureError::Size { .. })));
        assert!(matches!(new(Shape::Cube, [2, 2, 1], 5, vec![vec![]]), Err(TextureError::Cube { .. })));
        assert!(matches!(new(Shape::Two, [1, 1, 1], 1, vec![vec![0; 4]; 2]), Err(TextureError::Levels { .. })));
    }
}
