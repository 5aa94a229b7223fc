//! Observation of a program on the reference engine: traces, breakpoints, counts by place.
//!
//! Everything here observes a [`Machine`], like the debugger. Runs are deterministic, so an observed program runs again
//! on the selected engine for its outputs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use isaforge_analysis::picture::flame;
use isaforge_analysis::profile::Times;
use isaforge_analysis::{Graph, Program};
use isaforge_core::explain::hex;
use isaforge_debugger::command::breakpoint;
use isaforge_debugger::counts::Counts;
use isaforge_debugger::listing::format_pc;
use isaforge_debugger::memory::Address;
use isaforge_debugger::stops::Stops;
use isaforge_debugger::trace::{Filter, Step, Trace};
use isaforge_debugger::{Listing, Session};
use isaforge_runtime::Deadline;
use isaforge_runtime::machine::{Machine, Observer, Properties, Timed};
use serde_json::{Value, json};

use super::by_name::ByName;
use super::open::{Opened, Watched};
use super::{engine, profile};
use crate::args::{ProfileForm, RunArgs};
use crate::failure::{Failure, Status};
use crate::output::{count, failed, plain_stdout, running, say, thousands, write_whole};
use crate::paint::{HELP, paint, width};

/// Observes a program, which may be open already. `None` if it must run again for its outputs.
///
/// # Errors
/// When a file cannot be read, the program cannot be observed, or standard output cannot be written.
pub fn look(args: &RunArgs, opened: Option<Opened>) -> Result<Option<Status>, Failure> {
    if args.spec.is_none() {
        engine::asked(args)?;
    }
    if args.watch.coverage {
        return coverage(args).map(Some);
    }
    let opened = opened.map_or_else(|| args.open(&args.launch), |opened| Ok(Some(opened)))?;
    let Some(opened) = opened else { return Ok(Some(Status::Mistakes)) };
    let engine = opened.launched.engine(args)?;
    let opened = opened.watched(&args.launch)?;
    let machine = Limited { machine: &*opened.machine, until: engine::deadline(args) };
    let listing = opened.listing();
    let mut out = BufWriter::new(plain_stdout());
    if args.watch.trace && !trace(args, &machine, &listing, &mut out)? {
        return Ok(Some(Status::Fine));
    }
    if !args.watch.breaks.is_empty() {
        stops(args, &machine, &listing, &mut out)?;
    }
    let form = args.watch.profile.filter(|form| *form != ProfileForm::Table);
    if !opened.counts_by_name && args.watch.counts() {
        out.flush()?;
        let mut counts = ByName::new(&opened, &listing);
        // The run that follows reports why a program fails.
        let _ = machine.run(&mut counts);
        profile::show(&opened.target.fidelity(), &counts.profile, &engine, &args.watch)?;
    }
    if !args.json && form.is_none() && args.watch.flame.is_none() {
        out.flush()?;
        return Ok(None);
    }
    let mut counts = Counts::default();
    let bar = running(&args.launch.display().to_string(), args.quiet);
    let ended = machine.run(&mut counts.of(&listing));
    bar.finish_and_clear();
    // In machines of specifications, memory is shared by all lanes.
    if ended.is_err() && args.spec.is_some() {
        counts.fail();
    }
    match form {
        _ if args.json => writeln!(out, "{}", result(&args.launch, &listing, &counts, ended.as_ref().err()))?,
        Some(ProfileForm::Listing) => out.write_all(counted(&machine, &listing, &counts).as_bytes())?,
        Some(ProfileForm::Folded) => {
            for (frames, threads) in stacks(&opened, &args.launch, &listing, &counts) {
                writeln!(out, "{} {threads}", frames.join(";"))?;
            }
        }
        _ => {}
    }
    out.flush()?;
    if let Some(path) = &args.watch.flame {
        let stacks = stacks(&opened, &args.launch, &listing, &counts);
        let title = format!("{}: instructions by {}s", args.launch.display(), machine.terms().thread);
        write_whole(path, flame::write(&stacks, &title).as_bytes())?;
        if !args.quiet {
            say(&format!("wrote {}", path.display()));
        }
    }
    if let Err(reason) = &ended {
        failed(&args.launch, reason);
    }
    // Counting by name takes a second run.
    if ended.is_ok() && args.watch.counts() {
        return Ok(None);
    }
    Ok(Some(Status::mistakes_if(ended.is_err())))
}

fn watched(args: &RunArgs, launch: &Path) -> Result<Option<Watched>, Failure> {
    args.open(launch)?.map(|opened| opened.watched(launch)).transpose()
}

/// Prints a trace. Returns whether it was printed to the end: it stops when the pipe is closed.
fn trace(args: &RunArgs, machine: &dyn Machine, listing: &Listing, out: &mut dyn Write) -> Result<bool, Failure> {
    let watch = &args.watch;
    let filter = Filter::parse(machine, listing, (&watch.threads, &watch.places, &watch.registers))
        .map_err(|reason| Failure::usage(reason, "`isaforge debug` shows the program, its labels and registers"))?;
    let width = width();
    let (mut error, mut any) = (None, false);
    let mut tell = |step: &Step| {
        any = true;
        let written = match args.json {
            true => writeln!(out, "{}", step.json(machine)),
            false => writeln!(out, "{}", step.line(machine, width)),
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(found) => {
                error = Some(found);
                ControlFlow::Break(())
            }
        }
    };
    // The run that follows reports why a program fails.
    let mut observer = Trace::new(machine, listing, filter, &mut tell);
    let ended = machine.run(&mut observer);
    let absent = observer.absent().filter(|_| ended.is_ok());
    if let Some([x, y, z]) = absent.filter(|_| error.is_none()) {
        let thread = machine.terms().thread;
        let message = format!("there is no {thread} {x},{y},{z}");
        return Err(Failure::usage(message, format!("`--thread` takes the place of a {thread} of the launch")));
    }
    let wanted = [("--thread", &watch.threads), ("--at", &watch.places), ("--register", &watch.registers)];
    let wanted = wanted.iter().flat_map(|(option, values)| values.iter().map(move |value| format!("{option} {value}")));
    let wanted: Vec<String> = wanted.collect();
    if !any && !wanted.is_empty() {
        say(&format!("no {} of the program matches {}", machine.terms().step, wanted.join(" ")));
    }
    match error {
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Some(error) => Err(error.into()),
        None => Ok(true),
    }
}

/// Prints the state of each warp that reaches a breakpoint.
fn stops(args: &RunArgs, machine: &dyn Machine, listing: &Listing, out: &mut dyn Write) -> Result<(), Failure> {
    let mut session = Session::new(machine, listing.clone());
    for place in &args.watch.breaks {
        let wrong = |reason: String| Failure::usage(format!("`--break {place}`: {reason}"), "");
        breakpoint(&mut session, place).map_err(wrong)?;
    }
    let most = args.watch.stops as usize;
    let mut stops = Stops::new(out, args.json, most);
    // The run that follows reports why a program fails.
    let _ = session.run(&mut stops);
    let count = stops.count;
    stops.error.map_or(Ok(()), Err)?;
    if count == 0 {
        say(&format!("no {} came to {}", machine.terms().warp, args.watch.breaks.join(" or ")));
    } else if count == most {
        let stops = crate::output::count(most as u64, "stop");
        say(&format!("{}: {stops} shown; `--stops N` shows more", paint(HELP, "note")));
    }
    Ok(())
}

/// The result of a run as a JSON object.
fn result(launch: &Path, listing: &Listing, counts: &Counts, error: Option<&String>) -> Value {
    let times = |pc: u64| counts.places.get(&pc).copied().unwrap_or_default();
    let place = |line: &isaforge_debugger::listing::Line| {
        let Times { warps, threads } = times(line.pc);
        json!({ "pc": line.pc, "label": line.label, "text": line.text, "warps": warps, "threads": threads })
    };
    let places: Vec<Value> = listing.lines.iter().map(place).collect();
    let other = |((pc, text), times): (&(u64, String), &Times)| {
        let Times { warps, threads } = times;
        json!({ "pc": pc, "text": text, "warps": warps, "threads": threads })
    };
    let unlisted: Vec<Value> = counts.unlisted.iter().map(other).collect();
    let range =
        |(first, bytes): &(Address, Vec<u8>)| json!({ "space": first.space, "address": first.at, "bytes": hex(bytes) });
    let memory: Vec<Value> = counts.memory.iter().map(range).collect();
    let Times { warps, threads } = counts.total();
    json!({
        "kind": "result",
        "file": launch.display().to_string(),
        "error": error,
        "status": counts.status,
        "warps": counts.warps.len(),
        "instructions": warps,
        "threads": threads,
        "memory": memory,
        "partial": counts.partial,
        "output": String::from_utf8_lossy(&counts.output),
        "places": places,
        "unlisted": unlisted,
    })
}

/// The listing of the program with counts next to each instruction.
fn counted(machine: &dyn Machine, listing: &Listing, counts: &Counts) -> String {
    let terms = machine.terms();
    let total = counts.total();
    let title = |what: &str| format!("by {what}s");
    let mut text = format!("{:>6} {:>15} {:>13} {:>6}\n", "share", title(terms.thread), title(terms.warp), "lanes");
    let times = |pc: &u64| counts.places.get(pc).copied().unwrap_or_default();
    let listed = listing.lines.iter().map(|line| (line.pc, line.label.as_ref(), &line.text, times(&line.pc)));
    let others = counts.unlisted.iter().map(|((pc, text), times)| (*pc, None, text, *times));
    let mut rows: Vec<_> = listed.chain(others).collect();
    rows.sort_by_key(|(pc, ..)| *pc);
    for (pc, label, line, Times { warps, threads }) in rows {
        if let Some(label) = label {
            text.push_str(&format!("{:44}{label}:\n", ""));
        }
        let numbers = match warps {
            0 => format!("{:>6} {:>15} {:>13} {:>6}", "-", "-", "-", "-"),
            _ => format!(
                "{:>4.1} % {:>14} {:>13} {:>6.2}",
                threads as f64 * 100.0 / total.threads.max(1) as f64,
                thousands(threads),
                thousands(warps),
                threads as f64 / warps as f64,
            ),
        };
        text.push_str(&format!("{numbers}  {:>6}  {line}\n", format_pc(machine, pc)));
    }
    text
}

/// For each executed instruction: the loops that contain it, outermost first, and its executions by threads.
fn stacks(opened: &Watched, launch: &Path, listing: &Listing, counts: &Counts) -> Vec<(Vec<String>, u64)> {
    let machine = &*opened.machine;
    let program = Program::read(&opened.set, machine.code());
    let graph = Graph::new(&program);
    let file = launch.file_name().unwrap_or_default().to_string_lossy().replace(';', ",");
    let line = |(index, line): (usize, &isaforge_debugger::listing::Line)| {
        let threads = counts.places.get(&line.pc)?.threads;
        let block = graph.block_of(index);
        let mut heads: Vec<usize> = graph.loops_around(block).collect();
        heads.reverse();
        let around = heads.iter().map(|head| {
            let first = &listing.lines[graph.blocks[*head].entries.start];
            let name = first.label.clone().unwrap_or_else(|| format_pc(machine, first.pc));
            format!("loop {name}")
        });
        let own = format!("{} {}", format_pc(machine, line.pc), line.text.replace(';', ","));
        Some((std::iter::once(file.clone()).chain(around).chain([own]).collect(), threads))
    };
    let other = |((pc, text), times): (&(u64, String), &Times)| {
        (vec![file.clone(), format!("{} {}", format_pc(machine, *pc), text.replace(';', ","))], times.threads)
    };
    let others = counts.unlisted.iter().map(other);
    listing.lines.iter().enumerate().filter_map(line).chain(others).filter(|(_, threads)| *threads > 0).collect()
}

/// Runs launch files and lists the instructions of each program that none of them executes.
fn coverage(args: &RunArgs) -> Result<Status, Failure> {
    // By the code of the program: the launch files that run it, its instructions, and their counts.
    let mut programs: BTreeMap<Vec<u8>, (Vec<&Path>, Watched, Counts)> = BTreeMap::new();
    let mut mistakes = false;
    for launch in std::iter::once(&args.launch).chain(&args.more) {
        let Some(opened) = watched(args, launch)? else {
            mistakes = true;
            continue;
        };
        let until = engine::deadline(args);
        let mut counts = Counts::default();
        if let Err(reason) = Timed::run(&*opened.machine, &mut counts.of(&opened.listing()), until) {
            failed(launch, &reason);
            mistakes = true;
        }
        let code = opened.machine.code().to_vec();
        match programs.entry(code) {
            Entry::Vacant(new) => drop(new.insert((vec![launch], opened, counts))),
            Entry::Occupied(mut known) => {
                let (launches, _, all) = known.get_mut();
                launches.push(launch);
                all.add(counts);
            }
        }
    }
    let mut out = BufWriter::new(plain_stdout());
    for (launches, opened, counts) in programs.values() {
        let (machine, listing) = (&*opened.machine, opened.listing());
        if args.json {
            writeln!(out, "{}", result(launches[0], &listing, counts, None))?;
            continue;
        }
        let names: Vec<String> = launches.iter().map(|launch| launch.display().to_string()).collect();
        let never: Vec<_> = listing.lines.iter().filter(|line| !counts.places.contains_key(&line.pc)).collect();
        let ran = listing.lines.len() - never.len();
        let of = count(listing.lines.len() as u64, machine.terms().step);
        writeln!(out, "{}: {ran} of {of} executed", names.join(", "))?;
        for line in never {
            writeln!(out, "  never  {:>6}  {}", format_pc(machine, line.pc), line.text)?;
        }
    }
    out.flush()?;
    Ok(Status::mistakes_if(mistakes))
}

/// A machine with a time limit.
pub struct Limited<'a> {
    /// The machine.
    pub machine: &'a dyn Machine,
    /// When its runs end.
    pub until: Deadline,
}

impl Machine for Limited<'_> {
    fn properties(&self) -> &Properties {
        self.machine.properties()
    }

    fn run(&self, observer: &mut dyn Observer) -> Result<(), String> {
        Timed::run(self.machine, observer, self.until)
    }
}
