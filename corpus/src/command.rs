//! Runs the command line.

use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, Parser};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::SessionContext;
use isaforge_cli::output::{WholeFile, count, say, thousands};
use isaforge_cli::paint::{BOLD, ERROR, GOOD, HELP, paint};
use isaforge_compiler::suggest::{did_you_mean, one_of};

use crate::args::{AnswerArgs, Cli, Command, DiffArgs, ImportArgs, QueryArgs, RunArgs, UnseenArgs};
use crate::error::{Error, Result};
use crate::import::{self, import};
use crate::lake::{Lake, Table};
use crate::output::{self, Format};
use crate::run::{self, inputs::Inputs};
use crate::sets::{Known, Sets};
use crate::{compare, functions, session};

const FINE: u8 = 0;
const MISTAKES: u8 = 1;
const MISUSED: u8 = 2;
const INTERRUPTED: u8 = 130;

/// Set when the user presses Ctrl-C during work that can be resumed later.
static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let misuse = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if misuse { MISUSED } else { FINE });
        }
    };
    // Plans are walked recursively, and those of nested queries are deep.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(64 << 20).build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(async { tokio::spawn(dispatch(cli.command)).await }),
        Err(error) => Ok(Err(Error::File { what: "cannot start threads".to_owned(), error })),
    };
    ExitCode::from(match ended {
        Ok(Ok(status)) => status,
        Ok(Err(Error::Output(error))) if error.kind() == io::ErrorKind::BrokenPipe => FINE,
        Ok(Err(Error::Specification)) => MISTAKES,
        Ok(Err(error)) => complain(&error),
        // The panic was already reported.
        Err(_) => MISUSED,
    })
}

fn complain(error: &Error) -> u8 {
    let mut text = format!("{}: {error}", paint(ERROR, "error"));
    if !error.help().is_empty() {
        text.push_str(&format!("\n  {}: {}", paint(HELP, "help"), error.help()));
    }
    say(&text);
    MISUSED
}

async fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Import(args) => import_paths(args).await,
        Command::Query(args) => query(args).await,
        Command::Diff(args) => diff(args).await,
        Command::Unseen(args) => unseen(args).await,
        Command::Run(args) => run_programs(args).await,
        #[cfg(feature = "cluster")]
        Command::Scheduler(args) => crate::cluster::scheduler::run(args).await.map(|()| FINE),
        #[cfg(feature = "cluster")]
        Command::Executor(args) => crate::cluster::executor::run(args).await.map(|()| FINE),
        #[cfg(not(feature = "cluster"))]
        Command::Scheduler(_) | Command::Executor(_) => Err(without_cluster()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "isaforge-corpus", &mut io::stdout().lock());
            Ok(FINE)
        }
    }
}

#[cfg(not(feature = "cluster"))]
fn without_cluster() -> Error {
    let help = "build it with `cargo build --release --features cluster`";
    Error::usage("this program was built for one machine only", help)
}

fn interrupted() -> bool {
    INTERRUPT.load(Ordering::Relaxed)
}

/// Makes Ctrl-C end work at a point where it can be resumed; a second Ctrl-C ends the process.
fn listen() {
    tokio::spawn(async {
        while tokio::signal::ctrl_c().await.is_ok() {
            if INTERRUPT.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            say("ending; what is done is kept (Ctrl-C again ends at once)");
        }
    });
}

async fn import_paths(args: ImportArgs) -> Result<u8> {
    let known = Known::open(&args.isa, args.generation.as_deref())?;
    let lake = Lake::at(&args.output)?;
    listen();
    let request = import::Request {
        known: &known,
        paths: &args.paths,
        progress: !args.quiet && io::stderr().is_terminal(),
        interrupted,
    };
    let summary = import(&lake, &request).await?;
    for (file, reason) in &summary.refused {
        say(&format!("{}: {}: {reason}", paint(BOLD, file), paint(ERROR, "not imported")));
    }
    for (file, reason) in &summary.incomplete {
        say(&format!("{}: {}: {reason}", paint(BOLD, file), paint(ERROR, "not imported completely")));
    }
    if !args.quiet {
        for (file, note) in &summary.noted {
            say(&format!("{}: {}: {note}", paint(BOLD, file), paint(HELP, "note")));
        }
        let of = |number: usize, what: &str| count(number as u64, what);
        let mut text = format!(
            "{}: {} in {}, {} new with {} into {}",
            paint(GOOD, "imported"),
            of(summary.found, "program"),
            of(summary.files, "file"),
            thousands(summary.new as u64),
            count(summary.words, "word"),
            lake.name,
        );
        if summary.invalid.0 > 0 {
            let (words, programs) = summary.invalid;
            text.push_str(&format!("\n  no instructions: {} in {}", count(words, "word"), of(programs, "program")));
        }
        if summary.odd > 0 {
            text.push_str(&format!("\n  truncated within a word: {}", of(summary.odd, "program")));
        }
        if summary.empty > 0 {
            text.push_str(&format!("\n  without any code: {}", of(summary.empty, "program")));
        }
        for (files, how) in [(&summary.refused, "not imported"), (&summary.incomplete, "not imported completely")] {
            if !files.is_empty() {
                text.push_str(&format!("\n  {how}: {}", of(files.len(), "file")));
            }
        }
        say(&text);
    }
    if summary.interrupted {
        say("interrupted: run the same command to resume");
        return Ok(INTERRUPTED);
    }
    Ok(if summary.refused.is_empty() && summary.incomplete.is_empty() { FINE } else { MISTAKES })
}

fn options(args: &AnswerArgs) -> session::Options {
    session::Options { partitions: args.partitions, memory: args.memory.map(|mib| mib.saturating_mul(1 << 20)) }
}

async fn query(args: QueryArgs) -> Result<u8> {
    let mut sql = args.sql;
    if sql == "-" {
        sql.clear();
        let reading = |error| Error::File { what: "cannot read standard input".to_owned(), error };
        io::stdin().lock().read_to_string(&mut sql).map_err(reading)?;
    }
    let context = match &args.remote {
        None => session::context(&options(&args.answer))?,
        #[cfg(feature = "cluster")]
        Some(scheduler) => crate::cluster::context(scheduler, &options(&args.answer)).await?,
        #[cfg(not(feature = "cluster"))]
        Some(_) => return Err(without_cluster()),
    };
    let mut sets = session::register(&context, &Lake::at(&args.lake)?, None).await?;
    for attached in &args.attach {
        let Some((name, lake)) = attached.split_once('=') else {
            return Err(Error::usage(format!("`{attached}` does not name a lake"), "write `--attach NAME=LAKE`"));
        };
        let known = context.catalog("datafusion").is_some_and(|catalog| catalog.schema(name).is_some());
        if name.is_empty() || name != name.to_lowercase() || known {
            let message = format!("a lake cannot be attached as `{name}`");
            return Err(Error::usage(message, "choose another name, without capital letters"));
        }
        sets.extend(session::register(&context, &Lake::at(lake)?, Some(name)).await?);
    }
    functions::register(&context, &sets);
    answer(&context, &sql, &args.answer).await
}

async fn diff(args: DiffArgs) -> Result<u8> {
    let context = session::context(&options(&args.answer))?;
    let (old, new) = (Lake::at(&args.old)?, Lake::at(&args.new)?);
    let mut sets = session::register(&context, &old, Some("old")).await?;
    sets.extend(session::register(&context, &new, Some("new")).await?);
    if let Some(known) = sets.iter().find(|known| sets.is_ambiguous(&known.recipe.name)) {
        let message = format!("the lakes have programs of different `{}`", known.recipe.name);
        return Err(Error::usage(message, "import both with the same specification"));
    }
    functions::register(&context, &sets);
    answer(&context, if args.forms { compare::DIFF_FORMS } else { compare::DIFF }, &args.answer).await
}

async fn unseen(args: UnseenArgs) -> Result<u8> {
    let context = session::context(&options(&args.answer))?;
    session::register(&context, &Lake::at(&args.lake)?, None).await?;
    answer(&context, compare::UNSEEN, &args.answer).await
}

/// The maximum number of operators in a query. Plans are walked recursively, to the depth of the longest chain of
/// operators.
const MAX_OPERATORS: usize = 2000;

/// Rejects a query whose plan would be too deep for the stack.
fn is_short(sql: &str) -> Result<()> {
    // Text in quotes contains no operators.
    let parts = || sql.split('\'').step_by(2);
    let words = ["and", "or", "not", "like", "is", "between", "case"];
    let is_one = |word: &&str| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let operators: usize = parts().map(|part| part.split_whitespace().filter(is_one).count()).sum();
    let signs = parts().flat_map(str::bytes).filter(|byte| b"+-*/%|<>=".contains(byte)).count();
    match operators + signs > MAX_OPERATORS {
        true => Err(Error::usage(
            format!("the question has more than {MAX_OPERATORS} operators"),
            "lists are written as `IN (…)`, or kept in a lake of their own: `--attach`",
        )),
        false => Ok(()),
    }
}

/// The error with a table that is meant, if the one that it names does not exist.
fn of_table(error: DataFusionError) -> Error {
    let text = error.strip_backtrace();
    let name = text.split_once("table '").and_then(|(_, rest)| rest.split_once("' not found"));
    let Some((name, _)) = name else { return error.into() };
    let name = name.rsplit('.').next().unwrap_or(name);
    let known = || Table::ALL.map(Table::name).into_iter().chain(["instructions"]);
    let help = match did_you_mean(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected {}", one_of(known())),
    };
    Error::usage(format!("there is no table `{name}`"), help)
}

/// Computes an answer and writes it.
async fn answer(context: &SessionContext, sql: &str, args: &AnswerArgs) -> Result<u8> {
    is_short(sql)?;
    // Queries must not modify anything.
    let reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let planned = context.sql_with_options(sql, reads).await.map_err(of_table)?;
    let rows = planned.execute_stream().await?;
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        if args.format == Format::Parquet && io::stdout().is_terminal() {
            return Err(Error::usage("a terminal cannot show a Parquet file", "write it to a file: `-o FILE`"));
        }
        let mut out = BufWriter::with_capacity(1 << 16, Pipe { out: io::stdout(), closed: false });
        let written = output::write(rows, args.format, &mut out).await.and_then(|_| Ok(out.flush()?));
        return match written {
            Err(_) if out.get_ref().closed => Ok(FINE),
            written => written.map(|()| FINE),
        };
    };
    write_file(path, rows, args.format).await
}

/// Records whether the reader closed the pipe, which is not an error; some formats hide the reason of a failed write.
struct Pipe<W> {
    out: W,
    closed: bool,
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.closed |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

async fn write_file(path: &Path, rows: datafusion::execution::SendableRecordBatchStream, format: Format) -> Result<u8> {
    let failed = |error| Error::File { what: format!("cannot write `{}`", path.display()), error };
    let file = WholeFile::create(path).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    output::write(rows, format, &mut out).await?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.finish().map_err(failed).map(|()| FINE)
}

async fn run_programs(args: RunArgs) -> Result<u8> {
    let lake = Lake::at(&args.lake)?;
    let sets: Sets = lake.sets().await?;
    listen();
    let mut status = FINE;
    for path in &args.inputs {
        let inputs = Inputs::read(path, &sets.iter().map(AsRef::as_ref).collect::<Vec<_>>())?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let request = run::Request {
            inputs: &inputs,
            label: &args.label,
            jobs: args.jobs.unwrap_or(cores),
            time_limit: args.time_limit,
            progress: !args.quiet && io::stderr().is_terminal(),
            interrupted,
        };
        let summary = run::run(&lake, &request).await?;
        if !args.quiet {
            let of = |number: usize| count(number as u64, "program");
            say(&format!(
                "{}: {} on {} as `{}`; {} failed, {} already had results",
                paint(GOOD, "ran"),
                of(summary.ran),
                inputs.name,
                args.label,
                summary.failed,
                summary.known,
            ));
            if summary.late > 0 {
                let message = "reached the time limit and will run again: `--time-limit` and `budget` bound a run";
                say(&format!("{}: {} {message}", paint(HELP, "note"), of(summary.late)));
            }
        }
        if summary.interrupted {
            say("interrupted: run the same command to resume");
            return Ok(INTERRUPTED);
        }
        status = status.max(if summary.failed + summary.late > 0 { MISTAKES } else { FINE });
    }
    Ok(status)
}
