//! The keys of resources that programs name by table and index.

use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Float, Word};

vocabulary! {
    /// A texture and its sampler.
    pub struct TextureContent {
        /// A PNG file, or a file with the texels as they are in memory.
        optional file: Spanned<String>,
        /// The texels as 32-bit words.
        optional words: Spanned<Vec<Word>>,
        /// The size in texels in each dimension of the shape; not for PNG files.
        optional size: Spanned<Vec<u32>>,
        /// The format of a texel or block, `RGBA8` if not given; not for PNG files.
        optional format: Spanned<String>,
        /// The shape of the texture; `2d` if not given.
        optional shape: ShapeName,
        /// The number of array layers, stored consecutively.
        optional layers: Spanned<u32>,
        /// The number of mipmap levels, stored consecutively, each half the size of the one before.
        optional levels: Spanned<u32>,
        /// Filtering between texels.
        optional filter: FilterName,
        /// Filtering between levels; only level 0 is used if not given.
        optional mip: FilterName,
        /// Addressing beyond the edges.
        optional wrap: WrapName,
        /// The colour of `wrap: border`.
        optional border: Spanned<Vec<Float>>,
        /// How a shadow lookup compares its reference with a texel.
        optional compare: CompareName,
        /// The bias added to the level of detail.
        optional bias: Spanned<Float>,
        /// The minimum and maximum level of detail.
        optional range: Spanned<Vec<Float>>,
    }
}

vocabulary! {
    /// Texels in a buffer, which a program can read and write.
    pub struct ImageContent {
        /// The buffer.
        required buffer: Spanned<String>,
        /// Width, height and the number of slices or layers; missing numbers are 1.
        required size: Spanned<Vec<u32>>,
        /// The format of a texel, `RGBA8` if not given.
        optional format: Spanned<String>,
    }
}

choices! {
    /// Filters.
    pub enum FilterName {
        /// The nearest texel.
        Nearest = "nearest",
        /// Linear interpolation.
        Linear = "linear",
    }
}

choices! {
    /// Addressing beyond the edges of a texture.
    pub enum WrapName {
        /// The texel at the edge.
        Clamp = "clamp",
        /// The texture is repeated.
        Repeat = "repeat",
        /// The texture is repeated, alternately mirrored.
        Mirror = "mirror",
        /// The texture is mirrored once, then continued by the texel at its edge.
        MirrorOnce = "mirror once",
        /// A constant colour.
        Border = "border",
    }
}

choices! {
    /// Shapes of textures.
    pub enum ShapeName {
        /// A row.
        One = "1d",
        /// A rectangle.
        Two = "2d",
        /// A block.
        Three = "3d",
        /// Six squares: +x, -x, +y, -y, +z, -z.
        Cube = "cube",
    }
}

choices! {
    /// Comparison of a reference with a texel, in OpenGL's terms.
    pub enum CompareName {
        /// Never true.
        Never = "never",
        /// The reference is less.
        Less = "less",
        /// Both are equal.
        Equal = "equal",
        /// The reference is less or equal.
        LessEqual = "lequal",
        /// The reference is greater.
        Greater = "greater",
        /// They differ.
        NotEqual = "notequal",
        /// The reference is greater or equal.
        GreaterEqual = "gequal",
        /// Always true.
        Always = "always",
    }
}
