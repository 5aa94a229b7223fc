//! `isaforge run --races`: finds unordered accesses to memory.

use std::io::Write;

use isaforge_debugger::races::{Race, Races, Side};
use isaforge_runtime::Execution;
use isaforge_runtime::machine::AccessKind;
use serde_json::json;

use crate::args::RunArgs;
use crate::failure::{Failure, Status};
use crate::output::{count, failed, plain_stdout, say, thousands};
use crate::paint::{HELP, paint};
use crate::run::engine;

/// Runs a program and reports its races.
///
/// # Errors
/// When a file cannot be read, this processor does not support the selected engine, or standard output cannot be
/// written.
pub fn races(args: &RunArgs) -> Result<Status, Failure> {
    let execution = engine::selected(args)?.unwrap_or_else(Execution::best);
    let Some(opened) = args.open(&args.launch)? else { return Ok(Status::Mistakes) };
    let opened = opened.watched(&args.launch)?;
    let mut races = Races::default();
    let ended = races.find(&*opened.machine, execution, engine::deadline(args));
    let listing = opened.listing();
    let (thread, unit) = (opened.machine.terms().thread, opened.machine.unit());
    let side = |race: &Race, which: usize| {
        let side = race.sides[which];
        let pc = if unit == 1 { format!("{:#x}", side.pc) } else { side.pc.to_string() };
        format!("{thread} {side} at {pc} `{}`", listing.text(side.pc))
    };
    let mut out = plain_stdout();
    let object = |race: &Race| {
        let side = |side: &Side| {
            let access = match side.kind {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Atomic => "atomic",
            };
            json!({ "thread": side.thread, "access": access, "pc": side.pc, "text": listing.text(side.pc) })
        };
        json!({ "kind": "race", "space": race.space, "address": race.address, "sides": race.sides.iter().map(side).collect::<Vec<_>>() })
    };
    for race in &races.found {
        if args.json {
            writeln!(out, "{}", object(race))?;
            continue;
        }
        let space = race.space.map_or(String::new(), |space| format!("{space}:"));
        writeln!(out, "race at {space}{:#x}: {}, {}", race.address, side(race, 0), side(race, 1))?;
    }
    out.flush()?;
    if let Err(reason) = ended {
        failed(&args.launch, reason);
        return Ok(Status::Mistakes);
    }
    if races.partial {
        let [words, warps] = [Races::WORDS, Races::WARPS].map(|most| thousands(most as u64));
        let message = format!("only the first {words} words and {warps} warps that access memory were tracked");
        say(&format!("{}: {message}", paint(HELP, "note")));
    }
    if !args.quiet {
        let pairs = count(races.found.len() as u64, "pair");
        say(&match races.count {
            0 => "no races".to_owned(),
            accesses => format!("{} of instructions, {} of accesses", pairs, count(accesses, "pair")),
        });
    }
    Ok(Status::mistakes_if(races.count > 0))
}
