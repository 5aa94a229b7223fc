//! `isaforge asm`: assembles text to machine code.

use std::io::{self, BufWriter, IsTerminal, Write};

use isaforge_analysis::entry::{entries_with_calls, labels, rename};
use isaforge_core::assembly::Assembly;
use isaforge_core::explain::hex;

use crate::args::AsmArgs;
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::json;
use crate::mistakes::{not_text, report};
use crate::output::{plain_stdout, say, write_whole};
use crate::rows;
use crate::target::Target;
use crate::words::{self, Encoding};

/// Runs `asm`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn asm(args: &AsmArgs) -> Result<Status, Failure> {
    if args.json_schema {
        let title = "What `isaforge asm --json` prints";
        return json::schema(&json::any_of("assembled", title, &[json::INSTRUCTION, json::DIAGNOSTIC]));
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let input = Input::read(args.file.as_deref())?;
    if args.order.is_some() {
        return rows::asm(target.tables, &input);
    }
    let text = match std::str::from_utf8(input.body()) {
        Ok(text) => text,
        Err(error) => {
            say(&not_text(&input, error.valid_up_to()));
            return Ok(Status::Mistakes);
        }
    };
    // The addresses of labels depend on every instruction before them.
    if !target.unclear.is_empty() && text.contains(':') {
        say(&target.unclear);
    }
    let assembly = target.tables.assemble_with(text, args.address, target.semantics);
    if args.json {
        return objects(&target, args.address, &input.name, &assembly);
    }
    if !assembly.errors.is_empty() {
        report(&input.name, text, &assembly.errors);
        return Ok(Status::Mistakes);
    }
    let assembled = written(target.tables, assembly.bytes, args.out);
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => write_whole(path, &assembled)?,
        None => {
            let mut out = io::stdout().lock();
            if args.out == Encoding::Bin && out.is_terminal() {
                let help = "write them to a file with `-o FILE`";
                return Err(Failure::usage("raw words are not printed to a terminal", help));
            }
            out.write_all(&assembled)?;
            out.flush()?;
        }
    }
    Ok(Status::Fine)
}

/// Prints a JSON object per instruction, or per error if there are any.
fn objects(target: &Target, address: u64, name: &str, assembly: &Assembly) -> Result<Status, Failure> {
    let mut out = BufWriter::new(plain_stdout());
    for error in &assembly.errors {
        writeln!(out, "{}", json::mistake(name, error))?;
    }
    if assembly.errors.is_empty() {
        let set = target.set().at(address);
        let mut labels = labels(&set, &assembly.bytes);
        let mut entries = entries_with_calls(&set, &assembly.bytes, labels.keys().copied()).peekable();
        rename(&mut labels, &assembly.names());
        let code = json::Code { set: &set, bytes: &assembly.bytes, labels: &labels, shader: None };
        for placed in &assembly.placed {
            while entries.next_if(|entry| entry.bytes.start < placed.at).is_some() {}
            let Some(entry) = entries.next_if(|entry| entry.bytes.start == placed.at) else { continue };
            let mut object = code.entry(&entry);
            object.line = Some(placed.line + 1);
            json::line(&mut out, &object)?;
        }
    }
    out.flush()?;
    Ok(Status::mistakes_if(!assembly.errors.is_empty()))
}

/// Formats bytes as raw or hexadecimal: one word per line, or sixteen bytes per line where instructions are not words.
fn written(tables: Tables, bytes: Vec<u8>, form: Encoding) -> Vec<u8> {
    match (form, tables) {
        (Encoding::Bin, _) => bytes,
        (Encoding::Hex, Tables::Words(isa)) => words::write(isa, &words::of_bytes(isa, &bytes), form),
        (Encoding::Hex, _) => bytes.chunks(16).flat_map(|chunk| format!("{}\n", hex(chunk)).into_bytes()).collect(),
    }
}
