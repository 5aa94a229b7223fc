//! `isaforge translate` for streams: translates a program to another revision or generation.

use isaforge_compiler::translate::streams::{StreamError, translate_bytes, translate_text};
use isaforge_core::explain::hex;
use isaforge_core::stream::Engine;
use isaforge_core::stream::listing::disassemble;

use crate::args::Form;
use crate::asm::report;
use crate::dis::describe;
use crate::groups::read;
use crate::input::Input;
use crate::output::{count, say};
use crate::paint::{BOLD, ERROR, paint};
use crate::translate::read_text;
use crate::words::Encoding;

/// Translates a program. `None` if a part of it cannot be expressed, which has been reported.
pub fn translate(from: Engine, to: Engine, input: &Input, form: Form, out: Form) -> Option<Vec<u8>> {
    let bytes = match form {
        Form::Asm => {
            let text = read_text(input)?;
            translate_text(from, to, text).map_err(|errors| report(&input.name, text, &errors)).ok()?
        }
        Form::Hex => of_bytes(from, to, input, input.body(), Encoding::Hex)?,
        Form::Bin => of_bytes(from, to, input, &input.bytes, Encoding::Bin)?,
    };
    Some(match out {
        Form::Asm => {
            let mut text = String::new();
            disassemble(to, &bytes, &mut text);
            text.into_bytes()
        }
        Form::Hex => bytes.chunks(16).flat_map(|chunk| format!("{}\n", hex(chunk)).into_bytes()).collect(),
        Form::Bin => bytes,
    })
}

fn of_bytes(from: Engine, to: Engine, input: &Input, body: &[u8], encoding: Encoding) -> Option<Vec<u8>> {
    let found = read(body, Some(encoding));
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
        return None;
    }
    let complain = |errors: Vec<(usize, StreamError)>| {
        for (at, error) in &errors {
            let place = format!("{}: byte {at:#x}:", input.name);
            say(&format!("{} {}: {}", paint(BOLD, &place), paint(ERROR, "error"), paint(BOLD, &error.to_string())));
        }
        say(&format!("{}: {}", paint(ERROR, "error"), paint(BOLD, &count(errors.len() as u64, "mistake"))));
    };
    translate_bytes(from, to, &found.bytes).map_err(complain).ok()
}
