//! `isaforge dis`: machine words to text.

use std::io::{self, BufWriter, Write};

use isaforge_analysis::{Program, Set};
use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::print::{Style, print};
use isaforge_core::program::disassemble;
use isaforge_core::text::Line;

use crate::args::DisArgs;
use crate::builtin::Tables;
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
        io::stdout().lock().write_all(json::SCHEMA.as_bytes())?;
        return Ok(Status::Fine);
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    if args.json {
        return objects(args, &target);
    }
    if args.order.is_some() {
        let style = if args.exact { Style::Exact } else { Style::Customary };
        return rows::dis(target.tables, &Input::read(args.file.as_deref())?, style);
    }
    let isa = match target.tables {
        Tables::Words(isa) => isa,
        Tables::Groups(isa) => return groups::dis::dis(args, isa),
        Tables::Streams(engine) => return streams::dis::dis(args, engine, &Input::read(args.file.as_deref())?),
    };
    let input = Input::read(args.file.as_deref())?;
    let body = if args.input.encoding() == Some(words::Encoding::Bin) { &input.bytes } else { input.body() };
    let found = words::read(isa, body, args.input.encoding());
    let style = if args.exact { Style::Exact } else { Style::Customary };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let invalid = if args.tsv {
        table(isa, &found.words, style, &mut out)?
    } else {
        let mut text = Text::new(&mut out);
        let invalid = disassemble(isa, &found.words, style, &mut text);
        text.finish()?;
        invalid.unwrap_or(0) as u64
    };
    out.flush()?;
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
    }
    Ok(Status::mistakes_if(invalid > 0 || found.mistake.is_some()))
}

/// Writes an object an instruction.
fn objects(args: &DisArgs, target: &Target) -> Result<Status, Failure> {
    let code = machine_code(target.tables, Input::read(args.file.as_deref())?, args.input.encoding());
    let set = Set::new(target.tables, target.semantics);
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
