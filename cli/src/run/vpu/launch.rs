//! The keys of launch files for the VPU.

use isaforge_compiler::diagnostic::Diagnostic;
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_compiler::{choices, vocabulary};

use crate::run::decimal::Decimal;
use crate::run::launch::{Program, Word};

vocabulary! {
    /// A launch on the VPU: the program, its inputs and its outputs.
    pub struct VpuLaunch {
        /// The instruction set: `vpu`.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// A file with the initial state, in the JSON of the conformance corpus; the other keys override parts of it.
        optional scene: Spanned<String>,
        /// The positions covered by threads: x, y, width, height.
        optional rectangle: Spanned<Vec<u32>>,
        /// The index of the first instruction.
        optional entry: Spanned<u16>,
        /// The global bank that groups use.
        optional bank: Spanned<u32>,
        /// The registers of that bank, from g0.
        optional globals: Spanned<Vec<Register>>,
        /// Width and height of the tile buffers.
        optional tile_size ("tile size"): Spanned<Vec<u32>>,
        /// The initial contents of tile buffers.
        optional tiles: Vec<TileContent>,
        /// External memory.
        optional memory: ExternalMemory,
        /// The entries of palettes.
        optional palettes: Vec<PaletteContent>,
        /// The number of cores that share the rectangle, in bands of rows.
        optional cores: Spanned<u32>,
        /// Varies scheduling and latencies; runs with the same seed are identical.
        optional seed: u64,
        /// Maximum number of instructions, summed over all groups.
        optional budget: u64,
        /// Outputs to write and print after the run.
        optional outputs: Vec<VpuOutput>,
    }
}

vocabulary! {
    /// The initial contents of a tile buffer.
    pub struct TileContent {
        /// The number of the tile buffer, 0 to 3.
        required buffer: Spanned<u32>,
        /// The value of every element.
        optional fill: Register,
        /// A file with 8 bytes per element, row by row.
        optional file: Spanned<String>,
    }
}

vocabulary! {
    /// External memory, starting at address 0.
    pub struct ExternalMemory {
        /// Its content as 32-bit integers.
        optional words: Vec<Word>,
        /// Its content as 16-bit components.
        optional halves: Vec<Component>,
        /// Its content as the bytes of a file.
        optional file: Spanned<String>,
        /// Its size in bytes; the rest after the content is zero.
        optional size: Spanned<u64>,
    }
}

vocabulary! {
    /// A palette.
    pub struct PaletteContent {
        /// The number of the palette, 0 or 1.
        required number: Spanned<u32>,
        /// Up to 256 entries of up to four components.
        optional entries: Spanned<Vec<Register>>,
        /// A file with 8 bytes per entry.
        optional file: Spanned<String>,
    }
}

vocabulary! {
    /// An output: exactly one of its keys.
    pub struct VpuOutput {
        /// Write a picture.
        optional png: VpuPng,
        /// Write bytes.
        optional raw: VpuRaw,
        /// Print numbers.
        optional print: VpuPrint,
    }
}

vocabulary! {
    /// A picture of a tile buffer or of external memory.
    pub struct VpuPng {
        /// The tile buffer.
        optional tile: Spanned<u32>,
        /// The core of the tile buffer; 0 if not given.
        optional core: Spanned<u32>,
        /// The address of the picture in external memory.
        optional address: Spanned<u64>,
        /// Pixels per row, for external memory.
        optional width: Spanned<u32>,
        /// Rows, for external memory.
        optional height: Spanned<u32>,
        /// The pixel format.
        optional format: VpuPixel,
        /// The factor by which the picture is enlarged.
        optional scale: Spanned<u32>,
        /// The file to write.
        required file: String,
    }
}

vocabulary! {
    /// Bytes in a file.
    pub struct VpuRaw {
        /// The tile buffer.
        optional tile: Spanned<u32>,
        /// The core of the tile buffer; 0 if not given.
        optional core: Spanned<u32>,
        /// The address in external memory.
        optional address: Spanned<u64>,
        /// The number of bytes of external memory; all up to the end if not given.
        optional size: Spanned<u64>,
        /// The file to write.
        required file: String,
    }
}

vocabulary! {
    /// Numbers printed from a tile buffer or from external memory.
    pub struct VpuPrint {
        /// The tile buffer.
        optional tile: Spanned<u32>,
        /// The core of the tile buffer; 0 if not given.
        optional core: Spanned<u32>,
        /// The address in external memory.
        optional address: Spanned<u64>,
        /// The number format.
        optional number ("as"): VpuNumber,
        /// The index of the first number, from 0.
        optional from: Spanned<u64>,
        /// The number of values.
        optional count: Spanned<u64>,
    }
}

choices! {
    /// Pixel formats.
    pub enum VpuPixel {
        /// FP16 red, green, blue and opacity.
        Float = "float",
        /// FP16 red, green and blue.
        FloatOpaque = "float-opaque",
        /// Integer red, green, blue and opacity, up to 255.
        Integer = "integer",
        /// Integer grey, up to 255.
        Grey = "grey",
        /// One component: a bit of opacity, five bits each of red, green and blue.
        Rgb1555 = "rgb1555",
    }
}

choices! {
    /// Number formats.
    pub enum VpuNumber {
        /// 16 bits in hexadecimal.
        Hex = "hex",
        /// Unsigned 16-bit integer.
        U16 = "u16",
        /// Signed 16-bit integer.
        I16 = "i16",
        /// 16-bit float.
        F16 = "f16",
        /// Unsigned 32-bit integer.
        U32 = "u32",
        /// Signed 32-bit integer.
        I32 = "i32",
    }
}

/// The bits of a component: an integer, or an FP16 number if it has a decimal point.
#[derive(Clone, Copy, Debug)]
pub struct Component(pub u16);

impl FromNode for Component {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let value = match node.value {
            Value::Float(_) => return Decimal::read(node, 16, r).map(|bits| Component(bits as u16)),
            Value::Int(value) => value,
            _ => {
                r.wrong_kind(node, Self::EXPECTED);
                return None;
            }
        };
        let bits = u16::try_from(value).ok().or_else(|| i16::try_from(value).ok().map(|value| value as u16));
        if bits.is_none() {
            let label = format!("expected a number from {} to {}", i16::MIN, u16::MAX);
            r.out.push(Diagnostic::error("E0024", node.span, format!("`{value}` is out of range")).label(label));
        }
        bits.map(Component)
    }
}

/// Four components; missing ones are 0.
#[derive(Clone, Copy, Debug)]
pub struct Register(pub [u16; 4]);

impl FromNode for Register {
    const EXPECTED: &'static str = "a list of up to four numbers";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let Value::List(_) = node.value else {
            r.wrong_kind(node, Self::EXPECTED);
            return None;
        };
        let given: Vec<Component> = Vec::from_node(node, r)?;
        if given.len() > 4 {
            let message = format!("a register has four components, not {}", given.len());
            r.out.push(Diagnostic::error("L0003", node.span, message));
            return None;
        }
        Some(Register(std::array::from_fn(|c| given.get(c).map_or(0, |component| component.0))))
    }
}

#[cfg(test)]
mod tests {
    use isaforge_compiler::diagnostic::{Diagnostics, Style};
    use isaforge_compiler::keys::Vocabulary;
    use isaforge_compiler::source::Sources;
    use isaforge_compiler::yaml::read_yaml;

    use super::*;

    const README: &str = include_str!("README.md");

    #[test]
    fn the_example_of_the_documentation_is_a_launch_file() {
        let (_, rest) = README.split_once("```yaml\n").expect("it has an example");
        let text = rest.split_once("```").expect("the example ends").0;
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let file = sources.add("example.yaml", text.to_owned());
        let node = read_yaml(&sources, file, &mut out).expect("it is YAML");
        let launch = VpuLaunch::from_node(&node, &mut Reader { sources: &sources, out: &mut out });
        assert!(launch.is_some() && out.is_empty(), "{}", out.render(&sources, Style::default()));
    }

    #[test]
    fn every_key_and_choice_is_documented() {
        let content = [TileContent::keys(), ExternalMemory::keys(), PaletteContent::keys()].concat();
        let outputs = [VpuOutput::keys(), VpuPng::keys(), VpuRaw::keys(), VpuPrint::keys()].concat();
        for key in [VpuLaunch::keys(), content, outputs].concat() {
            assert!(!key.doc.is_empty(), "{} has no documentation", key.name);
            assert!(README.contains(&format!("{}:", key.name)), "{} is not in the README", key.name);
        }
        let pixels = VpuPixel::ALL.iter().map(|choice| choice.as_str());
        for choice in pixels.chain(VpuNumber::ALL.iter().map(|choice| choice.as_str())) {
            assert!(README.contains(&format!("`{choice}`")), "{choice} is not in the README");
        }
    }
}
