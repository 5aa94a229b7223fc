//! Arguments of commands on machine code and assembly.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use isaforge_core::number;

use super::candidates::{classified, explainable, instructions, sets};
use super::{Choice, TargetArgs};
use crate::code::{How, Order};
use crate::input::path_parser;
use crate::target::Target;
use crate::words::Encoding;

/// How machine code is written.
#[derive(Args, Clone, Debug)]
pub struct CodeArgs {
    /// Input format: `hex` (text, including dumps and listings) or `bin` (raw); detected by default
    #[arg(long = "in", value_enum, default_value_t, value_name = "FORM", hide_possible_values = true)]
    pub input: In,
    /// Treat the file as raw code, even if it looks like a container or text
    #[arg(long, conflicts_with = "input")]
    pub raw: bool,
    /// Byte order of hexadecimal input: bytes as in `memory`, or the `value` of a word; detected by default, with a
    /// note if both decode
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true)]
    pub order: Option<Order>,
    /// Select one shader of a container, by its name or a prefix of it
    #[arg(long, value_name = "NAME", conflicts_with = "raw")]
    pub shader: Option<String>,
    /// The address of the first byte, from which absolute branch targets count; that in an ELF file, or else 0, by
    /// default
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub address: Option<u64>,
}

impl CodeArgs {
    /// How code of a set is to be read.
    pub fn how(&self, target: &Target) -> How<'_> {
        let encoding = if self.raw { Some(Encoding::Bin) } else { self.input.encoding() };
        let (order, shader) = (self.order, self.shader.as_deref());
        How { encoding, order, shader, address: self.address, ..target.how() }
    }
}

/// Arguments of `isas`.
#[derive(Args, Debug)]
pub struct IsasArgs {
    /// Print one JSON object per instruction set
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `dis`.
#[derive(Args, Debug)]
pub struct DisArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Machine code: text, raw or in a container. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Print tab-separated rows: word, `ok` or `invalid`, text or reason. With `--order memory`, each line of the input
    /// is one instruction
    #[arg(long)]
    pub tsv: bool,
    /// Print one JSON object per instruction: address, bytes, text, operands, reads, writes, flow
    #[arg(long, conflicts_with_all = ["tsv", "exact"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Print text that assembles to the very same word, even where several words share a text or the assembler
    /// would reject the text
    #[arg(long)]
    pub exact: bool,
    /// Append a comment with the address, the bytes, and the messages waited for
    #[arg(long, conflicts_with_all = ["tsv", "json"])]
    pub comments: bool,
}

/// The format of the input words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum In {
    /// Detected from the input.
    #[default]
    Auto,
    /// Hexadecimal text.
    Hex,
    /// Raw words.
    Bin,
}

impl In {
    /// The encoding, if it is not to be detected.
    pub fn encoding(self) -> Option<Encoding> {
        match self {
            In::Auto => None,
            In::Hex => Some(Encoding::Hex),
            In::Bin => Some(Encoding::Bin),
        }
    }
}

/// Arguments of `asm`.
#[derive(Args, Debug)]
pub struct AsmArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The program's source. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// Output file. Standard output if omitted or `-`. Nothing is written if the source has errors
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Output format: `hex`, one word per line (streams and groups: their bytes, 16 per line), or raw `bin`
    #[arg(long, value_enum, default_value = "hex", value_name = "FORM", hide_possible_values = true)]
    pub out: Encoding,
    /// The address of the first byte, as in a launch file: absolute branch targets count from 0
    #[arg(long, value_name = "ADDRESS", default_value = "0", hide_default_value = true, value_parser = address, conflicts_with = "tsv")]
    pub address: u64,
    /// Assemble each line on its own, a text or a row of `dis --tsv`: print its bytes, or `invalid` and the reason.
    /// Rows without an instruction stand for their bytes. Needs `--order memory`
    #[arg(long, requires = "order")]
    pub tsv: bool,
    /// With `--tsv`, which needs it: `memory` prints bytes in memory order
    #[arg(long, value_name = "ORDER", hide_possible_values = true, requires = "tsv", value_parser = ["memory"])]
    pub order: Option<String>,
    /// Print one JSON object per instruction, or per error if there are any; errors have a `severity`
    #[arg(long, conflicts_with_all = ["out", "tsv", "output"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `graph`.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The program: assembly or machine code. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Output file: `.svg`, or `.dot` for Graphviz. Standard output if omitted or `-`
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Colour blocks by execution count, from the output of `isaforge run --json` for the same program; `-` for
    /// standard input
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Output format, overriding the file extension: `svg` or `dot`
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<GraphFormat>,
    /// Where else execution may start.
    #[command(flatten)]
    pub entries: EntryArgs,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
}

/// Arguments of `grammar`.
#[derive(Args, Debug)]
pub struct GrammarArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Output file. Standard output if omitted or `-`
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Arguments of `lint`.
#[derive(Args, Debug)]
pub struct LintArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The program: assembly or machine code. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Print one JSON object per finding, one per line
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Show register pressure: how many registers are live before each instruction
    #[arg(long, conflicts_with = "json")]
    pub pressure: bool,
    /// Where else execution may start.
    #[command(flatten)]
    pub entries: EntryArgs,
}

/// Places where execution may start, beside the first instruction.
#[derive(Args, Debug)]
pub struct EntryArgs {
    /// A further entry point: a label, or an address in bytes; may be given several times
    #[arg(long = "entry", value_name = "PLACE")]
    pub entries: Vec<String>,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only list instructions with all these words in their columns or description
    #[arg(value_name = "TERM", add = ArgValueCompleter::new(instructions))]
    pub words: Vec<String>,
    /// Print one JSON object per instruction, one per line
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Machine code as `dis` reads it, assembly text, a mnemonic or part of one, a mnemonic and one of its fields, an
    /// enum, or words to search for; `-` reads standard input. If omitted, show the calling convention and control flow
    /// of all programs
    #[arg(num_args = 0.., value_name = "WORD|TEXT", add = ArgValueCompleter::new(explainable))]
    pub what: Vec<String>,
    /// Print JSON: one object for each instruction, field, enum or search result; without arguments, one for the set
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `translate`.
#[derive(Args, Debug)]
pub struct TranslateArgs {
    /// The program's revision: an ISA name or a specification
    #[arg(value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
    pub from: PathBuf,
    /// The revision to translate to, likewise
    #[arg(value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
    pub to: PathBuf,
    /// The program. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// Generation of the program
    #[arg(long, value_name = "G")]
    pub from_generation: Option<String>,
    /// Generation to translate to
    #[arg(long, value_name = "G")]
    pub to_generation: Option<String>,
    /// Output file. Standard output if omitted or `-`. Nothing is written unless the whole program translates
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Input format: `asm`, `hex` or `bin`; detected by default
    #[arg(long = "in", value_enum, value_name = "FORM", hide_possible_values = true)]
    pub input: Option<Form>,
    /// Output format: `asm`, `hex` or `bin`; that of the input by default
    #[arg(long, value_enum, value_name = "FORM", hide_possible_values = true)]
    pub out: Option<Form>,
}

/// The forms of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Assembly.
    Asm,
    /// Words in hexadecimal.
    Hex,
    /// Raw words, least significant byte first.
    Bin,
}

/// Arguments of `conform`.
#[derive(Args, Debug)]
pub struct ConformArgs {
    /// The instruction set.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Files of recorded cases; the format is detected from the content
    #[arg(required_unless_present = "json_schema", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What executes the cases.
    #[command(flatten)]
    pub choice: Choice,
    /// List the first N failures of each file
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub failures: usize,
    /// Print one JSON object per file
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `fidelity`.
#[derive(Args, Debug)]
pub struct FidelityArgs {
    /// The instruction set.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only show instructions with this prefix, or of a class: `exact`, `approximate`, `choice`, `unsupported`
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(classified))]
    pub names: Vec<String>,
    /// Print tab-separated rows: instruction, class, aspect, evidence, largest error in ulp, remarks
    #[arg(long, conflicts_with = "json")]
    pub tsv: bool,
    /// Print the same as a JSON array
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of that array
    #[arg(long)]
    pub json_schema: bool,
}

/// Parses an address, in decimal or with `0x`.
fn address(text: &str) -> Result<u64, String> {
    number::parse(text).ok_or_else(|| "expected a number, such as 0x400".to_owned())
}
