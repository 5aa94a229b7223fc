//! `isaforge dis` for groups of bytes.

use std::io::{self, Write};

use isaforge_core::explain::hex;
use isaforge_core::group::listing::{pieces, write};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{GroupIsa, print};
use isaforge_core::text::Line;

use crate::code::Bytes;

/// Writes the text of groups, the first of which has an address. Returns whether any bytes are invalid.
///
/// # Errors
/// When the output cannot be written.
pub fn text(isa: &'static GroupIsa, found: &Bytes, base: u64, out: &mut impl Write) -> io::Result<bool> {
    let pieces: Vec<_> = pieces(isa, &found.bytes, &found.lines).collect();
    out.write_all(write(isa, &found.bytes, base, &pieces).as_bytes())?;
    Ok(pieces.iter().any(|piece| piece.group.is_err()))
}

/// Writes a row per group, followed by `tail`. Returns whether any bytes are invalid.
///
/// # Errors
/// When the output cannot be written.
pub fn table(isa: &'static GroupIsa, found: &Bytes, tail: &str, out: &mut impl Write) -> io::Result<bool> {
    let mut line = Line::new();
    let mut invalid = false;
    for piece in pieces(isa, &found.bytes, &found.lines) {
        let bytes = hex(&found.bytes[piece.at..piece.at + piece.len]);
        match &piece.group {
            Ok(group) => {
                line.clear();
                print(isa, group, SEPARATOR, &mut line);
                writeln!(out, "{bytes}\tok\t{}{tail}", line.as_str())?;
            }
            Err(error) => {
                invalid = true;
                writeln!(out, "{bytes}\tinvalid\t{error}{tail}")?;
            }
        }
    }
    Ok(invalid)
}
