//! Arguments of commands on specifications.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use isaforge_compiler::backend::rust::SemanticsStyle;

use super::candidates::{codes, sets};
use crate::input::path_parser;

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The specification: a file, or a folder that holds `isa.yaml`
    #[arg(required_unless_present_any = ["explain", "schema", "json_schema"], value_parser = path_parser())]
    pub spec: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub deny_warnings: bool,
    /// Hardware generation, by number or name, that the specification must describe; documents of AMD's GPUs need one
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Explain a diagnostic code; `list` lists all codes
    #[arg(long, value_name = "CODE", add = ArgValueCompleter::new(codes))]
    #[arg(conflicts_with_all = ["spec", "deny_warnings", "schema"])]
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
    #[arg(required_unless_present = "all", requires = "output", value_parser = path_parser())]
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
    /// Style of the `Semantics` trait (generated for fixed-length sets)
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub semantics: Semantics,
    /// Generate for one hardware generation. If omitted, the crate's decoder takes the generation as an argument
    #[arg(long, value_name = "G", requires = "spec")]
    pub generation: Option<String>,
    /// Source of the isaforge-core dependency in a new manifest, instead of the registry
    #[arg(long, value_name = "path=DIR", value_parser = core_folder)]
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
    #[arg(value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
    pub old: PathBuf,
    /// The newer revision, likewise; both may name one specification of several generations
    #[arg(value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
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
    #[arg(value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
    pub spec: PathBuf,
    /// Output folder; created if missing
    #[arg(short, long, value_name = "DIR", required_unless_present = "serve")]
    pub output: Option<PathBuf>,
    /// Mark changes since this older revision (an ISA name or a specification)
    #[arg(long, value_name = "SPEC", value_parser = path_parser(), add = ArgValueCompleter::new(sets))]
    pub since: Option<PathBuf>,
    /// Hardware generation, by number or name, if the specification describes several
    #[arg(long, value_name = "G")]
    pub generation: Option<String>,
    /// Serve the manual at http://127.0.0.1:PORT, and reload it when the specification is saved
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "8017", conflicts_with = "output")]
    pub serve: Option<u16>,
}
