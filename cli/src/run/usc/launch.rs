//! The vocabulary of launch files for the USC.

use isaforge_compiler::source::Spanned;
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Float, NumberFormat, Program, Word};

vocabulary! {
    /// What to run on the USC and what to do with what it leaves.
    pub struct UscLaunch {
        /// The instruction set: `usc`.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// The pixels, an instance each: x, y, width, height.
        optional rectangle: Spanned<Vec<u32>>,
        /// The number of instances, in tasks of 32; 1 if neither this nor a rectangle is given.
        optional instances: Spanned<u32>,
        /// What is in registers at the start.
        optional registers: Vec<UscRegister>,
        /// Memory.
        optional memory: Vec<UscMemory>,
        /// Textures, numbered from 0: word 0 of the state of a texture says which.
        optional textures: Vec<UscTexture>,
        /// The most groups that all tasks together may execute.
        optional budget: u64,
        /// What to write and print afterwards.
        optional outputs: Vec<UscOutput>,
    }
}

vocabulary! {
    /// The start of registers.
    pub struct UscRegister {
        /// The first register, such as `sh0`, `cf4`, `r2`, `vi0`.
        required register: Spanned<String>,
        /// Values as whole numbers of 32 bits.
        optional words: Vec<Word>,
        /// Values as 32-bit floats.
        optional f32: Vec<Float>,
        /// The values are those of one register, an instance each, instead of registers that follow one another.
        optional each: bool,
    }
}

vocabulary! {
    /// Memory of the program.
    pub struct UscMemory {
        /// Its first byte.
        required address: Spanned<u64>,
        /// Its content as whole numbers of 32 bits.
        optional words: Vec<Word>,
        /// Its content as 32-bit floats.
        optional f32: Vec<Float>,
        /// Its content as the bytes of a file.
        optional file: Spanned<String>,
        /// How many bytes it has; more than the content are zeros.
        optional size: Spanned<u64>,
    }
}

vocabulary! {
    /// A texture of four floats a texel.
    pub struct UscTexture {
        /// Width and height.
        required size: Spanned<Vec<u32>>,
        /// The texels, row by row.
        optional f32: Vec<Float>,
        /// The texels as the bytes of a file.
        optional file: Spanned<String>,
        /// Has smaller levels behind it, each texel the mean of those that it covers.
        optional levels: bool,
    }
}

vocabulary! {
    /// One thing to do afterwards.
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
        /// What the pixel outputs hold.
        optional format: UscPixel,
        /// How many pixels of the file each way make one.
        optional scale: Spanned<u32>,
        /// Where to write it.
        required file: String,
    }
}

vocabulary! {
    /// Bytes in a file.
    pub struct UscRaw {
        /// The first byte in memory.
        required address: Spanned<u64>,
        /// How many bytes.
        required size: Spanned<u64>,
        /// Where to write them.
        required file: String,
    }
}

vocabulary! {
    /// Printed numbers: those of a register, of a vertex output, or of memory.
    pub struct UscPrint {
        /// A register; each instance has its own value.
        optional register: Spanned<String>,
        /// A vertex output; each instance has its own value.
        optional vertex: Spanned<u32>,
        /// The first byte in memory.
        optional address: Spanned<u64>,
        /// How many numbers of memory.
        optional count: u64,
        /// What the numbers are.
        optional number ("as"): NumberFormat,
    }
}

choices! {
    /// What pixel outputs hold.
    pub enum UscPixel {
        /// The first three are floats of red, green and blue, from 0 to 1.
        Float = "float",
        /// The first holds bytes of red, green, blue and opacity, from the lowest.
        Packed = "packed",
    }
}
