//! `isaforge dis`: machine words to text.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use isaforge_analysis::Program;
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::print::{Style, print};
use isaforge_core::program::disassemble;
use isaforge_core::text::Line;

use crate::args::DisArgs;
use crate::builtin::Tables;
use crate::code::{self, Bytes, Order};
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::output::{Text, say};
use crate::paint::{BOLD, ERROR, HELP, paint};
use crate::program::machine_code;
use crate::target::Target;
use crate::words::{self, Mistake, Place, word_digits};
use crate::{groups, json, rows, streams};

/// Runs `dis`.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub fn dis(args: &DisArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(json::INSTRUCTION);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    if args.json {
        return objects(args, &target);
    }
    let input = Input::read(args.file.as_deref())?;
    let style = if args.exact { Style::Exact } else { Style::Customary };
    if args.tsv && args.code.order == Some(Order::Memory) {
        return rows::dis(target.tables, &input, style);
    }
    let found = code::read(target.tables, &input, args.code.how())?;
    found.say_note(&input);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let listing = Listing { args, target: &target, style, name: &input.name };
    let mut invalid = false;
    if found.shaders.is_empty() {
        invalid = listing.write(&found.code, &mut out)?;
    }
    for (number, shader) in (1..).zip(&found.shaders) {
        let bytes = found.code.bytes.get(shader.bytes.clone()).unwrap_or_default().to_vec();
        let code = Bytes { bytes, lines: Vec::new() };
        if args.tsv {
            invalid |= listing.write(&code, &mut out)?;
            continue;
        }
        let mut text = Vec::new();
        invalid |= listing.write(&code, &mut text)?;
        let gap = if number == 1 { "" } else { "\n" };
        writeln!(out, "{gap}# {}", shader.name)?;
        out.write_all(with_own_labels(&String::from_utf8_lossy(&text), number).as_bytes())?;
    }
    out.flush()?;
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
    }
    Ok(Status::mistakes_if(invalid || found.mistake.is_some()))
}

/// The listing of one shader of several: its labels have the number of the shader, so that all of them are one program.
fn with_own_labels(text: &str, shader: usize) -> String {
    let labels: HashSet<&str> = text.lines().filter_map(|line| line.strip_suffix(':')).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
        let mut rest = code;
        while !rest.is_empty() {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            out.push_str(name);
            if labels.contains(name) {
                out.push_str(&format!("_{shader}"));
            }
            let next = after.find(is_name).unwrap_or(after.len());
            out.push_str(&after[..next]);
            rest = &after[next..];
        }
        out.push_str(comment);
    }
    out
}

/// How programs are written.
struct Listing<'a> {
    args: &'a DisArgs,
    target: &'a Target,
    style: Style,
    /// What to call the input in messages.
    name: &'a str,
}

impl Listing<'_> {
    /// Writes the text or the table of a program. Returns whether anything in it is no instruction.
    fn write(&self, code: &Bytes, out: &mut impl Write) -> io::Result<bool> {
        if !self.args.comments {
            return self.write_plain(code, out);
        }
        let mut text = Vec::new();
        let invalid = self.write_plain(code, &mut text)?;
        comments(self.target, &code.bytes, &String::from_utf8_lossy(&text), out)?;
        Ok(invalid)
    }

    /// The same without comments.
    fn write_plain(&self, code: &Bytes, out: &mut impl Write) -> io::Result<bool> {
        let Listing { args, style, .. } = *self;
        Ok(match self.target.tables {
            Tables::Words(isa) if args.tsv => table(isa, &words::of_bytes(isa, &code.bytes), style, out)? > 0,
            Tables::Words(isa) => {
                let mut text = Text::new(out);
                let invalid = disassemble(isa, &words::of_bytes(isa, &code.bytes), style, &mut text);
                text.finish()?;
                invalid.unwrap_or(0) > 0
            }
            Tables::Groups(isa) => groups::dis::dis(args, isa, code, out)?,
            Tables::Streams(engine) => streams::dis::dis(args, engine, &code.bytes, self.name, out)?,
        })
    }
}

/// Writes a listing with comments: where each instruction stands, its bytes, and what it waits for.
fn comments(target: &Target, bytes: &[u8], text: &str, out: &mut impl Write) -> io::Result<()> {
    let set = target.set();
    let program = Program::read(&set, bytes);
    let is_instruction = |line: &&str| !(line.trim().is_empty() || line.ends_with(':') || line.starts_with('#'));
    let width = text.lines().filter(is_instruction).map(|line| line.chars().count()).max().unwrap_or(0).min(WIDEST);
    let mut entries = program.entries.iter();
    for line in text.lines() {
        let Some(entry) = (if is_instruction(&line) { entries.next() } else { None }) else {
            writeln!(out, "{line}")?;
            continue;
        };
        let code = bytes.get(entry.bytes.clone()).unwrap_or_default();
        let digits = match target.tables {
            Tables::Words(isa) => {
                format!("{:0w$x}", words::of_bytes(isa, code).first().unwrap_or(&0), w = word_digits(isa))
            }
            _ => groups::hex(code),
        };
        let waits = entry.instruction.as_ref().map_or(0, |instruction| instruction.flow.waits);
        let slots: Vec<String> = (0..8).filter(|slot| waits >> slot & 1 != 0).map(|slot| slot.to_string()).collect();
        let waits = if slots.is_empty() { String::new() } else { format!("  waits for slots {}", slots.join(", ")) };
        writeln!(out, "{line:width$} // {:#06x}  {digits}{waits}", entry.bytes.start)?;
    }
    Ok(())
}

/// Lines that are longer than this have their comments further to the right than others.
const WIDEST: usize = 72;

/// Writes an object an instruction.
fn objects(args: &DisArgs, target: &Target) -> Result<Status, Failure> {
    let code = machine_code(target.tables, Input::read(args.file.as_deref())?, args.code.how())?;
    let set = target.set();
    let program = Program::read(&set, &code.bytes);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for index in 0..program.entries.len() {
        writeln!(out, "{}", json::entry(&program, index, &code.bytes))?;
    }
    out.flush()?;
    let invalid = program.entries.iter().any(|entry| entry.instruction.is_err());
    Ok(Status::mistakes_if(invalid || code.cut))
}

/// Writes `word<TAB>ok<TAB>text` or `word<TAB>invalid<TAB>reason` for every word. Returns how many were invalid.
///
/// # Errors
/// Those of the writer.
pub fn table(isa: &'static Isa, words: &[u64], style: Style, out: &mut impl Write) -> io::Result<u64> {
    let digits = word_digits(isa);
    let mut line = Line::new();
    let mut invalid = 0;
    for &word in words {
        match decode(isa, word) {
            Ok(opcode) => {
                line.clear();
                print(isa, opcode, word, style, &mut line);
                writeln!(out, "{word:0digits$x}\tok\t{}", line.as_str())?;
            }
            Err(error) => {
                invalid += 1;
                writeln!(out, "{word:0digits$x}\tinvalid\t{error}")?;
            }
        }
    }
    Ok(invalid)
}

/// A mistake in a file of words, with its place and the help.
pub fn describe(name: &str, mistake: &Mistake) -> String {
    let place = match mistake.place {
        Place::Text(line, column) => format!("{name}:{line}:{column}:"),
        Place::Byte(offset) => format!("{name}: byte {offset:#x}:"),
    };
    let message = paint(BOLD, &mistake.message);
    format!("{} {}: {message}\n  {}: {}", paint(BOLD, &place), paint(ERROR, "error"), paint(HELP, "help"), mistake.help)
}
