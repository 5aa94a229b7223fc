//! `isaforge run --races`: finds unordered accesses to memory.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;

use isaforge_debugger::Listing;
use isaforge_debugger::races::{Race, Races, Side};
use isaforge_runtime::machine::{AccessKind, Machine, Observer, Timed, View};
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
    let execution = engine::selected(args)?;
    let Some(opened) = args.open(&args.launch)? else { return Ok(Status::Mistakes) };
    let opened = opened.watched(&args.launch)?;
    let mut races = Races::default();
    let ended = races.find(&*opened.machine, execution, engine::deadline(args));
    let listing = opened.listing();
    let texts = texts(args, &*opened.machine, &listing, &races.found);
    let text = |pc: u64| texts.get(&pc).map_or("", String::as_str);
    let (thread, unit) = (opened.machine.terms().thread, opened.machine.unit());
    let side = |race: &Race, which: usize| {
        let side = race.sides[which];
        let pc = if unit == 1 { format!("{:#x}", side.pc) } else { side.pc.to_string() };
        format!("{thread} {side} at {pc} `{}`", text(side.pc))
    };
    let mut out = plain_stdout();
    let object = |race: &Race| {
        let side = |side: &Side| {
            let access = match side.kind {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Atomic => "atomic",
            };
            json!({ "thread": side.thread, "access": access, "pc": side.pc, "text": text(side.pc) })
        };
        json!({ "kind": "race", "space": race.space, "address": race.address, "sides": race.sides.iter().map(side).collect::<Vec<_>>() })
    };
    for race in &races.found {
        if args.json {
            writeln!(out, "{}", object(race))?;
            continue;
        }
        let group = opened.machine.group_memory().filter(|group| group.contains(&race.address));
        let place = match (race.space, group) {
            (Some(space), _) => format!("at {space}:{:#x}", race.address),
            (None, Some(group)) => format!("in workgroup memory, byte {}", race.address - group.start),
            (None, None) => format!("at {:#x}", race.address),
        };
        writeln!(out, "race {place}: {}, {}", side(race, 0), side(race, 1))?;
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
    if races.only_repeats() {
        let repeated = thousands(Races::MAX_REPEATED);
        let message = format!("the run ended early: the last {repeated} races were all of these instructions");
        say(&format!("{}: {message}", paint(HELP, "note")));
    }
    if !args.quiet {
        let pairs = count(races.found.len() as u64, "pair");
        say(&match races.count {
            0 => "no races in this execution".to_owned(),
            // Only some accesses to each word are kept.
            accesses => format!("at least {pairs} of instructions, {} of accesses", count(accesses, "pair")),
        });
    }
    Ok(Status::mistakes_if(races.count > 0))
}

/// The texts of the instructions of races. Those that are not listed are seen in another run.
fn texts(args: &RunArgs, machine: &dyn Machine, listing: &Listing, found: &[Race]) -> BTreeMap<u64, String> {
    let places = found.iter().flat_map(|race| race.sides).map(|side| side.pc);
    let mut texts = Texts { listing, texts: places.map(|pc| (pc, listing.text(pc).to_owned())).collect() };
    if texts.texts.values().any(String::is_empty) {
        // How the run ends is known.
        let _ = Timed::run(machine, &mut texts, engine::deadline(args));
    }
    texts.texts
}

/// Takes the texts of instructions that are not listed from memory when they are executed.
struct Texts<'l> {
    listing: &'l Listing,
    texts: BTreeMap<u64, String>,
}

impl Observer for Texts<'_> {
    fn before(&mut self, view: &dyn View) -> ControlFlow<()> {
        let pc = view.at().pc;
        if let Some(text) = self.texts.get_mut(&pc).filter(|text| text.is_empty())
            && let Some(line) = self.listing.find(view, pc)
        {
            text.clone_from(&line.text);
        }
        ControlFlow::Continue(())
    }
}
