//! `isaforge translate` for streams: translates a program to another revision or generation.

use isaforge_compiler::translate::streams::{StreamError, translate_bytes, translate_text};
use isaforge_core::explain::hex;
use isaforge_core::print::Style;
use isaforge_core::stream::Engine;
use isaforge_core::stream::listing::disassemble_at;

use crate::args::Form;
use crate::groups::read;
use crate::input::Input;
use crate::mistakes::{describe, report};
use crate::output::say;
use crate::translate::{read_text, report_places};
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
            // Two instructions may share their customary text, which would assemble to the other of them.
            disassemble_at(to, &bytes, 0, Style::Exact, &mut text);
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
        let place = |(at, error): &(usize, StreamError)| (format!("byte {at:#x}"), error.to_string());
        report_places(&input.name, &errors.iter().map(place).collect::<Vec<_>>());
    };
    translate_bytes(from, to, &found.bytes).map_err(complain).ok()
}
