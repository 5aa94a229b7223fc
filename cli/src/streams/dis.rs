//! `isaforge dis` and `isaforge asm` for streams: bytes to a program's text and back.

use std::io::{self, BufWriter, Write};

use isaforge_core::program::ProgramError;
use isaforge_core::stream::Engine;
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
    let unit = usize::from(engine.stream.unit.max(1));
    let mut line = Line::new();
    let (mut at, mut invalid) = (0, false);
    while let Some(rest) = found.bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let decoded = engine.decode(rest);
        // What is no instruction takes a unit.
        let len = decoded.as_ref().map_or(unit, |decoded| decoded.len.into()).clamp(1, rest.len());
        let bytes = &rest[..len];
        invalid |= decoded.is_err();
        match decoded {
            Ok(decoded) => {
                line.clear();
                engine.print(&decoded, &mut line);
                if args.tsv {
                    writeln!(out, "{}\tok\t{}", hex(bytes), line.as_str())?;
                } else {
                    writeln!(out, "{}", line.as_str())?;
                }
            }
            Err(error) if args.tsv => writeln!(out, "{}\tinvalid\t{error}", hex(bytes))?,
            Err(error) => {
                let list: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
                writeln!(out, ".byte {} // {error}", list.join(", "))?;
            }
        }
        at += len;
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
    let bytes = assemble(engine, text)?;
    Ok(match encoding {
        Encoding::Bin => bytes,
        Encoding::Hex => bytes.chunks(16).flat_map(|chunk| format!("{}\n", hex(chunk)).into_bytes()).collect(),
    })
}
