//! `isaforge run`: runs the program of a launch file.
//!
#![doc = include_str!("README.md")]

pub mod buffers;
mod by_name;
pub mod decimal;
mod document;
pub mod engine;
pub mod init;
pub mod launch;
pub mod launched;
pub mod look;
pub mod open;
pub mod outputs;
pub mod pages;
pub mod profile;
pub mod program;
pub mod readers;
pub mod sheet;
pub mod usc;
pub mod user_defined;
pub mod valhall;
pub mod vpu;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use self::launched::Drawn;
use self::open::Opened;
use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::output::{failed, running, say};
use crate::paint::{GOOD, WARNING, paint};
use crate::picture::write_png;
use crate::{debug, input, json};

/// Runs `run`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(args: &RunArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::RUN);
    }
    input::head(&args.launch, 1)?;
    if args.races {
        return debug::races(args);
    }
    let several = !args.more.is_empty() || args.sheet.is_some();
    let alone = args.watch.looks() || args.watch.counts() || args.json || args.engine.compare || args.dump_jit;
    if several && alone && !args.watch.coverage {
        let help = "give one file, without `--sheet`; `--coverage` takes several launch files";
        return Err(Failure::usage("only one program can be observed at a time", help));
    }
    let (mut looks, mut first) = (args.watch.looks() || args.json, None);
    if args.watch.counts() && !looks {
        let Some(opened) = args.open(&args.launch)? else { return Ok(Status::Mistakes) };
        looks = !opened.launched.counts_by_name();
        first = Some(opened);
    }
    if looks && let Some(status) = look::look(args, first.take())? {
        return Ok(status);
    }
    if args.init {
        return init::init(&args.launch, args.set());
    }
    let (mut status, mut pictures) = (Status::Fine, Vec::new());
    for path in std::iter::once(&args.launch).chain(&args.more) {
        let opened = if first.is_some() { first.take() } else { args.open(path)? };
        let ended = match opened {
            Some(opened) => carry_out(args, path, opened, &mut pictures)?,
            None => Status::Mistakes,
        };
        status = if status == Status::Fine { ended } else { status };
    }
    if let Some(path) = &args.sheet {
        if pictures.is_empty() && status == Status::Fine {
            let help = "pictures are outputs `png` of launch files, and what recorded cases draw";
            return Err(Failure::usage("no launch draws a picture, so there is none for `--sheet`", help));
        }
        if pictures.is_empty() {
            return Ok(status);
        }
        sheet::write(path, &pictures, args.quiet)?;
    }
    Ok(status)
}

/// Runs a program and produces the outputs of its launch file. Its pictures are collected if a sheet was requested.
fn carry_out(args: &RunArgs, path: &Path, opened: Opened, pictures: &mut Vec<Drawn>) -> Result<Status, Failure> {
    let Opened { mut launched, target, .. } = opened;
    if args.engine.compare
        && let Some(compared) = launched.compare(args)?
    {
        return engine::report(path, args.quiet, &compared);
    }
    let started = Instant::now();
    // A program of a specification writes to standard output while it runs.
    let prints = args.spec.is_some() && io::stdout().is_terminal();
    let bar = running(&path.display().to_string(), args.quiet || prints);
    let ran = launched.run(args);
    bar.finish_and_clear();
    let ran = ran?;
    let elapsed = started.elapsed();
    engine::print_listing(args, &ran.listing)?;
    for warning in &ran.warnings {
        say(&format!("{}: {}: {warning}", path.display(), paint(WARNING, "warning")));
    }
    if let Some(profile) = &ran.profile {
        profile::show(&target.fidelity(), profile, &launched.engine(args)?, &args.watch)?;
    }
    let what = match ran.ended {
        Ok(what) => what,
        Err(reason) => {
            failed(path, reason);
            return Ok(ran.status);
        }
    };
    let done = launched.produce(args)?;
    let tell = |text: &str| {
        if !args.quiet {
            say(text);
        }
    };
    let status = if let Status::Program(status) = ran.status { format!(", status {status}") } else { String::new() };
    tell(&format!("{}: {what} in {elapsed:.1?}{status}", paint(GOOD, "ran")));
    done.iter().for_each(|line| tell(line));
    for problem in &ran.problems {
        say(&format!("{}: {problem}", path.display()));
    }
    let drawn = launched.drawn();
    if args.sheet.is_some() {
        pictures.extend(drawn);
    } else {
        for picture in &drawn {
            let (file, width, height) = (&picture.file, picture.width, picture.height());
            write_png(file, width, height, &picture.pixels)?;
            tell(&format!("wrote {} ({width} x {height})", file.display()));
        }
    }
    Ok(if ran.problems.is_empty() { ran.status } else { Status::Mistakes })
}
