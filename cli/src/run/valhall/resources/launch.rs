//! The vocabulary of what programs name by table and index.

use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Float, Word};

vocabulary! {
    /// A texture and how it is looked up.
    pub struct TextureContent {
        /// A PNG file, or one with the texels as they lie in memory.
        optional file: Spanned<String>,
        /// The texels as words of 32 bits.
        optional words: Spanned<Vec<Word>>,
        /// Texels along each direction that the shape has; of all but PNG files.
        optional size: Spanned<Vec<u32>>,
        /// The format of a texel or of a block, `RGBA8` if not given; of all but PNG files.
        optional format: Spanned<String>,
        /// How the texels are arranged, `2d` if not given.
        optional shape: ShapeName,
        /// How many of these make an array, one behind another.
        optional layers: Spanned<u32>,
        /// How many levels there are, each half as large as the one whose texels stand before its own.
        optional levels: Spanned<u32>,
        /// Between texels.
        optional filter: FilterName,
        /// Between levels; level 0 only, if not given.
        optional mip: FilterName,
        /// Beyond the edges.
        optional wrap: WrapName,
        /// The colour of `wrap: border`.
        optional border: Spanned<Vec<Float>>,
        /// How a shadow look-up compares its reference with a texel.
        optional compare: CompareName,
        /// Added to the level of detail.
        optional bias: Float,
        /// The least and the greatest level of detail.
        optional range: Spanned<Vec<Float>>,
    }
}

vocabulary! {
    /// Texels in a buffer, which a program can read and write.
    pub struct ImageContent {
        /// The buffer.
        required buffer: Spanned<String>,
        /// Width, height and how many slices or layers; missing numbers are 1.
        required size: Spanned<Vec<u32>>,
        /// The format of a texel, `RGBA8` if not given.
        optional format: Spanned<String>,
    }
}

choices! {
    /// How values between texels are found.
    pub enum FilterName {
        /// The nearest texel.
        Nearest = "nearest",
        /// In proportion to the distance.
        Linear = "linear",
    }
}

choices! {
    /// What lies beyond the edges of a texture.
    pub enum WrapName {
        /// The texel at the edge.
        Clamp = "clamp",
        /// The texture again.
        Repeat = "repeat",
        /// The texture mirrored.
        Mirror = "mirror",
        /// The texture mirrored once, then the texel at its edge.
        MirrorOnce = "mirror once",
        /// One colour.
        Border = "border",
    }
}

choices! {
    /// How texels are arranged.
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
    /// How a reference is compared with a texel, by the names of OpenGL.
    pub enum CompareName {
        /// Never true.
        Never = "never",
        /// True when the reference is less.
        Less = "less",
        /// The same.
        Equal = "equal",
        /// Less or the same.
        LessEqual = "lequal",
        /// Greater.
        Greater = "greater",
        /// Different.
        NotEqual = "notequal",
        /// Greater or the same.
        GreaterEqual = "gequal",
        /// Always true.
        Always = "always",
    }
}
