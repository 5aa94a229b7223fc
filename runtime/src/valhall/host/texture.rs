//! Textures and samplers.

use thiserror::Error;

use super::compressed::Blocks;
use super::format::{Format, Texel};

/// The arrangement of the texels of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One-dimensional.
    One,
    /// Two-dimensional.
    Two,
    /// Three-dimensional.
    Three,
    /// Six square faces: +X, -X, +Y, -Y, +Z, -Z.
    Cube,
}

/// The reason why a texture is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextureError {
    /// It has no texels or layers, or too many of them.
    #[error(
        "a texture has 1 to {} texels in each direction and 1 to {} layers, not {size:?} and {layers}",
        Texture::MAX_SIZE,
        Texture::MAX_LAYERS
    )]
    Size {
        /// Width, height and depth.
        size: [u32; 3],
        /// The number of layers.
        layers: u32,
    },
    /// The faces of a cube are not square, or their number is not a multiple of six.
    #[error("a cube has square faces, six a layer, not {layers} of {width} x {height}")]
    Cube {
        /// The width of a face.
        width: u32,
        /// The height of a face.
        height: u32,
        /// The number of faces.
        layers: u32,
    },
    /// It has no levels, or more than its size allows.
    #[error("a texture of this size has 1 to {most} levels, not {found}")]
    Levels {
        /// The number of levels.
        found: usize,
        /// The maximum number of levels.
        most: usize,
    },
    /// A level has the wrong number of bytes.
    #[error("level {level} has {found} bytes, not {expected}")]
    Bytes {
        /// The level.
        level: usize,
        /// The number of bytes of the level.
        found: usize,
        /// The number of bytes that it must have.
        expected: u64,
    },
    /// Its blocks decode to too many texels.
    #[error("the texels of compressed blocks may have {} bytes, not {found}", Texture::MAX_DECODED)]
    Decoded {
        /// The size of the decoded texels in bytes.
        found: u64,
    },
}

/// The storage of the texels of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Individual texels.
    Texels(Format),
    /// Compressed blocks.
    Blocks(Blocks),
}

impl Storage {
    /// Returns the storage with this name, as [`Format::parse`] or [`Blocks::parse`] accept it.
    pub fn parse(name: &str) -> Option<Storage> {
        Format::parse(name).map(Storage::Texels).or_else(|| Blocks::parse(name).map(Storage::Blocks))
    }

    /// The format of the texels in look-ups.
    pub fn format(self) -> Format {
        match self {
            Storage::Texels(format) => format,
            Storage::Blocks(blocks) => blocks.format(),
        }
    }

    /// The size in bytes of one level of one layer.
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

/// Texels for look-ups: levels that halve in size, each with layers of rows, the first row at t = 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    shape: Shape,
    size: [u32; 3],
    layers: u32,
    format: Format,
    levels: Vec<Vec<u8>>,
}

impl Texture {
    /// The maximum number of texels in one direction.
    pub const MAX_SIZE: u32 = 1 << 15;
    /// The maximum number of layers, counting every face of a cube.
    pub const MAX_LAYERS: u32 = 1 << 12;
    /// The maximum size in bytes of the decoded texels of a compressed level.
    pub const MAX_DECODED: u64 = 1 << 30;

    /// Creates a texture. `size` is width, height and depth of level 0, with 1 for directions that `shape` does not
    /// have;
    /// `layers` counts every face of a cube. The bytes of a level are ordered by layer (or slice), row and texel (or
    /// block).
    ///
    /// # Errors
    /// When the size is invalid, or the bytes do not match it.
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

    /// The arrangement of its texels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The format of its texels, after decompression.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The number of layers, counting every face of a cube.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// The number of levels, at least one.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns width, height and depth of a level.
    pub fn size_of(&self, level: usize) -> [u32; 3] {
        self.size.map(|n| n.checked_shr(level as u32).unwrap_or(0).max(1))
    }

    /// The bytes of a level.
    pub(super) fn bytes(&self, level: usize) -> &[u8] {
        self.levels.get(level).map_or(&[], Vec::as_slice)
    }

    /// Returns a texel. `None` when it is outside the texture.
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

/// The computation of values between texels or between levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The value of the nearest one.
    Nearest,
    /// Linear interpolation.
    Linear,
}

/// The texels beyond the edge of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The texel at the edge.
    Clamp,
    /// The texture repeated.
    Repeat,
    /// The texture repeated, mirrored every other time.
    Mirror,
    /// The texture mirrored once, then the texel at its edge.
    MirrorOnce,
    /// The border colour.
    Border,
}

impl Wrap {
    /// Returns the texel of `n` at position `at`. `None` for the border.
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

/// The comparison of a shadow look-up's reference with a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Never true.
    Never,
    /// The reference is less than the texel.
    Less,
    /// The reference equals the texel.
    Equal,
    /// The reference is less than or equal to the texel.
    LessEqual,
    /// The reference is greater than the texel.
    Greater,
    /// The reference differs from the texel.
    NotEqual,
    /// The reference is greater than or equal to the texel.
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

/// The parameters of look-ups in a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// The filter for texels smaller than pixels.
    pub min: Filter,
    /// The filter for texels larger than pixels.
    pub mag: Filter,
    /// The filter between levels; `None` uses level 0 only.
    pub mip: Option<Filter>,
    /// The wrap modes along s, t and r. Faces of a cube continue on the adjacent face instead.
    pub wrap: [Wrap; 3],
    /// The comparison of shadow look-ups; `None` returns the depth itself.
    pub compare: Option<Compare>,
    /// The bias of the level of detail.
    pub lod_bias: f32,
    /// The minimum and maximum level of detail.
    pub lod_range: [f32; 2],
    /// The colour of [`Wrap::Border`], as f32 or as integers of the texture's class. Channels that the texture does not
    /// have are ignored.
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
        assert_eq!(large, Err(TextureError::Decoded { found: 1 << 32 }));
        assert!(matches!(new(Shape::Two, [4, 0, 1], 1, vec![vec![]]), Err(TextureError::Size { .. })));
        assert!(matches!(new(Shape::Two, [1 << 20, 1, 1], 1, vec![vec![]]), Err(TextureError::Size { .. })));
        assert!(matches!(new(Shape::Cube, [2, 2, 1], 5, vec![vec![]]), Err(TextureError::Cube { .. })));
        assert!(matches!(new(Shape::Two, [1, 1, 1], 1, vec![vec![0; 4]; 2]), Err(TextureError::Levels { .. })));
    }
}
