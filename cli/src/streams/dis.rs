//! `isaforge dis` for streams: bytes to a program's text.

use std::io::{self, Write};

use isaforge_core::print::Style;
use isaforge_core::stream::listing::{disassemble_as, parts};
use isaforge_core::stream::{Engine, NoPlaces};
use isaforge_core::text::Line;

use crate::args::DisArgs;
use crate::groups::hex;
use crate::output::say;

/// Writes the text of a program, or its table. Returns whether anything in it is no instruction.
///
/// # Errors
/// When the output cannot be written.
pub fn dis(args: &DisArgs, engine: Engine, bytes: &[u8], name: &str, out: &mut impl Write) -> io::Result<bool> {
    if let Some(sequence) = engine.stream.sequence {
        let listing = sequence.disassemble(bytes);
        match &listing {
            Ok(text) => writeln!(out, "{}", text.trim_end_matches('\n'))?,
            Err(error) => say(&format!("{name}: at byte {}: {error}", error.at)),
        }
        return Ok(listing.is_err());
    }
    let mut invalid = false;
    let style = if args.exact { Style::Exact } else { Style::Customary };
    if args.tsv {
        let mut line = Line::new();
        for part in parts(engine, bytes) {
            match part.decoded {
                Ok(decoded) => {
                    line.clear();
                    match style {
                        Style::Customary => engine.print(&decoded, &mut line),
                        Style::Exact => engine.print_exact_at(&decoded, 0, &NoPlaces, &mut line),
                    }
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
        invalid = disassemble_as(engine, bytes, style, &mut text) > 0;
        out.write_all(text.as_bytes())?;
    }
    Ok(invalid)
}
