//! `isaforge dis` and `isaforge asm` for streams: bytes to a program's text and back.

use std::io::{self, BufWriter, Write};

use isaforge_core::program::ProgramError;
use isaforge_core::stream::Engine;
use isaforge_core::stream::listing::{disassemble, parts};
use isaforge_core::stream::program::assemble;
use isaforge_core::text::Line;

use crate::args::DisArgs;
use crate::dis::describe;
use crate::failure::{Failure, Status};
use crate::groups::{hex, read};
use crate::input::Input;
use crate::output::say;
use crate::words::Encoding;

/// Runs `dis`.
///
/// # Errors
/// When the output cannot be written.
pub fn dis(args: &DisArgs, engine: Engine, input: &Input) -> Result<Status, Failure> {
    let body = if args.input.encoding() == Some(Encoding::Bin) { &input.bytes } else { input.body() };
    let found = read(body, args.input.encoding());
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if let Some(sequence) = engine.stream.sequence {
        let listing = sequence.disassemble(&found.bytes);
        match &listing {
            Ok(text) => writeln!(out, "{}", text.trim_end_matches('\n'))?,
            Err(error) => say(&format!("{}: at byte {}: {error}", input.name, error.at)),
        }
        out.flush()?;
        return Ok(Status::mistakes_if(listing.is_err() || found.mistake.is_some()));
    }
    let mut invalid = false;
    if args.tsv {
        let mut line = Line::new();
        for part in parts(engine, &found.bytes) {
            match part.decoded {
                Ok(decoded) => {
                    line.clear();
                    engine.print(&decoded, &mut line);
                    writeln!(out, "{}\tok\t{}", hex(part.bytes), line.as_str())?;
                }
                Err(error) => {
                    invalid = true;
                    writeln!(out, "{}\tinvalid\t{error}", hex(part.bytes))?;
                }
            }
        }
    } else {
        let mut text = String::new();
        invalid = disassemble(engine, &found.bytes, &mut text) > 0;
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
    }
    Ok(Status::mistakes_if(invalid || found.mistake.is_some()))
}

/// Assembles a program: bytes in hexadecimal, sixteen a line, or raw.
///
/// # Errors
/// Every mistake of the text.
pub fn asm(engine: Engine, text: &str, encoding: Encoding) -> Result<Vec<u8>, Vec<ProgramError>> {
    let bytes = match engine.stream.sequence {
        Some(sequence) => sequence.assemble(text).map_err(|error| {
            let before = text.get(..error.at).unwrap_or(text);
            let line = before.matches('\n').count();
            let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
            vec![ProgramError { line: line + 1, column, len: 1, message: error.message, help: String::new() }]
        })?,
        None => assemble(engine, text)?,
    };
    Ok(match encoding {
        Encoding::Bin => bytes,
        Encoding::Hex => bytes.chunks(16).flat_map(|chunk| format!("{}\n", hex(chunk)).into_bytes()).collect(),
    })
}
