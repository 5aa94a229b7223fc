//! `isaforge dis`: disassembles machine code.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};

use isaforge_analysis::Set;
use isaforge_analysis::entry::{self, entries, entries_with_calls};
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::explain::hex;
use isaforge_core::print::{Style, print};
use isaforge_core::program::{disassemble_at, refused};
use isaforge_core::text::Line;

use crate::args::DisArgs;
use crate::builtin::Tables;
use crate::code::{self, Bytes, Order, Symbols};
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::mistakes::{Mistake, describe, report};
use crate::output::{Text, count, plain_stdout, progress, say};
use crate::paint::{BOLD, HELP, paint};
use crate::program::assembly_in;
use crate::target::Target;
use crate::words::{self, Encoding, word_digits};
use crate::{groups, json, labels, rows, streams};

/// Runs `dis`.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub fn dis(args: &DisArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::INSTRUCTION);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let input = Input::read(args.file.as_deref())?;
    let style = if args.exact { Style::Exact } else { Style::Customary };
    let is_raw = args.code.how(&target).encoding == Some(Encoding::Bin);
    if is_raw && args.code.order.is_some() {
        let message = "`--order` is the order of digits, and the input is read as raw bytes";
        return Err(Failure::usage(message, "leave out `--order`"));
    }
    if args.tsv && args.code.order == Some(Order::Memory) {
        return rows::dis(target.tables, &input, style);
    }
    let found = code::read(target.tables, &input, args.code.how(&target))?;
    found.say_note(&input);
    let mut out = BufWriter::with_capacity(1 << 16, plain_stdout());
    let taken = found.symbols.values().map(String::as_str).collect();
    let listing = |address| {
        let set = target.set().at(address);
        Listing { args, target: &target, set, style, name: &input.name, taken: &taken }
    };
    let mut invalid = false;
    if found.shaders.is_empty() {
        invalid = listing(found.address).write(&found.code, &found.symbols, None, &mut out)?;
    }
    for (number, shader) in (1..).zip(&found.shaders) {
        let bytes = found.code.bytes.get(shader.bytes.clone()).unwrap_or_default().to_vec();
        let code = Bytes { bytes, lines: Vec::new() };
        let symbols = found.symbols.range(shader.bytes.clone());
        let symbols = symbols.map(|(at, name)| (at - shader.bytes.start, name.clone())).collect();
        invalid |= listing(shader.address).write(&code, &symbols, Some((number, &shader.name)), &mut out)?;
    }
    out.flush()?;
    if let Some(note) = limits(target.tables, &found.code.bytes).filter(|_| !args.exact) {
        say(&format!("{}: {}: {note}", paint(BOLD, &input.name), paint(HELP, "note")));
    }
    if let Some(mistake) = &found.mistake {
        let is_text = args.code.how(&target).encoding.is_none() && found.code.bytes.is_empty();
        match is_text.then(|| assembly_in(target.tables, &input, mistake)).flatten() {
            Some((text, assembly)) if !assembly.errors.is_empty() => {
                report(&input.name, text, &assembly.errors);
                say(&format!("{}: {ASSEMBLY}", paint(HELP, "help")));
            }
            Some(_) => {
                let (message, help) = (ASSEMBLY.to_owned(), "`isaforge dis` reads machine code".to_owned());
                say(&describe(&input.name, &Mistake { message, help, place: mistake.place }));
            }
            None => say(&describe(&input.name, mistake)),
        }
    }
    Ok(Status::mistakes_if(invalid || found.mistake.is_some()))
}

/// Says how many instructions the assembler does not accept, although they decode.
fn limits(tables: Tables, bytes: &[u8]) -> Option<String> {
    let Tables::Words(isa) = tables else { return None };
    if isa.limits.is_empty() {
        return None;
    }
    let is_refused = |word: &u64| decode(isa, *word).is_ok_and(|opcode| refused(isa, opcode, *word).is_some());
    let all = words::of_bytes(isa, bytes).iter().filter(|word| is_refused(word)).count();
    let breaks = if all == 1 { "breaks" } else { "break" };
    let found = count(all as u64, "instruction");
    (all > 0)
        .then(|| format!("{found} {breaks} a limit of the assembler; `--exact` writes such instructions as `.word`"))
}

const ASSEMBLY: &str = "this is assembly, which `isaforge asm` reads";

/// The number (from 1) and the name of one of several shaders.
type Numbered<'a> = Option<(usize, &'a str)>;

/// How programs are printed.
struct Listing<'a> {
    args: &'a DisArgs,
    target: &'a Target,
    set: Set,
    style: Style,
    /// The name of the input in messages.
    name: &'a str,
    /// The symbols of the file.
    taken: &'a HashSet<&'a str>,
}

impl Listing<'_> {
    /// Writes a program as text, a table or JSON objects. Returns whether any of it is invalid.
    fn write(&self, code: &Bytes, symbols: &Symbols, shader: Numbered<'_>, out: &mut impl Write) -> io::Result<bool> {
        let Listing { args, style, ref set, taken, .. } = *self;
        if args.json {
            return objects(set, &code.bytes, (symbols, taken), shader, out);
        }
        if args.tsv {
            let name = shader.map_or(String::new(), |(_, name)| format!("\t{name}"));
            return match self.target.tables {
                Tables::Words(isa) => table(isa, &words::of_bytes(isa, &code.bytes), style, &name, out),
                Tables::Groups(isa) => groups::dis::table(isa, code, &name, out),
                Tables::Streams(engine) => streams::dis::table(engine, &code.bytes, style, &name, self.name, out),
            };
        }
        if shader.is_none() && symbols.is_empty() && !args.comments {
            return self.text(code, out);
        }
        let mut text = Vec::new();
        let invalid = self.text(code, &mut text)?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if let Some((number, name)) = shader {
            let gap = if number == 1 { "" } else { "\n" };
            writeln!(out, "{gap}# {name}")?;
        }
        if shader.is_some() || !symbols.is_empty() {
            text = labels::renamed(set, &code.bytes, &text, (symbols, taken), shader.map(|(number, _)| number));
        }
        if args.comments {
            comments(set, &code.bytes, &text, out)?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        Ok(invalid)
    }

    /// Writes the text of a program. Returns whether any of it is invalid.
    fn text(&self, code: &Bytes, out: &mut impl Write) -> io::Result<bool> {
        let base = self.set.base;
        Ok(match self.target.tables {
            Tables::Words(isa) => {
                let mut text = Text::new(out);
                let words = words::of_bytes(isa, &code.bytes);
                let invalid = disassemble_at(isa, &words, base, self.style, &mut text);
                text.finish()?;
                invalid.unwrap_or(0) > 0
            }
            Tables::Groups(isa) => groups::dis::text(isa, code, base, out)?,
            Tables::Streams(engine) => streams::dis::text(engine, (&code.bytes, base), self.style, self.name, out)?,
        })
    }
}

/// Writes a listing with comments: the address and bytes of each instruction, and the messages it waits for.
fn comments(set: &Set, bytes: &[u8], text: &str, out: &mut impl Write) -> io::Result<()> {
    let starts = |line: &&str| labels::starts_instruction(set.tables, line);
    let mark = if matches!(set.tables, Tables::Groups(_)) { "#" } else { "//" };
    let width =
        text.lines().filter(starts).map(|line| line.chars().count()).max().unwrap_or(0).min(COMMENT_COLUMN_LIMIT);
    let mut entries = entries(set, bytes);
    for line in text.lines() {
        let Some(entry) = (if starts(&line) { entries.next() } else { None }) else {
            writeln!(out, "{line}")?;
            continue;
        };
        let code = bytes.get(entry.bytes.clone()).unwrap_or_default();
        let digits = match set.tables {
            Tables::Words(isa) => {
                format!("{:0w$x}", words::of_bytes(isa, code).first().unwrap_or(&0), w = word_digits(isa))
            }
            _ => hex(code),
        };
        let waits = entry.instruction.as_ref().map_or(0, |instruction| instruction.flow.waits);
        let slots: Vec<String> = json::slot_numbers(waits).iter().map(u32::to_string).collect();
        let waits = if slots.is_empty() { String::new() } else { format!("  waits for slots {}", slots.join(", ")) };
        let address = set.address(entry.bytes.start as u64);
        writeln!(out, "{line:width$} {mark} {address:#06x}  {digits}{waits}")?;
    }
    Ok(())
}

/// Lines longer than this push their comments to the right of the comment column.
const COMMENT_COLUMN_LIMIT: usize = 72;

/// The number of instructions between updates of the progress bar.
const OFTEN: usize = 1 << 12;

/// Writes a JSON object per instruction. Returns whether any is invalid. The first one waits for the end of the input:
/// a branch further down may give its place a label, which it then shows.
fn objects(
    set: &Set,
    bytes: &[u8],
    (symbols, taken): (&Symbols, &HashSet<&str>),
    shader: Numbered<'_>,
    out: &mut impl Write,
) -> io::Result<bool> {
    let mut labels = entry::labels(set, bytes);
    let entries = entries_with_calls(set, bytes, labels.keys().copied());
    labels.values_mut().for_each(|label| *label = labels::unique(label, shader.map(|(number, _)| number), taken));
    labels.extend(symbols.iter().map(|(at, name)| (*at, name.clone())));
    let code = json::Code { set, bytes, labels: &labels, shader: shader.map(|(_, name)| name) };
    // If the output is a terminal, it shows the progress itself.
    let bar = progress("dis", if io::stdout().is_terminal() { 0 } else { bytes.len() as u64 });
    let mut invalid = false;
    for (number, entry) in entries.enumerate() {
        if number.is_multiple_of(OFTEN) {
            bar.set_position(entry.bytes.start as u64);
        }
        json::line(out, &code.entry(&entry))?;
        invalid |= entry.instruction.is_err();
    }
    bar.finish_and_clear();
    Ok(invalid)
}

/// Writes `word<TAB>ok<TAB>text` or `word<TAB>invalid<TAB>reason` for every word, followed by `tail`. Returns whether
/// any word is invalid.
///
/// # Errors
/// When the output cannot be written.
pub fn table(isa: &'static Isa, words: &[u64], style: Style, tail: &str, out: &mut impl Write) -> io::Result<bool> {
    let digits = word_digits(isa);
    let mut line = Line::new();
    let mut invalid = false;
    for &word in words {
        match decode(isa, word) {
            Ok(opcode) => {
                let text = (style == Style::Exact).then(|| refused(isa, opcode, word)).flatten();
                line.clear();
                print(isa, opcode, word, style, &mut line);
                writeln!(out, "{word:0digits$x}\tok\t{}{tail}", text.as_deref().unwrap_or(line.as_str()))?;
            }
            Err(error) => {
                invalid = true;
                writeln!(out, "{word:0digits$x}\tinvalid\t{error}{tail}")?;
            }
        }
    }
    Ok(invalid)
}
