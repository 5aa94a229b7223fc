//! The keys of launch files for drawings.

use isaforge_compiler::keys::{Named, OneOrMany};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Buffer, Float, Output, Program, Uniform, Word};
use crate::run::valhall::resources::launch::{ImageContent, TextureContent};

vocabulary! {
    /// A drawing: a fragment program, its inputs and its targets.
    pub struct DrawLaunch {
        /// The instruction set.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// Width and height in pixels.
        required size: Spanned<Vec<u32>>,
        /// The uniform words, in order.
        optional uniforms: Spanned<Vec<Uniform>>,
        /// Vertices in pixels from the lower left; the whole picture is drawn if none are given.
        optional vertices: Spanned<Vec<Vec<Float>>>,
        /// The kind of primitive; `triangles` if not given.
        optional primitive: Spanned<PrimitiveName>,
        /// The side length of points in pixels; 1 if not given.
        optional point_size ("point size"): Spanned<Float>,
        /// Samples per pixel: 1, 2, 4, 8 or 16; 1 if not given.
        optional samples: Spanned<u32>,
        /// Values that vary across the picture or across a triangle.
        optional varyings: Vec<VaryingContent>,
        /// Textures, in order.
        optional textures: Vec<TextureContent>,
        /// Images, in order.
        optional images: Vec<ImageContent>,
        /// Memory buffers, by names of your choice.
        optional buffers: Named<Buffer>,
        /// The names of the buffers used as uniform buffer 0, 1, ...
        optional uniform_buffers ("uniform buffers"): Vec<Spanned<String>>,
        /// Outputs to write and print after the run.
        optional outputs: Vec<Output>,
        /// The render targets, in order.
        required targets: Spanned<Vec<TargetContent>>,
        /// Maximum number of instructions, summed over all threads.
        optional budget: u64,
    }
}

vocabulary! {
    /// A varying.
    pub struct VaryingContent {
        /// Its byte offset in the vertex buffer.
        required offset: Spanned<u32>,
        /// Its values at the lower left, lower right and upper left corner of the picture.
        optional corners: Spanned<Vec<OneOrMany<Float>>>,
        /// Its values at the vertices, in their order.
        optional values: Spanned<Vec<OneOrMany<Float>>>,
        /// Its words, if it is constant.
        optional flat: Spanned<OneOrMany<Word>>,
    }
}

vocabulary! {
    /// A render target.
    pub struct TargetContent {
        /// The PNG file to write.
        required file: Spanned<String>,
        /// The pixel format of the target.
        optional format: Spanned<String>,
        /// The clear colour: red, green, blue and opacity.
        optional clear: Spanned<Vec<Float>>,
        /// How colours are blended with existing ones; they replace them if not given.
        optional blend: BlendContent,
        /// The channels that are written; all if not given.
        optional write: Vec<ChannelName>,
    }
}

vocabulary! {
    /// Blending of a colour with the existing one, in OpenGL's terms.
    pub struct BlendContent {
        /// The blend operation.
        optional operation: Spanned<String>,
        /// The factor of the new colour.
        optional source: Spanned<String>,
        /// The factor of the existing colour.
        optional destination: Spanned<String>,
        /// The blending of opacity, if it differs.
        optional alpha: AlphaContent,
        /// The constant colour of the factors that use one.
        optional constant: Spanned<Vec<Float>>,
    }
}

vocabulary! {
    /// Blending of the new opacity with the existing one.
    pub struct AlphaContent {
        /// The blend operation.
        optional operation: Spanned<String>,
        /// The factor of the new opacity.
        optional source: Spanned<String>,
        /// The factor of the existing opacity.
        optional destination: Spanned<String>,
    }
}

choices! {
    /// The kinds of primitives.
    pub enum PrimitiveName {
        /// Each vertex is the centre of a square.
        Points = "points",
        /// Every two vertices are the ends of a line.
        Lines = "lines",
        /// Every two consecutive vertices are the ends of a line.
        LineStrip = "line strip",
        /// Every three vertices are a triangle.
        Triangles = "triangles",
        /// Every three consecutive vertices are a triangle.
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
