//! The keys of launch files for the USC.

use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Float, NumberFormat, Program, Word};

vocabulary! {
    /// A launch on the USC: the program, its registers, its memory and its outputs.
    pub struct UscLaunch {
        /// The instruction set: `usc`.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// The rectangle of pixels, one instance each: x, y, width, height.
        optional rectangle: Spanned<Vec<u32>>,
        /// The number of instances, in tasks of 32; 1 if neither this nor a rectangle is given.
        optional instances: Spanned<u32>,
        /// Initial values of registers.
        optional registers: Vec<UscRegister>,
        /// Memory regions.
        optional memory: Vec<UscMemory>,
        /// Textures, numbered from 0; word 0 of a texture's state selects one.
        optional textures: Vec<UscTexture>,
        /// Maximum number of groups, summed over all tasks.
        optional budget: u64,
        /// Outputs to write and print after the run.
        optional outputs: Vec<UscOutput>,
    }
}

vocabulary! {
    /// Initial values of registers.
    pub struct UscRegister {
        /// The first register, such as `sh0`, `cf4`, `r2`, `vi0`.
        required register: Spanned<String>,
        /// Values as 32-bit integers.
        optional words: Vec<Word>,
        /// Values as 32-bit floats.
        optional f32: Vec<Float>,
        /// Whether the values belong to one register, one per instance, instead of consecutive registers.
        optional each: bool,
    }
}

vocabulary! {
    /// A memory region.
    pub struct UscMemory {
        /// Its address.
        required address: Spanned<u64>,
        /// Its content as 32-bit integers.
        optional words: Vec<Word>,
        /// Its content as 32-bit floats.
        optional f32: Vec<Float>,
        /// Its content as the bytes of a file.
        optional file: Spanned<String>,
        /// Its size in bytes; the rest after the content is zero.
        optional size: Spanned<u64>,
    }
}

vocabulary! {
    /// A texture with four floats per texel.
    pub struct UscTexture {
        /// Width and height.
        required size: Spanned<Vec<u32>>,
        /// The texels, row by row.
        optional f32: Vec<Float>,
        /// The texels as the bytes of a file.
        optional file: Spanned<String>,
        /// Whether to generate smaller levels, each texel the mean of those it covers.
        optional levels: bool,
    }
}

vocabulary! {
    /// An output: exactly one of its keys.
    pub struct UscOutput {
        /// Write the pixels of the rectangle as a picture.
        optional png: UscPng,
        /// Write bytes of memory.
        optional raw: UscRaw,
        /// Print numbers.
        optional print: UscPrint,
    }
}

vocabulary! {
    /// A picture of the rectangle.
    pub struct UscPng {
        /// The format of the pixel outputs.
        optional format: UscPixel,
        /// The factor by which the picture is enlarged.
        optional scale: Spanned<u32>,
        /// The file to write.
        required file: String,
    }
}

vocabulary! {
    /// Bytes of memory in a file.
    pub struct UscRaw {
        /// The address of the first byte.
        required address: Spanned<u64>,
        /// The number of bytes.
        required size: Spanned<u64>,
        /// The file to write.
        required file: String,
    }
}

vocabulary! {
    /// Numbers printed from a register, a vertex output or memory.
    pub struct UscPrint {
        /// A register, which has a value per instance.
        optional register: Spanned<String>,
        /// A vertex output, which has a value per instance.
        optional vertex: Spanned<u32>,
        /// The address of the first byte.
        optional address: Spanned<u64>,
        /// The number of values in memory.
        optional count: u64,
        /// The number format.
        optional number ("as"): NumberFormat,
    }
}

choices! {
    /// Formats of the pixel outputs.
    pub enum UscPixel {
        /// The first three are floats of red, green and blue, from 0 to 1.
        Float = "float",
        /// The first holds bytes of red, green, blue and opacity, from the lowest.
        Packed = "packed",
    }
}
