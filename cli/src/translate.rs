//! `isaforge translate`: translates a program to another revision.
//!
//! The output has the form of the input unless requested otherwise. If any part of a program cannot be expressed in the
//! other revision, nothing is written.

use std::io::{self, IsTerminal, Write};

use isaforge_compiler::translate::{TranslateError, translate_program, translate_words};
use isaforge_core::Isa;
use isaforge_core::print::Style;
use isaforge_core::program::disassemble;

use crate::args::{Form, TranslateArgs};
use crate::failure::{Failure, Status};
use crate::input::Input;
use crate::mistakes::{SHOWN, describe, not_text, report, say_number};
use crate::output::{say, write_whole};
use crate::paint::{BOLD, ERROR, paint};
use crate::streams;
use crate::target::{Pair, named_or_at};
use crate::words::{self, Encoding, word_digits};

/// Runs `translate`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn translate(args: &TranslateArgs) -> Result<Status, Failure> {
    let from = named_or_at(&args.from, args.from_generation.as_deref(), "--from-generation")?;
    let to = named_or_at(&args.to, args.to_generation.as_deref(), "--to-generation")?;
    let (Some(from), Some(to)) = (from, to) else { return Ok(Status::Mistakes) };
    let pair = from.pair(&to)?;
    let input = Input::read(args.file.as_deref())?;
    if args.input.is_none()
        && let Some(container) = isaforge_containers::open(&input.bytes)
    {
        let message = format!("`{}` is {}, and `translate` reads code by itself", input.name, container.kind);
        return Err(Failure::usage(message, "`isaforge dis --exact` writes the code as a text that `translate` reads"));
    }
    let form = args.input.unwrap_or_else(|| detect(&input.bytes));
    let out_form = args.out.unwrap_or(form);
    let content = match pair {
        Pair::Streams(first, second) => streams::translate::translate(first, second, &input, form, out_form),
        Pair::Words(from, to) => {
            let translated = match form {
                Form::Asm => text(from, to, &input),
                Form::Hex => of_words(from, to, &input, Encoding::Hex),
                Form::Bin => of_words(from, to, &input, Encoding::Bin),
            };
            translated.map(|words| write(to, &words, out_form))
        }
    };
    let Some(content) = content else { return Ok(Status::Mistakes) };
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => write_whole(path, &content)?,
        None => {
            let mut out = io::stdout().lock();
            if out_form == Form::Bin && out.is_terminal() {
                let help = "write them to a file with `-o FILE`, or see them with `--out asm`";
                return Err(Failure::usage("raw words are not printed to a terminal", help));
            }
            out.write_all(&content)?;
            out.flush()?;
        }
    }
    Ok(Status::Fine)
}

/// Like [`words::detect`], but text counts as hexadecimal only if it contains nothing else.
fn detect(bytes: &[u8]) -> Form {
    let text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    let digit = |&byte: &u8| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || b"xX,_".contains(&byte);
    match words::detect(bytes) {
        Encoding::Bin if !text => Form::Bin,
        _ if bytes.iter().all(digit) => Form::Hex,
        _ => Form::Asm,
    }
}

fn text(from: &'static Isa, to: &'static Isa, input: &Input) -> Option<Vec<u64>> {
    let text = read_text(input)?;
    translate_program(from, to, text).map_err(|errors| report(&input.name, text, &errors)).ok()
}

/// The text of a file. `None` if it is not text, which has been reported.
pub(crate) fn read_text(input: &Input) -> Option<&str> {
    std::str::from_utf8(input.body()).map_err(|error| say(&not_text(input, error.valid_up_to()))).ok()
}

fn of_words(from: &'static Isa, to: &'static Isa, input: &Input, encoding: Encoding) -> Option<Vec<u64>> {
    let body = if encoding == Encoding::Bin { &input.bytes } else { input.body() };
    let found = words::read(from, body, Some(encoding));
    if let Some(mistake) = &found.mistake {
        say(&describe(&input.name, mistake));
        return None;
    }
    let digits = word_digits(from);
    let complain = |errors: Vec<(usize, TranslateError)>| {
        let place = |(index, error): &(usize, TranslateError)| {
            let word = found.words.get(*index).copied().unwrap_or_default();
            (format!("word {index} ({word:0digits$x})"), error.to_string())
        };
        report_places(&input.name, &errors.iter().map(place).collect::<Vec<_>>());
    };
    translate_words(from, to, &found.words).map_err(complain).ok()
}

/// Reports the mistakes of a program that is no text: where, and what.
pub(crate) fn report_places(name: &str, mistakes: &[(String, String)]) {
    for (place, message) in mistakes.iter().take(SHOWN) {
        let place = paint(BOLD, &format!("{name}: {place}:")).to_string();
        say(&format!("{place} {}: {}", paint(ERROR, "error"), paint(BOLD, message)));
    }
    say_number(mistakes.len());
}

fn write(isa: &'static Isa, translated: &[u64], form: Form) -> Vec<u8> {
    match form {
        Form::Asm => {
            let mut text = String::new();
            // Two words may share their customary text, which would assemble to the other of them.
            let _ = disassemble(isa, translated, Style::Exact, &mut text);
            text.into_bytes()
        }
        Form::Hex => words::write(isa, translated, Encoding::Hex),
        Form::Bin => words::write(isa, translated, Encoding::Bin),
    }
}
