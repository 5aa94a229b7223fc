//! `isaforge dis` for groups: bytes to a program's text.

use std::io::{self, BufWriter, Write};

use isaforge_core::group::listing::{pieces, write};
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::group::{GroupIsa, print};
use isaforge_core::text::Line;

use super::{hex, read};
use crate::args::DisArgs;
use crate::dis::describe;
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::output::say;
use crate::words::Encoding;

/// Runs `dis`.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub fn dis(args: &DisArgs, isa: &'static GroupIsa) -> Result<Status, Failure> {
    let input = Input::read(args.file.as_deref())?;
    let body = if args.input.encoding() == Some(Encoding::Bin) { &input.bytes } else { input.body() };
    let found = read(body, args.input.encoding());
    let pieces = pieces(isa, &found.bytes, &found.lines);
    let invalid = pieces.iter().any(|piece| piece.group.is_err());
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
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
    out.flush()?;
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
    }
    Ok(Status::mistakes_if(invalid || found.mistake.is_some()))
}
