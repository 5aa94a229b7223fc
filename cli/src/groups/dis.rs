//! `isaforge dis` for groups: bytes to a program's text.

use std::io::{self, Write};

use isaforge_core::group::listing::{pieces, write};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{GroupIsa, print};
use isaforge_core::text::Line;

use super::hex;
use crate::args::DisArgs;
use crate::code::Bytes;

/// Writes the text of groups, or their table. Returns whether any bytes are none.
///
/// # Errors
/// When the output cannot be written.
pub fn dis(args: &DisArgs, isa: &'static GroupIsa, found: &Bytes, out: &mut impl Write) -> io::Result<bool> {
    let pieces = pieces(isa, &found.bytes, &found.lines);
    let invalid = pieces.iter().any(|piece| piece.group.is_err());
    if args.tsv {
        let mut line = Line::new();
        for piece in &pieces {
            let bytes = hex(&found.bytes[piece.at..piece.at + piece.len]);
            match &piece.group {
                Ok(group) => {
                    line.clear();
                    print(isa, group, SEPARATOR, &mut line);
                    writeln!(out, "{bytes}\tok\t{}", line.as_str())?;
                }
                Err(error) => writeln!(out, "{bytes}\tinvalid\t{error}")?,
            }
        }
    } else {
        out.write_all(write(isa, &found.bytes, &pieces).as_bytes())?;
    }
    Ok(invalid)
}
