//! The command line arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::output::Format;

/// Turns corpora of shaders into tables: imports them, queries them with SQL, compares and runs them.
#[derive(Debug, Parser)]
#[command(
    name = "isaforge-corpus",
    version,
    about,
    after_help = "\
Examples:
  isaforge-corpus import --isa valhall shaders/ -o lake/
  isaforge-corpus query lake/ \\
      'SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC LIMIT 10'
  isaforge-corpus diff old/ new/

Exit status: 0 when all is well; 1 when files could not be imported or programs failed; 2 when
the command was misused, or a lake or an answer could not be read or written; 130 when it was
interrupted."
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Imports programs into a lake.
    Import(ImportArgs),
    /// Runs an SQL query.
    Query(QueryArgs),
    /// Shows the differences between two lakes.
    Diff(DiffArgs),
    /// Shows forms and modifier values that no program in a lake uses.
    Unseen(UnseenArgs),
    /// Runs the programs of a lake and stores what they compute.
    Run(RunArgs),
    /// Distributes the parts of queries to executors.
    Scheduler(SchedulerArgs),
    /// Computes parts of queries for a scheduler.
    Executor(ExecutorArgs),
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Folders are read recursively. A file is a program as `isaforge dis` reads it (raw words,
hexadecimal, what xxd and objdump print, ELF files), assembly (.s, .asm), or holds many: a text
with tabs whose last column is code and whose first line names the columns
(`# name<TAB>source<TAB>stage<TAB>words`), JSON objects with `words`, or with `name` and
`bytes`, in a list or one a line, or what Mesa's compilers print for a run of shader-db
(`BIFROST_MESA_DEBUG=shaders,verbose`). gzip is unpacked. Code that is already in the lake is
not added again, so an interrupted import resumes where it stopped.

Examples:
  isaforge-corpus import --isa valhall tests/data/valhall/shaders.tsv.gz -o lake/
  isaforge-corpus import --isa usc dumps/ more.hex -o lake/
  isaforge-corpus import --isa specs/mine.yaml captures/ -o mine/
  xxd shader.bin | isaforge-corpus import --isa valhall - -o lake/")]
pub struct ImportArgs {
    /// The instruction set: a name listed by `isaforge isas`, or the path of a specification.
    #[arg(long, value_name = "ISA")]
    pub isa: PathBuf,
    /// The generation, if the specification has several.
    #[arg(long)]
    pub generation: Option<String>,
    /// Files and folders; `-` is standard input.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The lake: a folder, or `s3://BUCKET/PREFIX`. It is created if it does not exist.
    #[arg(short, long = "output", value_name = "LAKE")]
    pub output: String,
    /// Do not print a summary.
    #[arg(short, long)]
    pub quiet: bool,
}

/// How an answer is computed and written.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The format of the answer.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// The output file; standard output by default.
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How many parts are computed in parallel; by default one per core, or one with `--memory`.
    #[arg(long, value_name = "N")]
    pub partitions: Option<usize>,
    /// The maximum memory for sorts and joins in MiB. Sorts spill to disk beyond it; what cannot ends with an error.
    #[arg(long, value_name = "MIB")]
    pub memory: Option<usize>,
}

/// `query`.
#[derive(Debug, Args)]
#[command(after_help = "\
Tables:
  programs      name, source, file, stage, isa, words, hash, code
  instructions  program, hash, isa, pc, word, bytes, opcode, mnemonic, modifiers, flow, dst, src, text, error
  origins       name, source, file, stage, isa, hash: everything that was imported, including duplicate code
  forms         isa, opcode, mnemonic, title, unit: what could occur
  variants      isa, opcode, mnemonic, modifier, value, text, is_default
  results       program, isa, hash, inputs, inputs_hash, label, error, instructions, result_hash, result: of `run`
Functions of a program's code; `isa` may be left out where the lake has one set:
  isa_count(code, form [, modifiers [, isa]])    isa_histogram(code [, isa])    isa_variants(code [, isa])
  isa_registers(code [, isa])    isa_pressure(code [, isa])    isa_text(code [, isa])

Examples:
  isaforge-corpus query lake/ 'SELECT * FROM instructions WHERE error IS NOT NULL'
  isaforge-corpus query lake/ --format csv \\
      \"SELECT name, isa_count(code, 'FMA.f32', 'clamp_0_1') AS n FROM programs\"
  isaforge-corpus query lake/ --format svg -o top.svg \\
      'SELECT mnemonic, count(*) FROM instructions GROUP BY 1 ORDER BY 2 DESC'
  isaforge-corpus query new/ --attach old=old/ \\
      'SELECT count(*) FROM programs p LEFT ANTI JOIN old.programs o ON p.hash = o.hash'
  isaforge-corpus query lake/ --remote localhost:50050 'SELECT count(*) FROM instructions'
  isaforge-corpus query lake/ - < question.sql")]
pub struct QueryArgs {
    /// The lake.
    pub lake: String,
    /// The SQL query; `-` reads it from standard input.
    pub sql: String,
    /// How the answer is computed and written.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// Another lake, whose tables appear in a schema of this name.
    #[arg(long, value_name = "NAME=LAKE")]
    pub attach: Vec<String>,
    /// The scheduler whose executors compute the answer; they must be able to access the lake under the same path or
    /// URL.
    #[arg(long, value_name = "HOST:PORT")]
    pub remote: Option<String>,
}

/// `diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Programs are matched by name, stage and set. Differences in words and register pressure are new
minus old.

Examples:
  isaforge-corpus diff before/ after/
  isaforge-corpus diff before/ after/ --forms
  isaforge-corpus diff before/ after/ --format csv -o changes.csv")]
pub struct DiffArgs {
    /// The old lake.
    pub old: String,
    /// The new lake.
    pub new: String,
    /// Show how often each instruction occurs, instead of what changed in each program.
    #[arg(long)]
    pub forms: bool,
    /// How the answer is computed and written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// `unseen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Forms that no program uses come first, then the modifier values that no program uses, of the
forms that occur.

Examples:
  isaforge-corpus unseen lake/
  isaforge-corpus unseen lake/ --format json")]
pub struct UnseenArgs {
    /// The lake.
    pub lake: String,
    /// How the answer is computed and written.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Inputs are a launch file of `isaforge run` without `isa` and `program`: groups, uniforms and
buffers for Valhall, registers and buffers for other sets. The result of a fragment or vertex
program of Valhall is its colour, that of other programs is their memory, followed for a
processor by its registers. Programs that have results with this label for these inputs are not
run again, unless they reached the time limit; inputs are identified by the content of the
launch file and of the files that it names.

Examples:
  isaforge-corpus run lake/ --inputs zeros.yaml
  isaforge-corpus run lake/ --inputs zeros.yaml --label patched
  isaforge-corpus query lake/ \\
      \"SELECT a.program FROM results a JOIN results b USING (hash, inputs_hash)
                              WHERE a.label = 'before' AND b.label = 'patched' AND a.result_hash <> b.result_hash\"")]
pub struct RunArgs {
    /// The lake.
    pub lake: String,
    /// The inputs of the programs.
    #[arg(long, value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The label of the results.
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"))]
    pub label: String,
    /// How many programs run in parallel; one per core by default.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The time limit for each program in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub time_limit: Duration,
    /// Do not print a summary.
    #[arg(short, long)]
    pub quiet: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// `scheduler`.
#[derive(Debug, Args)]
#[command(after_help = "\
Whoever reaches the port can run queries, which read files: use addresses other than those of
this machine only on trusted networks.

Examples:
  isaforge-corpus scheduler
  isaforge-corpus scheduler --bind 10.0.0.1:50050")]
pub struct SchedulerArgs {
    /// The address to listen on.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub bind: String,
    /// The number of seconds without a heartbeat after which an executor counts as dead.
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    pub executor_timeout: u64,
}

/// `executor`.
#[derive(Debug, Args)]
#[command(after_help = "\
It must reach lakes under the same paths or URLs as its clients.

Examples:
  isaforge-corpus executor --scheduler localhost:50050
  isaforge-corpus executor --scheduler 10.0.0.1:50050 --bind 10.0.0.2 --cores 16")]
pub struct ExecutorArgs {
    /// The address of the scheduler.
    #[arg(long, value_name = "HOST:PORT")]
    pub scheduler: String,
    /// The address under which others reach the executor.
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub bind: String,
    /// The port for results; a free one by default.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// How many parts it computes in parallel; one per core by default.
    #[arg(long, value_name = "N")]
    pub cores: Option<usize>,
    /// The folder for intermediate results; a temporary one by default.
    #[arg(long, value_name = "FOLDER")]
    pub work: Option<PathBuf>,
}
