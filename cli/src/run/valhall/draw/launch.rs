//! The vocabulary of launch files that draw.

use isaforge_compiler::keys::{Named, OneOrMany};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Buffer, Float, Output, Program, Uniform, Word};
use crate::run::valhall::resources::launch::{ImageContent, TextureContent};

vocabulary! {
    /// A fragment program and what it draws on.
    pub struct DrawLaunch {
        /// The instruction set.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// Width and height in pixels.
        required size: Spanned<Vec<u32>>,
        /// The uniform words, in order.
        optional uniforms: Vec<Uniform>,
        /// Vertices in pixels from the lower left; the whole picture is drawn if none are given.
        optional vertices: Spanned<Vec<Vec<Float>>>,
        /// What the vertices are, `triangles` if not given.
        optional primitive: PrimitiveName,
        /// How long the sides of points are, in pixels; 1 if not given.
        optional point_size ("point size"): Spanned<Float>,
        /// Samples of a pixel: 1, 2, 4, 8 or 16; 1 if not given.
        optional samples: Spanned<u32>,
        /// Values that change over the picture or over a triangle.
        optional varyings: Vec<VaryingContent>,
        /// Textures, in order.
        optional textures: Vec<TextureContent>,
        /// Images, in order.
        optional images: Vec<ImageContent>,
        /// Memory, by names that the launch file chooses.
        optional buffers: Named<Buffer>,
        /// The names of the buffers that are uniform buffer 0, 1, ...
        optional uniform_buffers ("uniform buffers"): Vec<Spanned<String>>,
        /// What to write and print of the buffers afterwards.
        optional outputs: Vec<Output>,
        /// What is drawn on, in order.
        required targets: Spanned<Vec<TargetContent>>,
        /// The most instructions to execute, those of all threads together.
        optional budget: u64,
    }
}

vocabulary! {
    /// A varying.
    pub struct VaryingContent {
        /// Its first byte in the buffer of the vertices.
        required offset: u32,
        /// Its values at the lower left, lower right and upper left corner of the picture.
        optional corners: Spanned<Vec<OneOrMany<Float>>>,
        /// Its values at the vertices, in their order.
        optional values: Spanned<Vec<OneOrMany<Float>>>,
        /// Its words, the same everywhere.
        optional flat: Spanned<OneOrMany<Word>>,
    }
}

vocabulary! {
    /// A picture that is drawn.
    pub struct TargetContent {
        /// Where to write it as PNG.
        required file: String,
        /// The format of a pixel while it is drawn.
        optional format: Spanned<String>,
        /// Red, green, blue and opacity of pixels that nothing is drawn on.
        optional clear: Spanned<Vec<Float>>,
        /// How colours are blended with those that are there; they replace them if not given.
        optional blend: BlendContent,
        /// The channels that colours change; all if not given.
        optional write: Vec<ChannelName>,
    }
}

vocabulary! {
    /// How a colour and the one that is there become one, by the names of OpenGL.
    pub struct BlendContent {
        /// How the two are put together.
        optional operation: Spanned<String>,
        /// What the new colour is multiplied by.
        optional source: Spanned<String>,
        /// What the colour that is there is multiplied by.
        optional destination: Spanned<String>,
        /// The same for the opacity, if it is not the same.
        optional alpha: AlphaContent,
        /// The colour of the factors that name a constant.
        optional constant: Spanned<Vec<Float>>,
    }
}

vocabulary! {
    /// How the new opacity and the one that is there become one.
    pub struct AlphaContent {
        /// How the two are put together.
        optional operation: Spanned<String>,
        /// What the new one is multiplied by.
        optional source: Spanned<String>,
        /// What the one that is there is multiplied by.
        optional destination: Spanned<String>,
    }
}

choices! {
    /// What vertices are.
    pub enum PrimitiveName {
        /// Each is the middle of a square.
        Points = "points",
        /// Every two are the ends of a line.
        Lines = "lines",
        /// Each two that follow one another are the ends of a line.
        LineStrip = "line strip",
        /// Every three are a triangle.
        Triangles = "triangles",
        /// Each three that follow one another are a triangle.
        TriangleStrip = "triangle strip",
    }
}

choices! {
    /// A channel of a target.
    pub enum ChannelName {
        /// The first.
        Red = "red",
        /// The second.
        Green = "green",
        /// The third.
        Blue = "blue",
        /// The opacity.
        Alpha = "alpha",
    }
}
