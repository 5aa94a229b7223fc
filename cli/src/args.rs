//! What can be asked for on the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use isaforge_compiler::backend::rust::SemanticsStyle;

use crate::builtin::{self, Builtin};
use crate::code::{How, Order};
use crate::completion::instructions;
use crate::help;
use crate::machine::{Engine, Level};
use crate::words::Encoding;

/// Disassembles, assembles and explains machine words; checks and compiles specifications; runs programs
#[derive(Debug, Parser)]
#[command(name = "isaforge", version, max_term_width = 100, after_help = help::TOP, arg_required_else_help = true)]
pub struct Cli {
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the built-in instruction sets, one a line, name first
    Isas,
    /// Disassemble: machine words to text, one instruction a line
    #[command(after_help = help::DIS)]
    Dis(DisArgs),
    /// Assemble: text to machine words
    #[command(after_help = help::ASM)]
    Asm(AsmArgs),
    /// List the instructions of a set, or those that a word describes
    #[command(after_help = help::LIST)]
    List(ListArgs),
    /// Show what every bit of an instruction means
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// Draw the control flow of a program
    #[command(after_help = help::GRAPH)]
    Graph(GraphArgs),
    /// Look for mistakes in a program without running it
    #[command(after_help = help::LINT)]
    Lint(LintArgs),
    /// Check a specification
    #[command(after_help = help::CHECK)]
    Check(CheckArgs),
    /// Generate a crate from a specification
    #[command(after_help = help::GEN)]
    Gen(GenArgs),
    /// Say what changed between two revisions, and whether old binaries decode the same
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),
    /// Make a manual of an instruction set: pages for a browser
    #[command(after_help = help::MANUAL)]
    Manual(ManualArgs),
    /// Say a program of one revision in the words of another
    #[command(after_help = help::TRANSLATE)]
    Translate(TranslateArgs),
    /// Replay recorded cases and count what agrees
    #[command(after_help = help::CONFORM)]
    Conform(ConformArgs),
    /// Run a program that a launch file describes
    #[command(after_help = help::RUN)]
    Run(RunArgs),
    /// Say how true the runtime's instructions are to the hardware
    #[command(after_help = help::FIDELITY)]
    Fidelity(FidelityArgs),
    /// Compile a specification, run a real shader on it, draw a picture
    #[command(after_help = help::DEMO)]
    Demo(DemoArgs),
    /// Print a completion script for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages of the command, for `man`
    #[command(after_help = help::MAN)]
    Man {
        /// The folder that they go to
        #[arg(short = 'o', long = "out", value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Shells that complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash.
    Bash,
    /// Elvish.
    Elvish,
    /// Fish.
    Fish,
    /// PowerShell.
    #[value(name = "powershell")]
    PowerShell,
    /// Zsh.
    Zsh,
}

impl Shell {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Elvish => "elvish",
            Shell::Fish => "fish",
            Shell::PowerShell => "powershell",
            Shell::Zsh => "zsh",
        }
    }
}

/// A parser of names of built-in instruction sets, which proposes and completes them.
fn isa_parser() -> impl TypedValueParser<Value = &'static Builtin> {
    let name = |found: &Builtin| PossibleValue::new(found.name).aliases(found.aliases).help(found.description);
    let names = builtin::ALL.iter().map(name);
    PossibleValuesParser::new(names).try_map(|name| builtin::find(&name).ok_or("no such instruction set"))
}

/// The instruction set of a command, by name or by its specification.
#[derive(Args, Debug)]
pub struct TargetArgs {
    /// The instruction set
    #[arg(value_parser = isa_parser(), value_name = "ISA", required = true)]
    pub isa: Option<&'static Builtin>,
    /// A specification in place of ISA: its entry, or the folder with its `isa.yaml`; nothing is generated
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    /// The generation of the hardware, where the specification tells several apart: its number or its name
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
}

/// How machine code is written.
#[derive(Args, Clone, Copy, Debug)]
pub struct CodeArgs {
    /// How the code is written: `hex` text, of which there are many forms, or raw `bin`; detected by default
    #[arg(long = "in", value_enum, default_value_t, value_name = "FORM", hide_possible_values = true)]
    pub input: In,
    /// Take the bytes of a file as they are, whatever they look like
    #[arg(long, conflicts_with = "input")]
    pub raw: bool,
    /// How digits are put together: bytes in the order of `memory`, or the `value` of a word; detected by default. With
    /// `dis --tsv`, `memory` takes every line for an instruction by itself
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true)]
    pub order: Option<Order>,
}

impl CodeArgs {
    /// How code is to be read.
    pub fn how(self) -> How {
        How { encoding: if self.raw { Some(Encoding::Bin) } else { self.input.encoding() }, order: self.order }
    }
}

/// Arguments of `dis`.
#[derive(Args, Debug)]
pub struct DisArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// What to disassemble: code as text, raw or in a container; `-` or nothing means standard input
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Print a table: word, `ok` or `invalid`, text or reason
    #[arg(long)]
    pub tsv: bool,
    /// Print one JSON object an instruction: address, bytes, text, operands, reads, writes, flow
    #[arg(long, conflicts_with_all = ["tsv", "exact"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Tell apart words that customarily share a text, so that every text assembles to its very word
    #[arg(long)]
    pub exact: bool,
}

/// How words come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum In {
    /// Find out.
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
    /// The program's text; `-` or nothing means standard input
    pub file: Option<PathBuf>,
    /// Where to write; `-` or nothing means standard output. Nothing is written if the text has mistakes
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How to write the words: `hex`, one a line, or raw `bin`
    #[arg(long, value_enum, default_value = "hex", value_name = "FORM", hide_possible_values = true)]
    pub out: Encoding,
    /// Every line is an instruction by itself: print its bytes, or `invalid` and the reason
    #[arg(long, requires = "order")]
    pub tsv: bool,
    /// `memory`: bytes are printed in the order of memory
    #[arg(long, value_name = "ORDER", hide_possible_values = true, requires = "tsv", value_parser = ["memory"])]
    pub order: Option<String>,
}

/// Arguments of `graph`.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The program: assembly (`.s`, `.asm`), code as text, raw or in a container; `-` or nothing means standard input
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Where to write: `.svg` is a picture, `.dot` is for Graphviz; `-` or nothing means standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to write, whatever the name: `svg` or `dot`
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<GraphFormat>,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
}

/// Arguments of `lint`.
#[derive(Args, Debug)]
pub struct LintArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The program: assembly (`.s`, `.asm`), code as text, raw or in a container; `-` or nothing means standard input
    pub file: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub code: CodeArgs,
    /// Print one JSON object a finding, each on a line of its own
    #[arg(long)]
    pub json: bool,
    /// Show how many registers are live before each instruction instead
    #[arg(long, conflicts_with = "json")]
    pub pressure: bool,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only instructions with all of these words in their name, title or description
    #[arg(value_name = "WORD", add = ArgValueCompleter::new(instructions))]
    pub words: Vec<String>,
    /// Print one JSON object an instruction, each on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// A word in hexadecimal, an instruction's text, its name, or words that describe it; `-` reads it from standard input;
    /// without it, what holds for all programs
    #[arg(num_args = 0.., value_name = "WORD|TEXT", add = ArgValueCompleter::new(instructions))]
    pub what: Vec<String>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The entry of the specification, or the folder that holds its `isa.yaml`
    #[arg(required_unless_present_any = ["explain", "schema"])]
    pub spec: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub deny_warnings: bool,
    /// What is behind the code of an error or a warning; `list` has all codes
    #[arg(long, value_name = "CODE", conflicts_with_all = ["spec", "deny_warnings", "schema"])]
    pub explain: Option<String>,
    /// The language of specifications as a JSON Schema, for editors
    #[arg(long, conflicts_with_all = ["spec", "deny_warnings"])]
    pub schema: bool,
}

/// Arguments of `gen`.
#[derive(Args, Debug)]
pub struct GenArgs {
    /// The entry of the specification, or the folder that holds its `isa.yaml`
    #[arg(required_unless_present = "all", requires = "output")]
    pub spec: Option<PathBuf>,
    /// The folder of the crate
    #[arg(short, long, value_name = "DIR", requires = "spec")]
    pub output: Option<PathBuf>,
    /// Every specs/NAME/isa.yaml of the project to generated/NAME
    #[arg(long, conflicts_with_all = ["spec", "output"])]
    pub all: bool,
    /// Write nothing; fail if the crate is not what would be written
    #[arg(long)]
    pub check: bool,
    /// Write again whenever a file of a specification is saved, and say what changed
    #[arg(long, conflicts_with = "check")]
    pub watch: bool,
    /// The trait of semantic stubs: methods with bodies, methods to be written, or no trait
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub semantics: Semantics,
    /// The generation that the crate is of, where the specification tells several apart; without it, the crate is told the
    /// generation when it decodes
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Where a new crate finds isaforge-core; without it, in the registry
    #[arg(long, value_name = "path=DIR", value_parser = core_folder, requires = "output")]
    pub core: Option<PathBuf>,
}

/// Reads `path=DIR`.
fn core_folder(given: &str) -> Result<PathBuf, String> {
    match given.strip_prefix("path=") {
        Some(folder) if Path::new(folder).join("Cargo.toml").is_file() => Ok(folder.into()),
        Some(folder) => Err(format!("there is no package in `{folder}`; name the folder `core` of a checkout")),
        None => Err("write `path=` and the folder `core` of a checkout".to_owned()),
    }
}

/// The style of semantic stubs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Semantics {
    /// Each method has a body that says "unimplemented"
    #[default]
    Default,
    /// No method has a body: forgetting one does not compile
    Required,
    /// No trait
    None,
}

impl Semantics {
    /// The compiler's word for it.
    pub fn style(self) -> SemanticsStyle {
        match self {
            Semantics::Default => SemanticsStyle::Default,
            Semantics::Required => SemanticsStyle::Required,
            Semantics::None => SemanticsStyle::None,
        }
    }
}

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The older revision: the name of an instruction set, or a specification
    pub old: PathBuf,
    /// The newer revision, likewise; two generations may be of one specification
    pub new: PathBuf,
    /// The generation of the older revision, where its specification tells several apart
    #[arg(long, value_name = "G")]
    pub old_generation: Option<String>,
    /// The generation of the newer revision, likewise
    #[arg(long, value_name = "G")]
    pub new_generation: Option<String>,
    /// How to write it: `text`, `json`, or `markdown` for a pull request
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub format: DiffFormat,
}

/// How a difference is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For a terminal.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// For a pull request.
    Markdown,
}

/// Arguments of `manual`.
#[derive(Args, Debug)]
pub struct ManualArgs {
    /// The name of an instruction set, or a specification
    pub spec: PathBuf,
    /// The folder to write; made if it is not there
    #[arg(short, long, value_name = "DIR", required_unless_present = "serve")]
    pub output: Option<PathBuf>,
    /// An older revision, likewise a name or a specification: pages then say what changed
    #[arg(long, value_name = "SPEC")]
    pub since: Option<PathBuf>,
    /// The generation of the hardware, where the specification tells several apart: its number or its name
    #[arg(long, value_name = "G")]
    pub generation: Option<String>,
    /// Show the manual at http://127.0.0.1:PORT, and again whenever the specification is saved
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "8017", conflicts_with = "output")]
    pub serve: Option<u16>,
}

/// Arguments of `translate`.
#[derive(Args, Debug)]
pub struct TranslateArgs {
    /// The revision of the program: the name of an instruction set, or a specification
    pub from: PathBuf,
    /// The revision to say it in, likewise
    pub to: PathBuf,
    /// The program; `-` or nothing means standard input
    pub file: Option<PathBuf>,
    /// The generation of the program, where its specification tells several apart
    #[arg(long, value_name = "G")]
    pub from_generation: Option<String>,
    /// The generation to say it in, likewise
    #[arg(long, value_name = "G")]
    pub to_generation: Option<String>,
    /// Where to write; `-` or nothing means standard output. Nothing is written unless all of it can be said
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What the program is: `asm`, `hex` or `bin`; detected by default
    #[arg(long = "in", value_enum, value_name = "FORM", hide_possible_values = true)]
    pub input: Option<Form>,
    /// What to write: `asm`, `hex` or `bin`; by default what came in
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
    /// The instruction set
    #[arg(value_parser = isa_parser(), value_name = "ISA")]
    pub isa: &'static Builtin,
    /// Files with recorded cases; the format is recognised by the content
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// List the first N failures of each file
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub failures: usize,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The launch file, or a recorded case with pictures; with `--spec` also an ELF file
    pub launch: PathBuf,
    /// A specification that says what its instructions do: its entry, or the folder with its `isa.yaml`. The program is one
    /// of its instruction set
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["more", "sheet"])]
    pub spec: Option<PathBuf>,
    /// The generation of the hardware, where the specification describes several: its number or its name
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Write what the program leaves between the symbols `begin_signature` and `end_signature`, a word a line
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub signature: Option<PathBuf>,
    /// The most instructions to execute; ten billion if neither this nor the launch file says it
    #[arg(long, value_name = "N", requires = "spec")]
    pub budget: Option<u64>,
    /// Print the machine code that was made, with the instructions it comes from
    #[arg(long, requires = "spec")]
    pub dump_jit: bool,
    /// Write a launch file for a program in assembly beside it, with all keys that it could have
    #[arg(long, conflicts_with_all = ["spec", "more", "sheet", "compare"])]
    pub init: bool,
    /// More recorded cases
    #[arg(value_name = "CASE")]
    pub more: Vec<PathBuf>,
    /// Draw all pictures of recorded cases on one
    #[arg(long, value_name = "FILE")]
    pub sheet: Option<PathBuf>,
    /// Do not say how much was executed
    #[arg(short, long)]
    pub quiet: bool,
    /// End after so many seconds; the exit status is 1 then. Without it a program ends with its budget
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// What executes the program.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// What to look at meanwhile.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// What executes a program.
#[derive(Args, Debug)]
#[command(next_help_heading = "Engines, which all give the same results")]
pub struct EngineArgs {
    /// `reference` (an instruction at a time), `handlers` (several warps at once) or `compiled` (and machine code for
    /// what runs often); the fastest by default
    #[arg(long, env = "ISAFORGE_ENGINE", value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true, hide_env_values = true)]
    pub engine: Option<Engine>,
    /// The instructions of this processor that are used: `portable`, `avx2` or `avx512`; the best by default
    #[arg(long, env = "ISAFORGE_LEVEL", value_name = "LEVEL", value_parser = level_parser(), hide_possible_values = true, hide_env_values = true)]
    pub level: Option<&'static str>,
    /// Do not check machine code before it is executed
    #[arg(long)]
    pub unchecked: bool,
    /// Run on all engines and levels of this processor, and name the first instruction that differs. Exit status 1
    /// if one does; no output is made
    #[arg(long, conflicts_with_all = ["engine", "level", "trace", "breaks", "profile", "fidelity", "profile_svg"])]
    pub compare: bool,
}

/// A number of seconds, perhaps with a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds is expected".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

fn engine_parser() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name))
        .map(|name| Engine::ALL.into_iter().find(|engine| engine.name() == name).unwrap_or(Engine::Reference))
}

fn level_parser() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(Level::NAMES)
        .map(|name| Level::NAMES.into_iter().find(|known| *known == name).unwrap_or(Level::NAMES[0]))
}

/// What to look at while a program runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Looking on")]
pub struct WatchArgs {
    /// Print every instruction a warp executes: place, lanes, text, registers changed
    #[arg(long)]
    pub trace: bool,
    /// Stop before this word of the program (the first is 0; of the USC this offset in bytes) and print the warp's
    /// registers; several may be given
    #[arg(long = "break", value_name = "PC", value_parser = place)]
    pub breaks: Vec<usize>,
    /// Print what was executed: instructions, lanes in use, bytes moved
    #[arg(long)]
    pub profile: bool,
    /// Print which instructions were executed, by how true they are to the hardware
    #[arg(long)]
    pub fidelity: bool,
    /// Draw the profile as bars
    #[arg(long, value_name = "FILE")]
    pub profile_svg: Option<PathBuf>,
}

/// A number, in hexadecimal behind `0x`.
fn place(text: &str) -> Result<usize, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| error.to_string())
}

impl WatchArgs {
    /// Whether anything is to be looked at.
    pub fn any(&self) -> bool {
        self.trace || !self.breaks.is_empty() || self.counts()
    }

    /// Whether to count what is executed.
    pub fn counts(&self) -> bool {
        self.profile || self.profile_svg.is_some() || self.fidelity
    }
}

/// Arguments of `fidelity`.
#[derive(Args, Debug)]
pub struct FidelityArgs {
    /// The instruction set
    #[arg(value_parser = isa_parser(), value_name = "ISA")]
    pub isa: &'static Builtin,
    /// Only instructions whose name begins like this, or classes: `exact`, `approximate`, `choice`, `unsupported`
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print a table: instruction, class, what of it, evidence, worst distance in ulp, remarks
    #[arg(long, conflicts_with = "json")]
    pub tsv: bool,
    /// Print the same as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Pixels on each side of the picture
    #[arg(long, value_name = "PIXELS", default_value_t = 768, value_parser = clap::value_parser!(u32).range(8..=4096))]
    pub size: u32,
    /// Where to write the picture
    #[arg(short, long, value_name = "FILE", default_value = "mandelbrot.png")]
    pub output: PathBuf,
}
