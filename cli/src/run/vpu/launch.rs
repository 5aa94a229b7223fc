//! The vocabulary of launch files for the VPU.

use half::f16;
use isaforge_compiler::diagnostic::Diagnostic;
use isaforge_compiler::keys::{FromNode, Reader};
use isaforge_compiler::source::Spanned;
use isaforge_compiler::yaml::{Node, Value};
use isaforge_compiler::{choices, vocabulary};

use crate::run::launch::{Program, Word};

vocabulary! {
    /// What to run on the VPU and what to do with what it leaves.
    pub struct VpuLaunch {
        /// The instruction set: `vpu`.
        required isa: Spanned<String>,
        /// Lines of assembly, or a map with the file that holds the program.
        required program: Program,
        /// A file with what to start from, in the JSON of the conformance corpus; the other keys replace parts of it.
        optional scene: Spanned<String>,
        /// The positions that threads cover: x, y, width, height.
        optional rectangle: Spanned<Vec<u32>>,
        /// The first instruction.
        optional entry: Spanned<u16>,
        /// The global bank that groups run against.
        optional bank: Spanned<u32>,
        /// The registers of that bank, from g0 on.
        optional globals: Spanned<Vec<Register>>,
        /// Width and height of the tile buffers.
        optional tile_size ("tile size"): Spanned<Vec<u32>>,
        /// What is in tile buffers at the start.
        optional tiles: Vec<TileContent>,
        /// External memory.
        optional memory: ExternalMemory,
        /// The entries of palettes.
        optional palettes: Vec<PaletteContent>,
        /// How many cores share the rectangle, in bands of rows.
        optional cores: Spanned<u32>,
        /// Varies turns and latencies; a seed gives one and the same run every time.
        optional seed: u64,
        /// The most instructions that all groups together may issue.
        optional budget: u64,
        /// What to write and print afterwards.
        optional outputs: Vec<VpuOutput>,
    }
}

vocabulary! {
    /// The start of a tile buffer.
    pub struct TileContent {
        /// Which of the four.
        required buffer: Spanned<u32>,
        /// What every element is.
        optional fill: Register,
        /// A file with 8 bytes an element, row by row.
        optional file: Spanned<String>,
    }
}

vocabulary! {
    /// External memory, from address 0 on.
    pub struct ExternalMemory {
        /// Its content as whole numbers of 32 bits.
        optional words: Vec<Word>,
        /// Its content as components of 16 bits.
        optional halves: Vec<Component>,
        /// Its content as the bytes of a file.
        optional file: Spanned<String>,
        /// How many bytes it has; more than the content are zeros.
        optional size: Spanned<u64>,
    }
}

vocabulary! {
    /// A palette.
    pub struct PaletteContent {
        /// Which of the two.
        required number: Spanned<u32>,
        /// Up to 256 entries, each of up to four components.
        optional entries: Spanned<Vec<Register>>,
        /// A file with 8 bytes an entry.
        optional file: Spanned<String>,
    }
}

vocabulary! {
    /// One thing to do afterwards.
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
        /// The core that has it; 0 if not given.
        optional core: Spanned<u32>,
        /// Where in external memory the picture begins.
        optional address: Spanned<u64>,
        /// Pixels in a row, for external memory.
        optional width: Spanned<u32>,
        /// Rows, for external memory.
        optional height: Spanned<u32>,
        /// How components stand for colours.
        optional format: VpuPixel,
        /// How many pixels of the file each way make one.
        optional scale: Spanned<u32>,
        /// Where to write it.
        required file: String,
    }
}

vocabulary! {
    /// Bytes in a file.
    pub struct VpuRaw {
        /// The tile buffer.
        optional tile: Spanned<u32>,
        /// The core that has it; 0 if not given.
        optional core: Spanned<u32>,
        /// The first byte in external memory.
        optional address: Spanned<u64>,
        /// How many bytes of external memory; all that follow if not given.
        optional size: Spanned<u64>,
        /// Where to write them.
        required file: String,
    }
}

vocabulary! {
    /// Printed numbers.
    pub struct VpuPrint {
        /// The tile buffer.
        optional tile: Spanned<u32>,
        /// The core that has it; 0 if not given.
        optional core: Spanned<u32>,
        /// The first byte in external memory.
        optional address: Spanned<u64>,
        /// What the numbers are.
        optional number ("as"): VpuNumber,
        /// The first number, from 0.
        optional from: Spanned<u64>,
        /// How many numbers.
        optional count: Spanned<u64>,
    }
}

choices! {
    /// How components stand for colours.
    pub enum VpuPixel {
        /// FP16 red, green, blue and opacity.
        Float = "float",
        /// FP16 red, green and blue.
        FloatOpaque = "float-opaque",
        /// Whole numbers of red, green, blue and opacity, up to 255.
        Integer = "integer",
        /// A whole number of grey, up to 255.
        Grey = "grey",
        /// One component: a bit of opacity, five of red, green and blue.
        Rgb1555 = "rgb1555",
    }
}

choices! {
    /// How to print numbers.
    pub enum VpuNumber {
        /// 16 bits in hexadecimal.
        Hex = "hex",
        /// 16 bits, whole, from 0.
        U16 = "u16",
        /// 16 bits in two's complement.
        I16 = "i16",
        /// 16 bits as a float.
        F16 = "f16",
        /// 32 bits, whole, from 0.
        U32 = "u32",
        /// 32 bits in two's complement.
        I32 = "i32",
    }
}

/// The bits of a component: a whole number, or one with a point as FP16.
#[derive(Clone, Copy, Debug)]
pub struct Component(pub u16);

impl FromNode for Component {
    const EXPECTED: &'static str = "a number";

    fn from_node(node: &Node, r: &mut Reader<'_>) -> Option<Self> {
        let value = match node.value {
            Value::Float(value) => return Some(Component(f16::from_f64(value).to_bits())),
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

/// Four components; those that are not written are 0.
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
