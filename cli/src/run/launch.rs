//! The keys of launch files for Valhall.

use isaforge_compiler::diagnostic::Diagnostic;
use isaforge_compiler::keys::{FromNode, Named, OneOrMany, Reader};
use isaforge_compiler::source::{Span, Spanned};
use isaforge_compiler::yaml::{Node, Value};
use isaforge_compiler::{choices, vocabulary};

use super::decimal::Decimal;
use super::valhall::resources::launch::{ImageContent, TextureContent};

vocabulary! {
    /// A compute launch: the program, its memory and its outputs.
    pub struct LaunchFile {
        /// The instruction set: a name that `isaforge isas` lists.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// Number of workgroups in up to three dimensions.
        optional groups: Spanned<OneOrMany<u32>>,
        /// Threads per workgroup in up to three dimensions.
        optional local_size ("local size"): Spanned<OneOrMany<u32>>,
        /// Bytes of memory shared by the threads of a workgroup.
        optional shared_bytes ("shared bytes"): Spanned<u32>,
        /// Maximum number of instructions, summed over all threads.
        optional budget: u64,
        /// The uniform words, in order.
        optional uniforms: Spanned<Vec<Uniform>>,
        /// Memory buffers, by names of your choice.
        optional buffers: Named<Buffer>,
        /// Textures, in order.
        optional textures: Vec<TextureContent>,
        /// Images, in order.
        optional images: Vec<ImageContent>,
        /// The names of the buffers used as uniform buffer 0, 1, ...
        optional uniform_buffers ("uniform buffers"): Vec<Spanned<String>>,
        /// Outputs to write and print after the run.
        optional outputs: Vec<Output>,
    }
}

vocabulary! {
    /// A program in a file.
    pub struct ProgramFile {
        /// The path; `.s` and `.asm` are assembly, `.hex` is hexadecimal, `.bin` raw words.
        required file: Spanned<String>,
    }
}

vocabulary! {
    /// A memory buffer.
    pub struct Buffer {
        /// Its address; chosen automatically if not given.
        optional address: Spanned<u64>,
        /// The address space that it is in, if that has a memory of its own; only with `--spec`.
        optional space: Spanned<String>,
        /// Its content as 32-bit integers.
        optional words: Spanned<Vec<Word>>,
        /// Its content as 32-bit floats.
        optional f32: Spanned<Vec<Float>>,
        /// Its content as the bytes of a file.
        optional file: Spanned<String>,
        /// Its size in bytes; the rest after the content is zero.
        optional size: Spanned<u64>,
    }
}

vocabulary! {
    /// An output: exactly one of its keys.
    pub struct Output {
        /// Write a picture.
        optional png: Png,
        /// Write bytes.
        optional raw: Raw,
        /// Print numbers.
        optional print: Print,
    }
}

vocabulary! {
    /// A PNG picture of a buffer.
    pub struct Png {
        /// The buffer with the pixels.
        required buffer: Spanned<String>,
        /// The file to write.
        required file: String,
        /// Pixels per row.
        required width: Spanned<u32>,
        /// Rows.
        required height: Spanned<u32>,
        /// How to interpret the words of the buffer.
        optional format: PixelFormat,
        /// The count shown as black in a palette, or the value shown as white in grey.
        optional limit: u32,
    }
}

vocabulary! {
    /// The bytes of a buffer in a file.
    pub struct Raw {
        /// The buffer.
        required buffer: Spanned<String>,
        /// The file to write.
        required file: String,
    }
}

vocabulary! {
    /// Numbers printed from a buffer.
    pub struct Print {
        /// The buffer.
        required buffer: Spanned<String>,
        /// The number format.
        optional number ("as"): BufferNumber,
        /// The index of the first number, from 0.
        optional from: Spanned<u64>,
        /// How many numbers.
        optional count: Spanned<u64>,
    }
}

choices! {
    /// Pixel formats.
    pub enum PixelFormat {
        /// Counts, coloured by a palette.
        Palette = "palette",
        /// Numbers, as grey levels.
        Grey = "grey",
        /// Bytes of red, green, blue and opacity.
        Rgba8 = "rgba8",
        /// Floats of red, green, blue and opacity.
        Rgba32f = "rgba32f",
    }
}

choices! {
    /// Number formats.
    pub enum NumberFormat {
        /// Unsigned integer.
        U32 = "u32",
        /// Signed integer.
        I32 = "i32",
        /// Float.
        F32 = "f32",
        /// Eight hexadecimal digits.
        Hex = "hex",
    }
}

choices! {
    /// Formats of the numbers in a buffer.
    pub enum BufferNumber {
        /// Unsigned bytes.
        U8 = "u8",
        /// Signed bytes.
        I8 = "i8",
        /// Unsigned integers of 16 bits.
        U16 = "u16",
        /// Signed integers of 16 bits.
        I16 = "i16",
        /// Floats of 16 bits.
        F16 = "f16",
        /// Unsigned integers of 32 bits.
        U32 = "u32",
        /// Signed integers of 32 bits.
        I32 = "i32",
        /// Floats of 32 bits.
        F32 = "f32",
        /// Words of 32 bits, eight hexadecimal digits each.
        Hex = "hex",
    }
}

impl BufferNumber {
    /// The size of a number in bytes.
    pub fn bytes(self) -> usize {
        match self {
            BufferNumber::U8 | BufferNumber::I8 => 1,
            BufferNumber::U16 | BufferNumber::I16 | BufferNumber::F16 => 2,
            BufferNumber::U32 | BufferNumber::I32 | BufferNumber::F32 | BufferNumber::Hex => 4,
        }
    }
}

/// The source of the program.
#[derive(Clone, Debug)]
pub enum Program {
    /// Lines of assembly in the launch file.
    Inline(Spanned<String>),
    /// A file.
    File(Spanned<String>),
}

impl Program {
    /// Its location in the launch file.
    pub fn span(&self) -> Span {
        match self {
            Program::Inline(given) | Program::File(given) => given.span,
        }
    }
}

impl FromNode for Program {
    const EXPECTED: &'static str = "lines of assembly, or a map with `file`";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(Program::Inline(Spanned::new(text.clone(), node.span))),
            Value::Map(_) => ProgramFile::from_node(node, r).map(|program| Program::File(program.file)),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

vocabulary! {
    /// The address of a buffer.
    pub struct AddressOf {
        /// The buffer.
        required address: Spanned<String>,
    }
}

/// A uniform word, or the two words of an address.
#[derive(Clone, Debug)]
pub enum Uniform {
    /// The bits of a number.
    Word(u32),
    /// The address of a buffer.
    Address(Spanned<String>),
}

impl FromNode for Uniform {
    const EXPECTED: &'static str = "a number, or a map with `address`";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Float(_) => Decimal::read(node, 32, r).map(|bits| Uniform::Word(bits as u32)),
            Value::Int(_) => Word::from_node(node, r).map(|word| Uniform::Word(word.0)),
            Value::Map(_) => AddressOf::from_node(node, r).map(|given| Uniform::Address(given.address)),
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

/// A 32-bit word, written as a signed or unsigned integer.
#[derive(Clone, Copy, Debug)]
pub struct Word(pub u32);

impl FromNode for Word {
    const EXPECTED: &'static str = "a whole number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::Int(value) = node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        let bits = u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(|value| value as u32));
        if bits.is_none() {
            let label = format!("expected a number from {} to {}", i32::MIN, u32::MAX);
            r.out.push(Diagnostic::error("E0024", node.span, format!("`{value}` is out of range")).label(label));
        }
        bits.map(Word)
    }
}

/// A 32-bit float; integers are accepted, too.
#[derive(Clone, Copy, Debug)]
pub struct Float(pub f32);

impl FromNode for Float {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Float(_) => Decimal::read(node, 32, r).map(|bits| Float(f32::from_bits(bits as u32))),
            Value::Int(value) => Some(Float(value as f32)),
            Value::Text(ref text) if is_special(text) => {
                let error = Diagnostic::error("E0020", node.span, format!("expected a number, found text `{text}`"));
                let help = "write `.nan`, `.inf` or `-.inf`";
                r.out.push(error.label("expected a number").help(help));
                None
            }
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                None
            }
        }
    }
}

/// Whether a text names a special number as other languages write it.
fn is_special(text: &str) -> bool {
    let name = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    matches!(name.as_str(), "nan" | "inf" | "infinity")
}

impl Output {
    /// The buffer of the output; `None` if it has no key.
    pub fn buffer(&self) -> Option<&Spanned<String>> {
        let png = self.png.as_ref().map(|png| &png.buffer);
        let raw = self.raw.as_ref().map(|raw| &raw.buffer);
        png.or(raw).or(self.print.as_ref().map(|print| &print.buffer))
    }

    /// The number of keys; must be one.
    pub fn count(&self) -> usize {
        usize::from(self.png.is_some()) + usize::from(self.raw.is_some()) + usize::from(self.print.is_some())
    }
}

#[cfg(test)]
mod tests {
    use isaforge_compiler::diagnostic::{Diagnostics, Style};
    use isaforge_compiler::keys::{FromNode, Reader, Vocabulary};
    use isaforge_compiler::source::Sources;
    use isaforge_compiler::yaml::read_yaml;

    use super::*;
    use crate::run::user_defined::launch::OwnLaunch;

    #[track_caller]
    fn assert_reads(text: &str) {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let file = sources.add("example.yaml", text.to_owned());
        let node = read_yaml(&sources, file, &mut out).expect("it is YAML");
        let launch = LaunchFile::from_node(&node, &mut Reader { sources: &sources, out: &mut out });
        assert!(launch.is_some() && out.is_empty(), "{}", out.render(&sources, Style::default()));
    }

    #[test]
    fn the_examples_of_the_documentation_are_launch_files() {
        let readme = include_str!("README.md");
        let (_, rest) = readme.split_once("```yaml\n").expect("it has an example");
        assert_reads(rest.split_once("```").expect("the example ends").0);
        let help = crate::help::RUN.lines().skip_while(|line| !line.starts_with("  isa:"));
        let example: Vec<&str> = help.take_while(|line| line.starts_with("  ")).collect();
        assert_reads(&example.join("\n"));
    }

    #[test]
    fn the_example_for_specifications_is_a_launch_file() {
        let help = crate::help::RUN.lines().skip_while(|line| !line.contains("sieve.s }"));
        let example: Vec<&str> = help.take_while(|line| line.starts_with("  ")).collect();
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let file = sources.add("example.yaml", example.join("\n"));
        let node = read_yaml(&sources, file, &mut out).expect("it is YAML");
        let launch = OwnLaunch::from_node(&node, &mut Reader { sources: &sources, out: &mut out });
        assert!(launch.is_some() && out.is_empty(), "{}", out.render(&sources, Style::default()));
        for key in OwnLaunch::keys() {
            assert!(example.iter().any(|line| line.starts_with(&format!("  {}:", key.name))), "{}", key.name);
        }
    }

    #[test]
    fn every_key_is_documented() {
        let keys = [LaunchFile::keys(), Buffer::keys(), Png::keys(), Raw::keys(), Print::keys()].concat();
        let readme = include_str!("README.md");
        for key in keys {
            assert!(!key.doc.is_empty(), "{} has no documentation", key.name);
            assert!(readme.contains(key.name), "{} is not in the README", key.name);
        }
    }
}
