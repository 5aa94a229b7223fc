//! The commands that are available at a stop, in scripts and at the terminal's prompt.

use std::fmt::Write as _;

use isaforge_core::number;
use isaforge_runtime::machine::{Bank, Register};

use crate::condition::Condition;
use crate::listing::format_pc;
use crate::memory::Address;
use crate::session::{Resume, Session, Stop, Watched};
use crate::trace::signs;
use crate::value::Format;

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Its short name; may be empty.
    pub short: &'static str,
    /// Its arguments.
    pub arguments: &'static str,
    /// A description of what it does.
    pub help: &'static str,
}

const fn command(name: &'static str, short: &'static str, arguments: &'static str, help: &'static str) -> Command {
    Command { name, short, arguments, help }
}

/// All commands.
pub const COMMANDS: [Command; 23] = [
    command("step", "s", "[N]", "execute one instruction of this warp, or N"),
    command("next", "n", "", "execute one instruction, stepping over calls"),
    command("out", "o", "", "run until the function that this warp is in returns"),
    command("back", "rs", "[N]", "step back one instruction of this warp, or N"),
    command("continue", "c", "", "run to a breakpoint, a watchpoint or the end"),
    command("reverse", "rc", "", "run back to a breakpoint, a watchpoint or the start"),
    command("to", "t", "PLACE", "run until a warp reaches a label or a place"),
    command("restart", "r", "", "go back to the start"),
    command(
        "break",
        "b",
        "[PLACE] [if CONDITION]",
        "stop at a place, on a condition (`r2 > 1.0 in any lane`), or both",
    ),
    command("watch", "w", "REGISTER [lane N] | [SPACE:]ADDRESS [BYTES]", "stop when a register or memory changes"),
    command("stops", "", "", "list breakpoints and watchpoints"),
    command("delete", "d", "N", "remove a breakpoint or a watchpoint"),
    command("where", "", "", "show the place, the warp and its lanes"),
    command("list", "l", "[PLACE]", "list the program around this instruction or a place"),
    command("lanes", "", "", "show the lanes: which are active, and their threads"),
    command("registers", "g", "[BANK] [lane N] [as FORMAT]", "show registers that are not 0; `*` marks changes"),
    command("print", "p", "REGISTER [as FORMAT]", "show a register in all live lanes"),
    command(
        "memory",
        "m",
        "[SPACE:]ADDRESS [COUNT] [lane N] [as FORMAT]",
        "show words of memory; SPACE is an address space with a memory of its own",
    ),
    command(
        "view",
        "v",
        "[[SPACE:]ADDRESS]",
        "in the terminal: keep words of memory in view; without an address, hide them",
    ),
    command("format", "f", "FORMAT", "show values as hex, u32, i32, f32 or f16 from now on"),
    command("count", "", "", "show how many instructions warps have executed"),
    command("help", "h", "", "show this list"),
    command("quit", "q", "", "leave the debugger"),
];

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Lines to show, each terminated by a line break.
    Text(String),
    /// The program resumes.
    Resume(Resume),
}

/// The maximum number of words that `memory` shows.
const WORDS: u64 = 4096;
/// The number of lines shown on each side of a place.
const AROUND: usize = 5;

/// Executes the command in a line.
///
/// # Errors
/// The error in the line.
pub fn execute(session: &mut Session<'_>, stop: &Stop<'_>, line: &str) -> Result<Answer, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let Some(command) =
        COMMANDS.iter().find(|command| command.name == word || command.short == word && !word.is_empty())
    else {
        let near = COMMANDS.iter().find(|command| !word.is_empty() && command.name.starts_with(word));
        let help = near.map_or("`help` lists them".to_owned(), |near| format!("did you mean `{}`?", near.name));
        return Err(format!("there is no command `{word}`; {help}"));
    };
    if command.arguments.is_empty() && !rest.is_empty() {
        return Err(format!("`{}` takes no arguments, not `{rest}`", command.name));
    }
    let times = || match rest {
        "" => Ok(1),
        rest => {
            number::parse(rest).filter(|n| *n > 0).ok_or_else(|| format!("`{rest}` is not a number of instructions"))
        }
    };
    let text = match command.name {
        "step" => return times().map(|n| Answer::Resume(Resume::Step(n))),
        "next" => return Ok(Answer::Resume(Resume::Over)),
        "out" if stop.depth == 0 && !stop.ended => {
            return Err("no call has led here; `step` and `next` execute an instruction".to_owned());
        }
        "out" => return Ok(Answer::Resume(Resume::Out)),
        "back" => return times().map(|n| Answer::Resume(Resume::Back(n))),
        "continue" => return Ok(Answer::Resume(Resume::Continue)),
        "reverse" => return Ok(Answer::Resume(Resume::Reverse)),
        "to" if rest.is_empty() => return Err("say where, as in `to 12`".to_owned()),
        "to" => return session.listing.place(rest).map(|pc| Answer::Resume(Resume::To(pc))),
        "restart" => return Ok(Answer::Resume(Resume::Restart)),
        "quit" => return Ok(Answer::Resume(Resume::Quit)),
        "break" => breakpoint(session, rest).map(|number| described(session, stop, number) + "\n")?,
        "watch" => watchpoint(session, stop, rest)?,
        "stops" => stops(session, stop),
        "delete" if rest.is_empty() => return Err("say which, as in `delete 1`; `stops` lists them".to_owned()),
        "delete" => match number::parse(rest) {
            Some(n) if session.remove(n as usize) => String::new(),
            _ => return Err(format!("there is no breakpoint or watchpoint `{rest}`; `stops` lists them")),
        },
        "where" => place(session, stop),
        "list" => {
            let pc = if rest.is_empty() { stop.view.at().pc } else { session.listing.place(rest)? };
            listing(session, stop, pc)
        }
        "lanes" => lanes(session, stop),
        "registers" => registers(session, stop, rest)?,
        "print" => print(session, stop, rest)?,
        "memory" => words(session, stop, rest)?,
        "view" => {
            let help = "`memory` shows words of memory once";
            return Err(format!("only the terminal keeps memory in view; {help}"));
        }
        "format" if rest.is_empty() => return Err(format!("say which: {}", Format::names())),
        "format" => {
            session.format = Format::named(rest)?;
            String::new()
        }
        "count" => format!("{}\n", stop.count),
        _ => help(),
    };
    Ok(Answer::Text(text))
}

/// Completions of the last word of a line: a command, or what it takes there. Returns the offset of the word and all
/// names that start with it.
pub fn completions(session: &Session<'_>, line: &str) -> (usize, Vec<String>) {
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (before, word) = line.split_at(start);
    let mut words = before.split_whitespace();
    let mut names = match words.next() {
        None => COMMANDS.iter().map(|command| command.name.to_owned()).collect(),
        Some(name) => {
            let is_named = |command: &&Command| command.name == name || command.short == name;
            let words: Vec<&str> = words.collect();
            COMMANDS.iter().find(is_named).map_or_else(Vec::new, |command| taken(session, command.name, &words, word))
        }
    };
    names.retain(|name| name.starts_with(word));
    (start, names)
}

/// What a command takes after some words, of which `word` may be the start of the next one.
fn taken(session: &Session<'_>, command: &str, words: &[&str], word: &str) -> Vec<String> {
    let labels = || session.listing.labels.keys().cloned();
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let spaces = || session.machine.spaces().iter().map(|space| format!("{space}:"));
    let formats = || texts(&Format::ALL.map(|(_, name)| name));
    let options = match command {
        "registers" | "print" | "memory" => &["lane", "as"][..],
        "watch" => &["lane"],
        _ => &[],
    };
    match (command, words) {
        ("to" | "list", []) => labels().collect(),
        ("break", []) => labels().chain(texts(&["if"])).collect(),
        ("break", words) if words.contains(&"if") => {
            let mut names = registers_named(session, word);
            names.extend(texts(match words {
                [.., "in"] => &["any", "all", "lane"],
                [.., "any"] => &["lane"],
                [.., "all"] => &["lanes"],
                _ => &["lane", "in"],
            }));
            names
        }
        ("break", [_]) => texts(&["if"]),
        ("watch", []) => registers_named(session, word).into_iter().chain(spaces()).collect(),
        ("print", []) => registers_named(session, word),
        ("registers", []) => {
            let banks = session.machine.banks().iter().map(bank_name);
            banks.chain(texts(options)).collect()
        }
        ("memory" | "view", []) => spaces().collect(),
        ("format", []) => formats(),
        ("delete", []) => {
            let places = session.breakpoints.iter().map(|known| known.number);
            places.chain(session.watchpoints.iter().map(|known| known.number)).map(|n| n.to_string()).collect()
        }
        (_, [.., "as"]) if options.contains(&"as") => formats(),
        (_, [.., "lane"]) => Vec::new(),
        _ => texts(options),
    }
}

/// The registers whose names start with a word: all of them, or those that the program names if there is no word yet.
fn registers_named(session: &Session<'_>, word: &str) -> Vec<String> {
    if word.is_empty() {
        let named = session.listing.registers.iter().map(|register| session.name(*register));
        return named.chain(session.listing.states.keys().cloned()).collect();
    }
    let banks = session.machine.banks().iter().enumerate();
    let all = banks.flat_map(|(bank, known)| (0..known.count).map(move |index| (bank, index)));
    let named = all.map(|(bank, index)| session.name(Register { bank: bank as u16, index }));
    named.chain(session.listing.states.keys().cloned()).filter(|name| name.starts_with(word)).collect()
}

/// Lists the commands, one per line.
pub fn help() -> String {
    let head = |command: &Command| format!("{} {}", command.name, command.arguments).trim_end().to_owned();
    let longest = COMMANDS.iter().map(|command| head(command).len()).max().unwrap_or(0);
    COMMANDS.iter().fold(String::new(), |mut text, command| {
        let _ = writeln!(text, "{:longest$}  {:3} {}", head(command), command.short, command.help);
        text
    })
}

/// Describes a stop in one line: the place, the warp and its lanes.
pub fn place(session: &Session<'_>, stop: &Stop<'_>) -> String {
    if stop.ended {
        return "the program has ended\n".to_owned();
    }
    let at = stop.view.at();
    let lanes = signs(session.machine, at.live, at.active);
    format!(
        "{}  {}  {lanes}  {}\n",
        format_pc(session.machine, at.pc),
        stop.view.origin(),
        session.text(stop.view, at.pc)
    )
}

/// Adds a breakpoint: a place, `if CONDITION`, or both. Returns its number.
///
/// # Errors
/// The error in the description.
pub fn breakpoint(session: &mut Session<'_>, rest: &str) -> Result<usize, String> {
    let rest = rest.trim();
    if rest == "if" || rest.ends_with(" if") {
        return Err("the condition after `if` is missing, as in `break 12 if r2 > 1.0`".to_owned());
    }
    let (place, condition) = match rest.strip_prefix("if ") {
        Some(condition) => ("", Some(condition)),
        None => rest.split_once(" if ").map_or((rest, None), |(place, condition)| (place.trim(), Some(condition))),
    };
    if place.is_empty() && condition.is_none() {
        return Err("say where, as in `break 12`, or when, as in `break if r2 > 1.0`".to_owned());
    }
    let pc = if place.is_empty() { None } else { Some(session.listing.place(place)?) };
    let condition = condition.map(|text| Condition::parse(text, session.names())).transpose()?;
    Ok(session.stop_at(pc, condition))
}

fn watchpoint(session: &mut Session<'_>, stop: &Stop<'_>, rest: &str) -> Result<String, String> {
    let what = watched(session, stop, rest)?;
    let number = session.watch(what);
    Ok(described(session, stop, number) + "\n")
}

/// Returns what the arguments of `watch` name.
pub(crate) fn watched(session: &Session<'_>, stop: &Stop<'_>, text: &str) -> Result<Watched, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let parsed = |text| Address::parse(text, session.machine.spaces());
    let what = match words[..] {
        [] => return Err("say what, as in `watch r2` or `watch 0x1000 16`".to_owned()),
        [name] if session.names().register(name).is_some() => Watched::Register(named(session, name)?, None),
        [name, "lane", lane] => Watched::Register(named(session, name)?, Some(lane_of(session, lane)?)),
        [address] if number::parse(address).is_some() || address.contains(':') => Watched::Memory(parsed(address)?, 4),
        [address, size] => match (parsed(address)?, number::parse(size)) {
            (address, Some(size)) if (1..=Watched::MAX_BYTES as u64).contains(&size) => {
                Watched::Memory(address, size as usize)
            }
            _ => return Err(format!("`{size}` is not a number of bytes up to {}", Watched::MAX_BYTES)),
        },
        [name] if session.names().registers(name).is_ok() => return Err(session.names().missing(name)),
        _ => return Err(format!("`{text}` is neither a register nor an address")),
    };
    if let Watched::Memory(address, size) = what {
        match address.read_mapped(stop.view, first_lane(stop), &mut [0; Watched::MAX_BYTES][..size]) {
            0 => return Err(format!("nothing is mapped at {address}")),
            mapped if mapped < size => {
                let help = format!("`watch {address} {mapped}` watches them");
                return Err(format!("only {mapped} of the {size} bytes at {address} are mapped; {help}"));
            }
            _ => {}
        }
    }
    Ok(what)
}

/// The first active lane.
pub(crate) fn first_lane(stop: &Stop<'_>) -> usize {
    stop.view.at().active.trailing_zeros() as usize % 64
}

/// Describes a breakpoint or watchpoint in one line.
fn described(session: &Session<'_>, stop: &Stop<'_>, number: usize) -> String {
    if let Some(found) = session.breakpoints.iter().find(|known| known.number == number) {
        let mut text = format!("breakpoint {number}");
        if let Some(pc) = found.pc {
            let _ = write!(text, " at {} `{}`", format_pc(session.machine, pc), session.text(stop.view, pc));
        }
        if let Some(condition) = &found.condition {
            let _ = write!(text, " if {}", condition.text);
        }
        return text;
    }
    let found = session.watchpoints.iter().find(|known| known.number == number);
    match found.map(|found| found.what) {
        Some(Watched::Register(register, None)) => format!("watchpoint {number} on {}", session.name(register)),
        Some(Watched::Register(register, Some(lane))) => {
            format!("watchpoint {number} on {} in lane {lane}", session.name(register))
        }
        Some(Watched::Memory(address, 1)) => format!("watchpoint {number} on 1 byte at {address}"),
        Some(Watched::Memory(address, size)) => format!("watchpoint {number} on {size} bytes at {address}"),
        None => String::new(),
    }
}

fn stops(session: &Session<'_>, stop: &Stop<'_>) -> String {
    let places = session.breakpoints.iter().map(|known| known.number);
    let mut numbers: Vec<usize> = places.chain(session.watchpoints.iter().map(|known| known.number)).collect();
    numbers.sort_unstable();
    numbers.iter().map(|number| described(session, stop, *number) + "\n").collect()
}

fn listing(session: &Session<'_>, stop: &Stop<'_>, pc: u64) -> String {
    let mut text = String::new();
    for line in session.around(stop.view, pc, AROUND) {
        if let Some(label) = &line.label {
            let _ = writeln!(text, "{label}:");
        }
        let here = if !stop.ended && line.pc == stop.view.at().pc { '>' } else { ' ' };
        let stops = if session.breakpoints.iter().any(|known| known.pc == Some(line.pc)) { '*' } else { ' ' };
        let _ = writeln!(text, "{here}{stops}{:>6}  {}", format_pc(session.machine, line.pc), line.text);
    }
    text
}

fn lanes(session: &Session<'_>, stop: &Stop<'_>) -> String {
    let at = stop.view.at();
    let mut text = format!("{}\n", signs(session.machine, at.live, at.active));
    for lane in (0..session.machine.lanes()).filter(|lane| at.live >> lane & 1 != 0) {
        let [x, y, z] = stop.view.thread(lane);
        let does = if at.active >> lane & 1 != 0 { "active" } else { "waits" };
        let _ = writeln!(text, "lane {lane:2}  {} ({x},{y},{z})  {does}", session.machine.terms().thread);
    }
    text
}

/// The options at the end of a command: `lane N`, `as FORMAT`.
struct Tail<'t> {
    words: Vec<&'t str>,
    lane: Option<usize>,
    format: Format,
}

fn tail<'t>(session: &Session<'_>, rest: &'t str) -> Result<Tail<'t>, String> {
    let mut tail = Tail { words: rest.split_whitespace().collect(), lane: None, format: session.format };
    loop {
        match tail.words[..] {
            [.., "lane", lane] => tail.lane = Some(lane_of(session, lane)?),
            [.., "as", format] => tail.format = Format::named(format)?,
            _ => return Ok(tail),
        }
        tail.words.truncate(tail.words.len() - 2);
    }
}

fn lane_of(session: &Session<'_>, text: &str) -> Result<usize, String> {
    let lanes = session.machine.lanes();
    let lane = number::parse(text).filter(|lane| *lane < lanes as u64);
    lane.map(|lane| lane as usize).ok_or_else(|| format!("there is no lane `{text}`, only 0 to {}", lanes - 1))
}

fn named(session: &Session<'_>, name: &str) -> Result<Register, String> {
    let found = session.names().register(name).map(|(register, _)| register);
    found.ok_or_else(|| session.names().missing(name))
}

fn registers(session: &Session<'_>, stop: &Stop<'_>, rest: &str) -> Result<String, String> {
    let Tail { words, lane, format } = tail(session, rest)?;
    let wanted = match words[..] {
        [] => None,
        [bank] => Some(bank),
        _ => return Err(format!("`{}` is not a bank of registers", words.join(" "))),
    };
    let banks = session.machine.banks();
    let is_wanted = |bank: &Bank| {
        let is_called = |wanted: &str| bank_name(bank) == wanted || bank.names.iter().any(|n| n == wanted);
        wanted.map_or(!bank.constant, is_called)
    };
    if let Some(wanted) = wanted.filter(|_| !banks.iter().any(is_wanted)) {
        let known: Vec<String> = banks.iter().map(|bank| format!("`{}`", bank_name(bank))).collect();
        let known = match &known[..] {
            [only] => format!("the only one is {only}"),
            _ => format!("the banks are {}", known.join(", ")),
        };
        let is_register = session.names().registers(wanted).is_ok();
        let help = if is_register { format!("; `print {wanted}` shows a register") } else { String::new() };
        return Err(format!("`{wanted}` is not a bank of registers; {known}{help}"));
    }
    let mut text = String::new();
    for (bank, known) in banks.iter().enumerate().filter(|(_, bank)| is_wanted(bank)) {
        for index in 0..known.count {
            let register = Register { bank: bank as u16, index };
            text.push_str(&column(session, stop, register, (lane, format), false));
        }
    }
    Ok(text)
}

/// What a bank is called where its registers are shown: what precedes their numbers, or the first of their names.
pub(crate) fn bank_name(bank: &Bank) -> String {
    let open = bank.open.trim_end_matches('[');
    if open.is_empty() { bank.name(0) } else { open.to_owned() }
}

fn print(session: &Session<'_>, stop: &Stop<'_>, rest: &str) -> Result<String, String> {
    let Tail { words, lane, format } = tail(session, rest)?;
    let [name] = words[..] else { return Err("say which register, as in `print r2 as f32`".to_owned()) };
    let registers = session.names().registers(name)?;
    Ok(registers.iter().map(|register| column(session, stop, *register, (lane, format), true)).collect())
}

/// A register in one line, as a single value if all lanes agree. Empty if all values are zero, unless zeros are wanted.
fn column(
    session: &Session<'_>,
    stop: &Stop<'_>,
    register: Register,
    (lane, format): (Option<usize>, Format),
    zeros: bool,
) -> String {
    let Some(bank) = session.machine.banks().get(usize::from(register.bank)) else { return String::new() };
    let (lanes, values) = read(session, stop, (register, bank), lane);
    let changed = lanes.iter().any(|lane| session.has_changed(register, *lane));
    if values.is_empty() {
        return if zeros { format!("{} is not there\n", bank.name(register.index)) } else { String::new() };
    }
    if !zeros && values.iter().all(|(_, value)| *value == 0) && !changed {
        return String::new();
    }
    let mark = if changed { '*' } else { ' ' };
    format!("{mark}{:6} = {}\n", bank.name(register.index), shown(&values, format, bank.width))
}

/// The lanes of a register that are shown, and their values.
fn read(
    session: &Session<'_>,
    stop: &Stop<'_>,
    (register, bank): (Register, &Bank),
    lane: Option<usize>,
) -> (Vec<usize>, Vec<(usize, u64)>) {
    let live = stop.view.at().live;
    let lanes: Vec<usize> = match lane {
        Some(lane) => vec![lane],
        None if bank.uniform => vec![0],
        None => (0..session.machine.lanes()).filter(|lane| live >> lane & 1 != 0).collect(),
    };
    let values = lanes.iter().filter_map(|lane| Some((*lane, stop.view.read(register, *lane)?))).collect();
    (lanes, values)
}

/// Values by lane, as a single one if they are the same.
fn shown(values: &[(usize, u64)], format: Format, width: u32) -> String {
    match values {
        [(_, first), rest @ ..] if rest.iter().all(|(_, value)| value == first) => format.show(*first, width),
        _ => {
            let each = values.iter().map(|(lane, value)| format!("{lane}:{}", format.show(*value, width)));
            each.collect::<Vec<_>>().join(" ")
        }
    }
}

/// The value of `REGISTER` or `[ADDRESS]`, with the options of `print`, and the address that it is of or may be.
///
/// # Errors
/// When it is neither.
pub(crate) fn value(session: &Session<'_>, stop: &Stop<'_>, text: &str) -> Result<(String, Option<Address>), String> {
    let Tail { words, lane, mut format } = tail(session, text)?;
    let name = match words[..] {
        [] => return Err("there is no expression: name a register, or an `[ADDRESS]`".to_owned()),
        [name] => name,
        _ => return Err(format!("`{text}` is neither a register nor `[ADDRESS]`")),
    };
    // As in conditions: `r2:f32`.
    let name = match name.rsplit_once(':') {
        Some((name, kind)) if session.names().register(name).is_some() || name.ends_with(']') => {
            format = Format::named(kind)?;
            name
        }
        _ => name,
    };
    if let Some(address) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        let address = Address::parse(address, session.machine.spaces())?;
        let mut bytes = [0; 4];
        let lane = lane.unwrap_or(first_lane(stop));
        let read = address.read(stop.view, lane, &mut bytes);
        read.ok_or_else(|| format!("no word is mapped at {address}"))?;
        return Ok((format.show(u32::from_le_bytes(bytes).into(), 32), Some(address)));
    }
    let Some((register, bank)) = session.names().register(name) else {
        // An array of states has several values.
        return Err(match session.names().registers(name) {
            Ok(_) => session.names().missing(name),
            Err(_) => format!("`{name}` is neither a register nor `[ADDRESS]`; commands are for the console"),
        });
    };
    let (_, values) = read(session, stop, (register, bank), lane);
    let first = values.first().map(|(_, value)| *value);
    let first = first.ok_or_else(|| format!("{name} is not there"))?;
    Ok((shown(&values, format, bank.width), Some(Address { space: None, at: first })))
}

/// Whether a condition holds, as a text, where an expression is no [`value`].
///
/// # Errors
/// What is wrong with the condition; `message` if it does not look like one.
pub(crate) fn holds(
    session: &Session<'_>,
    stop: &Stop<'_>,
    text: &str,
    message: String,
) -> Result<(String, Option<Address>), String> {
    match Condition::parse(text, session.names()) {
        Ok(condition) => Ok((condition.holds(stop.view).to_string(), None)),
        Err(reason) => Err(if text.contains(['=', '<', '>']) { reason } else { message }),
    }
}

/// Words of memory, four per line, as the command `memory` shows them.
pub(crate) fn words(session: &Session<'_>, stop: &Stop<'_>, rest: &str) -> Result<String, String> {
    let Tail { words, lane, format } = tail(session, rest)?;
    let (address, count) = match words[..] {
        [address] => (address, "4"),
        [address, count] => (address, count),
        _ => return Err("say where, as in `memory 0x1000 16`".to_owned()),
    };
    let address = Address::parse(address, session.machine.spaces())?;
    let number = number::parse(count).filter(|count| (1..=WORDS).contains(count));
    let count = number.ok_or_else(|| format!("`{count}` is not a number of words up to {WORDS}"))?;
    let lane = lane.unwrap_or(first_lane(stop));
    let mut text = String::new();
    for line in 0..count.div_ceil(4) {
        let first = address.plus(line * 16);
        let space = first.space.map_or(String::new(), |space| format!("{space}:"));
        let _ = write!(text, "{space}{:#010x}:", first.at);
        for word in line * 4..count.min(line * 4 + 4) {
            let mut bytes = [0; 4];
            match address.plus(word * 4).read(stop.view, lane, &mut bytes) {
                Some(()) => {
                    let _ = write!(text, " {}", format.show(u32::from_le_bytes(bytes).into(), 32));
                }
                None => text.push_str(" ?"),
            }
        }
        text.push('\n');
    }
    Ok(text)
}
