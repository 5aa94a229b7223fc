//! What can be asked for on the command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use isaforge_compiler::backend::rust::SemanticsStyle;
use isaforge_runtime::{Engine, Level};

use crate::builtin::{self, Builtin};
use crate::code::{How, Order};
use crate::completion::instructions;
use crate::words::Encoding;
use crate::{debug, help};

/// Disassemble, assemble, explain and run machine code; check and compile specifications of instruction sets
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
    /// List the built-in instruction sets
    Isas(IsasArgs),
    /// Disassemble machine code
    #[command(after_help = help::DIS)]
    Dis(DisArgs),
    /// Assemble a program
    #[command(after_help = help::ASM)]
    Asm(AsmArgs),
    /// List the instructions of a set, or search them
    #[command(after_help = help::LIST)]
    List(ListArgs),
    /// Explain an instruction: every bit, operand and effect
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// Draw the control flow of a program
    #[command(after_help = help::GRAPH)]
    Graph(GraphArgs),
    /// Generate a TextMate grammar that highlights assembly
    #[command(after_help = help::GRAMMAR)]
    Grammar(GrammarArgs),
    /// Find likely mistakes in a program without running it
    #[command(after_help = help::LINT)]
    Lint(LintArgs),
    /// Run a language server for assembly and specifications
    #[command(after_help = help::LSP)]
    Lsp {
        /// Use standard input and output, which is the only transport; some editors pass this flag
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Check a specification
    #[command(after_help = help::CHECK)]
    Check(CheckArgs),
    /// Generate a crate from a specification
    #[command(after_help = help::GEN)]
    Gen(GenArgs),
    /// Compare two revisions of an ISA, and prove whether old binaries still decode the same
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),
    /// Write a manual of an instruction set as web pages
    #[command(after_help = help::MANUAL)]
    Manual(ManualArgs),
    /// Translate a program between ISA revisions
    #[command(after_help = help::TRANSLATE)]
    Translate(TranslateArgs),
    /// Replay recorded test cases and count passes and failures
    #[command(after_help = help::CONFORM)]
    Conform(ConformArgs),
    /// Run a program that a launch file describes
    #[command(after_help = help::RUN)]
    Run(Box<RunArgs>),
    /// Stop a program, look at it, go on and back
    #[command(after_help = debug::HELP)]
    Debug(debug::DebugArgs),
    /// Show how accurately the runtime models each instruction
    #[command(after_help = help::FIDELITY)]
    Fidelity(FidelityArgs),
    /// Ask corpora of shaders in SQL, where `isaforge-corpus` is installed
    #[command(disable_help_flag = true)]
    Corpus {
        /// What to do; `--help` lists it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Compile a specification, run a real shader and draw the result
    #[command(after_help = help::DEMO)]
    Demo(DemoArgs),
    /// Print a completion script for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write man pages for all commands
    #[command(after_help = help::MAN)]
    Man {
        /// Output folder
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

/// A parser of names of built-in instruction sets, in any case, which proposes and completes them.
#[derive(Clone)]
struct IsaParser(PossibleValuesParser);

fn isa_parser() -> IsaParser {
    let name = |found: &Builtin| PossibleValue::new(found.name).aliases(found.aliases).help(found.description);
    IsaParser(PossibleValuesParser::new(builtin::ALL.iter().map(name)))
}

impl TypedValueParser for IsaParser {
    type Value = &'static Builtin;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let found = value.to_str().and_then(builtin::find);
        if found.is_none() && Path::new(value).exists() {
            let path = value.display();
            let message =
                format!("`{path}` is no instruction set but a file: `--spec {path}` reads one from a specification\n");
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message).with_cmd(command));
        }
        match found {
            Some(found) => Ok(found),
            None => self.0.parse_ref(command, arg, value).and_then(|_| Err(clap::Error::new(ErrorKind::InvalidValue))),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The instruction set of a command, by name or by its specification.
#[derive(Args, Debug)]
pub struct TargetArgs {
    /// The instruction set
    #[arg(value_parser = isa_parser(), value_name = "ISA", required = true)]
    pub isa: Option<&'static Builtin>,
    /// Read the instruction set from this specification instead: a file, or a folder that holds `isa.yaml`
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
}

/// How machine code is written.
#[derive(Args, Clone, Debug)]
pub struct CodeArgs {
    /// Input format: `hex` (text, including dumps and listings) or `bin` (raw); detected by default
    #[arg(long = "in", value_enum, default_value_t, value_name = "FORM", hide_possible_values = true)]
    pub input: In,
    /// Treat the file as raw code, even if it looks like a container or text
    #[arg(long, conflicts_with = "input")]
    pub raw: bool,
    /// Byte order of hexadecimal input: bytes as in `memory`, or the `value` of a word; detected by default. With
    /// `dis --tsv --order memory`, each line is one instruction
    #[arg(long, value_enum, value_name = "ORDER", hide_possible_values = true)]
    pub order: Option<Order>,
    /// Select one shader of a container, by a prefix of its name
    #[arg(long, value_name = "NAME", conflicts_with = "raw")]
    pub shader: Option<String>,
}

impl CodeArgs {
    /// How code is to be read.
    pub fn how(&self) -> How<'_> {
        let encoding = if self.raw { Some(Encoding::Bin) } else { self.input.encoding() };
        How { encoding, order: self.order, shader: self.shader.as_deref() }
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
    /// Print tab-separated rows: word, `ok` or `invalid`, text or reason
    #[arg(long)]
    pub tsv: bool,
    /// Print one JSON object per instruction: address, bytes, text, operands, reads, writes, flow
    #[arg(long, conflicts_with_all = ["tsv", "exact"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Print words that share their text in a form that assembles to the very same word
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
    /// The program's source. Standard input if omitted or `-`
    pub file: Option<PathBuf>,
    /// Output file. Standard output if omitted or `-`. Nothing is written if the source has errors
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Output format: `hex`, one word per line, or raw `bin`
    #[arg(long, value_enum, default_value = "hex", value_name = "FORM", hide_possible_values = true)]
    pub out: Encoding,
    /// Assemble each line on its own: print its bytes, or `invalid` and the reason
    #[arg(long, requires = "order")]
    pub tsv: bool,
    /// `memory`: print bytes in memory order
    #[arg(long, value_name = "ORDER", hide_possible_values = true, requires = "tsv", value_parser = ["memory"])]
    pub order: Option<String>,
    /// Print one JSON object per instruction, or per mistake if there are any
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
    /// Colour blocks by how often they were executed: what `isaforge run --json` printed for the same program; `-` for
    /// standard input
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Output format, overriding the file extension: `svg` or `dot`
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

/// Arguments of `grammar`.
#[derive(Args, Debug)]
pub struct GrammarArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Where to write; `-` or nothing means standard output
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
    /// Show register pressure: how many registers are live before each instruction
    #[arg(long, conflicts_with = "json")]
    pub pressure: bool,
    /// Address in bytes of a further entry point; may be given several times
    #[arg(long = "entry", value_name = "ADDRESS", value_parser = place)]
    pub entries: Vec<usize>,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only list instructions with all these words in their name, title or description
    #[arg(value_name = "WORD", add = ArgValueCompleter::new(instructions))]
    pub words: Vec<String>,
    /// Print one JSON object per instruction, one per line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// What to work on.
    #[command(flatten)]
    pub target: TargetArgs,
    /// A hexadecimal word, assembly text, a mnemonic or part of one, an enum, or words to search for; `-` reads standard
    /// input. If omitted, show what holds for all programs: calling convention and control flow
    #[arg(num_args = 0.., value_name = "WORD|TEXT", add = ArgValueCompleter::new(instructions))]
    pub what: Vec<String>,
    /// Print JSON: an object per instruction with all fields, or the instructions that a search finds
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of an explained instruction
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The specification: a file, or a folder that holds `isa.yaml`
    #[arg(required_unless_present_any = ["explain", "schema", "json_schema"])]
    pub spec: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub deny_warnings: bool,
    /// Explain a diagnostic code; `list` lists all codes
    #[arg(long, value_name = "CODE", conflicts_with_all = ["spec", "deny_warnings", "schema"])]
    pub explain: Option<String>,
    /// Print the JSON Schema of specifications, for editors
    #[arg(long, conflicts_with_all = ["spec", "deny_warnings"])]
    pub schema: bool,
    /// Print one JSON object per diagnostic
    #[arg(long, conflicts_with_all = ["explain", "schema"])]
    pub json: bool,
    /// Print the JSON Schema of diagnostics
    #[arg(long)]
    pub json_schema: bool,
}

/// Arguments of `gen`.
#[derive(Args, Debug)]
pub struct GenArgs {
    /// The specification: a file, or a folder that holds `isa.yaml`
    #[arg(required_unless_present = "all", requires = "output")]
    pub spec: Option<PathBuf>,
    /// Output folder of the crate
    #[arg(short, long, value_name = "DIR", requires = "spec")]
    pub output: Option<PathBuf>,
    /// Generate every specs/NAME/isa.yaml of the project into generated/NAME
    #[arg(long, conflicts_with_all = ["spec", "output"])]
    pub all: bool,
    /// Write nothing; fail if the crate is out of date
    #[arg(long)]
    pub check: bool,
    /// Regenerate when the specification changes, and print what changed
    #[arg(long, conflicts_with = "check")]
    pub watch: bool,
    /// Style of the `Semantics` trait
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub semantics: Semantics,
    /// Generate for one hardware generation. If omitted, the crate's decoder takes the generation as an argument
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Source of the isaforge-core dependency in a new manifest, instead of the registry
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
    /// Methods default to "unimplemented"
    #[default]
    Default,
    /// Methods have no default: a missing one is a compile error
    Required,
    /// No trait is generated
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
    /// The older revision: an ISA name or a specification
    pub old: PathBuf,
    /// The newer revision, likewise; both may name one specification of several generations
    pub new: PathBuf,
    /// Generation of the older revision
    #[arg(long, value_name = "G")]
    pub old_generation: Option<String>,
    /// Generation of the newer revision
    #[arg(long, value_name = "G")]
    pub new_generation: Option<String>,
    /// Output format: `text`, `json`, or `markdown` for a pull request
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
    /// An ISA name or a specification
    pub spec: PathBuf,
    /// Output folder; created if missing
    #[arg(short, long, value_name = "DIR", required_unless_present = "serve")]
    pub output: Option<PathBuf>,
    /// Mark changes since this older revision (an ISA name or a specification)
    #[arg(long, value_name = "SPEC")]
    pub since: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G")]
    pub generation: Option<String>,
    /// Serve the manual at http://127.0.0.1:PORT, and reload it when the specification is saved
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "8017", conflicts_with = "output")]
    pub serve: Option<u16>,
}

/// Arguments of `translate`.
#[derive(Args, Debug)]
pub struct TranslateArgs {
    /// The program's revision: an ISA name or a specification
    pub from: PathBuf,
    /// The revision to translate to, likewise
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

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The launch file, or a recorded case with pictures; with `--spec` also an ELF file
    #[arg(required = false, required_unless_present = "json_schema", default_value_if("json_schema", "true", "-"))]
    pub launch: PathBuf,
    /// Run a program of this specification's instruction set: a file, or a folder that holds `isa.yaml`
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["more", "sheet"])]
    pub spec: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// After the run, write the words between `begin_signature` and `end_signature` to a file, one per line
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub signature: Option<PathBuf>,
    /// Maximum number of instructions to execute; ten billion unless the launch file sets one
    #[arg(long, value_name = "N", requires = "spec")]
    pub budget: Option<u64>,
    /// Print the compiled machine code, annotated with the instructions it came from
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "races"])]
    pub dump_jit: bool,
    /// Write a commented launch file next to an assembly program
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "trace", "breaks", "profile", "json", "flame"])]
    pub init: bool,
    /// More recorded cases; with `--coverage`, more launch files
    #[arg(value_name = "CASE")]
    pub more: Vec<PathBuf>,
    /// Draw the pictures of all recorded cases on one sheet
    #[arg(long, value_name = "FILE")]
    pub sheet: Option<PathBuf>,
    /// Look for races: threads that touch the same bytes, one of them writing, with no barrier or atomic between. Exit
    /// status 1 if there is one; no output is made
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "trace", "breaks", "profile", "fidelity", "json", "coverage", "flame"])]
    pub races: bool,
    /// Print JSON, an object a line: with `--trace` and `--break` the steps and stops, at the end the result with the memory
    /// that was written and how often each instruction ran. No output is made
    #[arg(long, conflicts_with_all = ["more", "sheet", "compare", "init", "profile", "fidelity", "profile_svg"])]
    pub json: bool,
    /// Print the JSON Schema of these objects
    #[arg(long)]
    pub json_schema: bool,
    /// Do not print execution statistics
    #[arg(short, long)]
    pub quiet: bool,
    /// Stop after this many seconds with exit status 1. By default only the budget limits a run
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
#[command(next_help_heading = "Engines (all produce the same results)")]
pub struct EngineArgs {
    /// `reference` (one instruction at a time), `handlers` (several warps at once) or `compiled` (machine code for hot
    /// code); the fastest by default
    #[arg(long, env = "ISAFORGE_ENGINE", value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true, hide_env_values = true)]
    pub engine: Option<Engine>,
    /// Host instructions to use: `portable`, `avx2`, `avx512` or `avx512fp16`; the best available by default
    #[arg(long, env = "ISAFORGE_LEVEL", value_name = "LEVEL", value_parser = level_parser(), hide_possible_values = true, hide_env_values = true)]
    pub level: Option<&'static str>,
    /// Skip the verification of machine code before it runs
    #[arg(long)]
    pub unchecked: bool,
    /// Run on all engines and levels of this processor and report the first instruction that differs, with exit status 1;
    /// no outputs are written
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
#[command(next_help_heading = "Observation")]
pub struct WatchArgs {
    /// Print every instruction a warp executes: place, active lanes, text, changed registers, stores. Lines are cut to the
    /// width of the terminal, or of `COLUMNS`
    #[arg(long)]
    pub trace: bool,
    /// Trace only what this thread executes: its place in the grid, such as `3` or `1,2`; several may be given
    #[arg(long = "thread", value_name = "X[,Y[,Z]]", requires = "trace")]
    pub threads: Vec<String>,
    /// Trace only the instruction at a label or an address; several may be given
    #[arg(long = "at", value_name = "PLACE", requires = "trace")]
    pub places: Vec<String>,
    /// Trace only changes of this register; several may be given
    #[arg(long = "register", value_name = "NAME", requires = "trace")]
    pub registers: Vec<String>,
    /// Print the warp's registers whenever one comes to a place: a label, the number of a word (the first is 0), or an address
    /// where instructions have several lengths; `PLACE if CONDITION` as in `debug`. Several may be given
    #[arg(long = "break", value_name = "PLACE")]
    pub breaks: Vec<String>,
    /// Stops that are printed at most; the program then runs to its end
    #[arg(long, value_name = "N", default_value_t = 16, requires = "breaks", value_parser = clap::value_parser!(u32).range(1..))]
    pub stops: u32,
    /// Print what was executed: `table` by name, with lanes in use and bytes moved; `listing`, the program with counts beside
    /// each instruction; `folded`, stacks of loops for flame graphs (inferno, speedscope)
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table", hide_possible_values = true)]
    pub profile: Option<ProfileForm>,
    /// Draw the program's loops and instructions as a flame graph, by executing threads
    #[arg(long, value_name = "FILE")]
    pub flame: Option<PathBuf>,
    /// Run the launch files and print which instructions of each program none of them executes
    #[arg(long, conflicts_with_all = ["trace", "breaks", "profile", "fidelity", "flame", "sheet", "compare", "init"])]
    pub coverage: bool,
    /// Print executed instructions grouped by accuracy
    #[arg(long)]
    pub fidelity: bool,
    /// Draw the profile as a bar chart
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

/// How a profile is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileForm {
    /// By name.
    Table,
    /// Beside each instruction.
    Listing,
    /// For flame graphs.
    Folded,
}

impl WatchArgs {
    /// Whether to look at each instruction.
    pub fn looks(&self) -> bool {
        let by_place = matches!(self.profile, Some(ProfileForm::Listing | ProfileForm::Folded));
        self.trace || !self.breaks.is_empty() || by_place || self.flame.is_some() || self.coverage
    }

    /// Whether to count what is executed by name.
    pub fn counts(&self) -> bool {
        self.profile == Some(ProfileForm::Table) || self.profile_svg.is_some() || self.fidelity
    }
}

/// Arguments of `fidelity`.
#[derive(Args, Debug)]
pub struct FidelityArgs {
    /// The instruction set.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only instructions with this prefix, or of a class: `exact`, `approximate`, `choice`, `unsupported`
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print tab-separated rows: instruction, class, aspect, evidence, largest error in ulp, remarks
    #[arg(long, conflicts_with = "json")]
    pub tsv: bool,
    /// Print the same as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Width and height of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 768, value_parser = clap::value_parser!(u32).range(8..=4096))]
    pub size: u32,
    /// Output file
    #[arg(short, long, value_name = "FILE", default_value = "mandelbrot.png")]
    pub output: PathBuf,
}
