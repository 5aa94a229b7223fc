//! `isaforge dis` for streams of bytes.

use std::io::{self, Write};

use isaforge_core::explain::hex;
use isaforge_core::print::Style;
use isaforge_core::stream::listing::{disassemble_at, parts};
use isaforge_core::stream::sequence::Listing;
use isaforge_core::stream::{Engine, NoPlaces};
use isaforge_core::text::Line;

use crate::output::say;

/// Writes the text of a program whose first byte has an address. Returns whether any of it is invalid.
///
/// # Errors
/// When the output cannot be written.
pub fn text(
    engine: Engine,
    (bytes, base): (&[u8], u64),
    style: Style,
    name: &str,
    out: &mut impl Write,
) -> io::Result<bool> {
    if let Some(sequence) = engine.stream.sequence {
        let listing = match sequence.is_module(bytes) {
            true => sequence.list(bytes),
            false => sequence.disassemble(bytes).map(|text| Listing { text, ..Listing::default() }),
        };
        let error = match listing {
            Ok(Listing { text, error, invalid }) => {
                writeln!(out, "{}", text.trim_end_matches('\n'))?;
                let more = (invalid > 1).then(|| format!("; {invalid} parts of it are no instructions"));
                error.map(|error| (error, more.unwrap_or_default()))
            }
            Err(error) => Some((error, String::new())),
        };
        if let Some((error, more)) = &error {
            out.flush()?;
            say(&format!("{name}: at byte {}: {error}{more}", error.at));
        }
        return Ok(error.is_some());
    }
    let mut text = String::new();
    let invalid = disassemble_at(engine, bytes, base, style, &mut text) > 0;
    out.write_all(text.as_bytes())?;
    Ok(invalid)
}

/// Writes a row per instruction, followed by `tail`. Returns whether any is invalid. Sequences of operands are printed
/// as text, too.
///
/// # Errors
/// When the output cannot be written.
pub fn table(
    engine: Engine,
    bytes: &[u8],
    style: Style,
    tail: &str,
    name: &str,
    out: &mut impl Write,
) -> io::Result<bool> {
    if engine.stream.sequence.is_some() {
        return text(engine, (bytes, 0), style, name, out);
    }
    let mut line = Line::new();
    let mut invalid = false;
    for part in parts(engine, bytes) {
        match part.decoded {
            Ok(decoded) => {
                line.clear();
                match style {
                    Style::Customary => engine.print(&decoded, &mut line),
                    Style::Exact => engine.print_exact_at(&decoded, 0, &NoPlaces, &mut line),
                }
                writeln!(out, "{}\tok\t{}{tail}", hex(part.bytes), line.as_str())?;
            }
            Err(error) => {
                invalid = true;
                writeln!(out, "{}\tinvalid\t{error}{tail}", hex(part.bytes))?;
            }
        }
    }
    Ok(invalid)
}
