//! A program as people have it: assembly, hexadecimal text, raw bytes.

use std::path::Path;

use isaforge_core::group::listing::assemble_program;
use isaforge_core::program::assemble;

use crate::asm::{not_text, report};
use crate::builtin::Tables;
use crate::code::{self, How};
use crate::dis::describe;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::say;
use crate::streams;
use crate::words::{self, Encoding};

/// Bytes in the order of memory, and whether reading them went to the end.
#[derive(Debug)]
pub struct Code {
    /// What to call the program in messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether a mistake, which has been reported, ended it early.
    pub cut: bool,
}

/// Reads a program: assembly where the name ends with `.s` or `.asm`, else hexadecimal text or raw bytes. `None` after
/// mistakes in assembly, which have been reported.
///
/// # Errors
/// When the file cannot be read.
pub fn load(tables: Tables, path: Option<&Path>, how: How) -> Result<Option<Code>, Failure> {
    let input = Input::read(path)?;
    let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str()).unwrap_or_default();
    if matches!(extension, "s" | "asm") && how.encoding.is_none() {
        let Ok(text) = std::str::from_utf8(input.body()) else {
            say(&not_text(&input, 0));
            return Ok(None);
        };
        let assembled = match tables {
            Tables::Words(isa) => assemble(isa, text).map(|words| words::write(isa, &words, Encoding::Bin)),
            Tables::Groups(isa) => assemble_program(isa, text),
            Tables::Streams(engine) => streams::dis::asm(engine, text, Encoding::Bin),
        };
        return Ok(match assembled {
            Ok(bytes) => Some(Code { name: input.name, bytes, cut: false }),
            Err(errors) => {
                report(&input.name, text, &errors);
                None
            }
        });
    }
    machine_code(tables, input, how).map(Some)
}

/// The bytes of code as people have it. A mistake is reported and ends the program.
///
/// # Errors
/// Those of [`code::read`].
pub fn machine_code(tables: Tables, input: Input, how: How) -> Result<Code, Failure> {
    let found = code::read(tables, &input, how)?;
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
    }
    Ok(Code { name: input.name, bytes: found.code.bytes, cut: found.mistake.is_some() })
}
