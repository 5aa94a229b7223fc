//! The command line: the subcommands and shared options.
//!
//! - `code`: the arguments of commands on machine code and assembly
//! - `spec`: those of commands on specifications
//! - `run`: those of commands that execute
//! - `engine`: those that select what executes
//! - `candidates`: what shells offer for arguments
//! - [`parser`]: the parser made from them

mod candidates;
mod code;
mod engine;
pub mod parser;
mod run;
mod spec;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::builtin::{self, Builtin};
use crate::failure::Failure;
use crate::help;
use crate::input::path_parser;
use crate::target::{Target, from_specification};

pub use code::*;
pub use engine::Choice;
pub use run::*;
pub use spec::*;

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
    #[command(after_help = help::ISAS)]
    Isas(IsasArgs),
    /// Disassemble machine code
    #[command(after_help = help::DIS)]
    Dis(DisArgs),
    /// Assemble a program
    #[command(after_help = help::asm())]
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
    #[command(after_help = help::run())]
    Run(Box<RunArgs>),
    /// Debug a program: breakpoints, watchpoints, stepping forwards and backwards
    #[command(after_help = help::DEBUG)]
    Debug(DebugArgs),
    /// Show how accurately the runtime models each instruction
    #[command(after_help = help::FIDELITY)]
    Fidelity(FidelityArgs),
    /// Query corpora of shaders in SQL, if `isaforge-corpus` is installed
    #[command(disable_help_flag = true, after_help = help::CORPUS)]
    Corpus {
        /// Arguments of `isaforge-corpus`; `--help` lists them once it is installed
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
        #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR")]
        folder: PathBuf,
    },
}

/// The shells for which completions can be printed.
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
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let found = value.to_str().and_then(builtin::find);
        if found.is_none() && Path::new(value).exists() {
            let path = value.display();
            let message = format!(
                "`{path}` is a path, not an instruction set: name the set before it, or use `--spec {path}` if it is a specification\n"
            );
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message).with_cmd(command));
        }
        if let Some(why) = value.to_str().and_then(builtin::why_not) {
            let message = format!("`{}` is not a built-in instruction set: {why}\n", value.display());
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message).with_cmd(command));
        }
        found.ok_or_else(|| {
            let message = builtin::unknown(&value.to_string_lossy());
            clap::Error::raw(ErrorKind::InvalidValue, message).with_cmd(command)
        })
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
    /// Read the instruction set from this specification instead: a file, a folder that holds `isa.yaml`, or `-`
    #[arg(long, value_name = "SPEC", value_parser = path_parser())]
    pub spec: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
}

impl TargetArgs {
    /// Opens the chosen instruction set. `None` when its specification has errors, which have been reported.
    ///
    /// # Errors
    /// When the specification cannot be opened, or has a kind that the command does not support.
    pub fn open(&self) -> Result<Option<Target>, Failure> {
        match (&self.spec, self.isa) {
            (Some(spec), _) => from_specification(spec, self.generation.as_deref(), "--generation"),
            (None, Some(found)) => Ok(Some(found.into())),
            (None, None) => Err(Failure::usage("no instruction set is named", "`isaforge isas` lists them")),
        }
    }
}
