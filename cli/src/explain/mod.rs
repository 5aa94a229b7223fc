//! `isaforge explain`: what every bit of an instruction means.

mod about;
pub(crate) mod diagram;
pub(crate) mod fields;
mod overview;

use std::io::Write;

use isaforge_core::Isa;
use isaforge_core::decode::{decode, lookup};
use isaforge_core::encode::{Builder, list_lengths};
use isaforge_core::error::{DecodeError, ParseError};
use isaforge_core::parse::{find_name, parse};
use isaforge_core::print::{Style, print};
use isaforge_core::program::ProgramError;
use isaforge_core::sample::{Random, sample};
use isaforge_core::semantics::Semantics;
use isaforge_core::table::Shape;
use isaforge_core::text::Line;

use crate::args::ExplainArgs;
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::groups;
use crate::output::say;
use crate::paint::{BOLD, DIM, ERROR, columns, paint};
use crate::snippet;
use crate::words::{parse_word, word_digits};
use fields::Field;

/// Runs `explain`.
///
/// # Errors
/// When standard output cannot be written to.
pub fn explain(args: &ExplainArgs) -> Result<Status, Failure> {
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let what = args.what.join(" ");
    let what = what.trim();
    let isa = match target.tables {
        Tables::Words(isa) => isa,
        Tables::Groups(isa) => return groups::explain::explain(isa, what),
        Tables::Streams(engine) => return crate::streams::explain::explain(engine, what),
    };
    if what.is_empty() {
        let text = overview::overview(isa, target.semantics, columns().min(120));
        anstream::stdout().lock().write_all(text.as_bytes())?;
        return Ok(Status::Fine);
    }
    let (word, note) = match find_name(isa, what.as_bytes()) {
        Some(opcode) => (example(isa, opcode), "an example of it"),
        None => match parse_word(isa, what) {
            Some(word) => (word, ""),
            None if what.starts_with("0x") || what.starts_with("0X") => {
                let help = format!("a word has at most {} hexadecimal digits", word_digits(isa));
                return Err(Failure::usage(format!("`{what}` is not a word of {}", target.name), help));
            }
            None => match parse(isa, what) {
                Ok((_, word)) => (word, ""),
                Err(error) => {
                    say(&snippet::draw("text", what, &located(what, &error)));
                    return Ok(Status::Mistakes);
                }
            },
        },
    };
    let (text, status) = render(isa, target.semantics, word, note, columns().min(120));
    anstream::stdout().lock().write_all(text.as_bytes())?;
    Ok(status)
}

fn located(line: &str, error: &ParseError) -> ProgramError {
    let characters = |range: std::ops::Range<usize>| line.get(range).map_or(1, |text| text.chars().count());
    ProgramError {
        line: 1,
        column: characters(0..error.at) + 1,
        len: characters(error.at..error.at + error.len).max(1),
        message: error.to_string(),
        help: error.help().to_string(),
    }
}

/// A valid word of an instruction: with plain operands if that is valid, else one at random that assembles.
fn example(isa: &'static Isa, opcode: u16) -> u64 {
    let mut random = Random(u64::from(opcode));
    let drawn = std::iter::repeat_with(|| sample(isa, opcode, &mut random)).take(200);
    let good = |word: &u64| {
        let mut line = Line::new();
        decode(isa, *word) == Ok(opcode) && {
            print(isa, opcode, *word, Style::Customary, &mut line);
            parse(isa, line.as_str()).is_ok()
        }
    };
    let plain = plain_example(isa, opcode);
    std::iter::once(plain).chain(drawn).find(good).unwrap_or(plain)
}

/// Modifiers at their defaults, operands that can be told apart, lists that are not empty: a word that need not be valid.
fn plain_example(isa: &'static Isa, opcode: u16) -> u64 {
    let mut builder = Builder::new(isa, opcode);
    for (index, operand) in builder.form().operands.iter().enumerate() {
        // Even registers, since pairs start there. What does not fit stays zero.
        let register = 2 * index as u64;
        let _ = match operand.shape {
            Shape::One { .. } => builder.set_operand(index, 0, &[register]),
            Shape::List { .. } => builder.set_list(index, register, u64::from(list_lengths(operand).0.max(1))),
            Shape::Number { .. } => Ok(()),
        };
    }
    builder.word()
}

/// The explanation of a word, in colour, for so many columns; whether the word is an instruction.
pub fn render(
    isa: &'static Isa,
    semantics: Option<&'static Semantics>,
    word: u64,
    note: &str,
    width: usize,
) -> (String, Status) {
    let decoded = decode(isa, word);
    let mut out = String::new();
    let digits = word_digits(isa);
    let opcode = match &decoded {
        Ok(opcode) => {
            let mut line = Line::new();
            print(isa, *opcode, word, Style::Customary, &mut line);
            out.push_str(&format!("{}  {}", paint(DIM, &format!("{word:0digits$x}")), paint(BOLD, line.as_str())));
            if !note.is_empty() {
                out.push_str(&format!("   {}", paint(DIM, &format!("({note})"))));
            }
            out.push_str("\n\n");
            Some(*opcode)
        }
        Err(error) => {
            let reason = format!("{}: {error}", paint(ERROR, "not an instruction"));
            out.push_str(&format!("{}  {reason}\n\n", paint(DIM, &format!("{word:0digits$x}"))));
            lookup(isa, word).ok()
        }
    };
    let mut fields = match opcode {
        Some(opcode) => fields::of_instruction(isa, opcode, word),
        None => Vec::new(),
    };
    if let Err(error) = &decoded {
        blame(&mut fields, error, word);
        if let Some(opcode) = opcode {
            fields::blame_the_obvious(isa, opcode, &mut fields);
        }
    }
    fields::name_keys(&mut fields);
    out.push_str(&diagram::draw(isa.word_bits, word, &fields, width, &|bit| bit));
    out.push('\n');
    out.push_str(&fields::table(&fields, width));
    if let Some(opcode) = opcode {
        out.push('\n');
        out.push_str(&about::describe(isa, opcode, word, decoded.is_ok(), width));
        if let Some(semantics) = semantics.filter(|_| decoded.is_ok()) {
            out.push_str(&about::operation(isa, semantics, opcode, word, !note.is_empty()));
        }
    }
    (out, Status::mistakes_if(decoded.is_err()))
}

/// Marks the field that makes a word invalid.
fn blame(fields: &mut Vec<Field>, error: &DecodeError, word: u64) {
    match *error {
        DecodeError::UnknownOpcode { bits, found } => {
            fields.push(Field::wrong(bits, "opcode", found, "no instruction"))
        }
        DecodeError::Fixed { bits, expected, found, .. } => {
            let meaning = if expected == 0 { "must be zero".to_owned() } else { format!("must be {expected:#x}") };
            match fields.iter_mut().find(|field| field.has_bits(bits)) {
                Some(field) => field.blame(&meaning),
                None => {
                    // Of a longer run of reserved bits only these are wrong: the rest keeps its own row.
                    fields::cut(fields, bits, word);
                    fields.push(Field::wrong(bits, "reserved", found, &meaning));
                }
            }
        }
        DecodeError::Reserved { operand, field, found, .. } => {
            let name = |f: &&mut Field| {
                (f.name == field && f.operand == operand) || (!operand.is_empty() && f.name == operand)
            };
            // The field itself, or else the operand that it is a part of.
            let exact = fields.iter().position(|f| f.name == field && f.operand == operand);
            let found_field = match exact {
                Some(index) => fields.get_mut(index),
                None => fields.iter_mut().find(name),
            };
            if let Some(found_field) = found_field {
                found_field.blame(&format!("the value {found} of `{field}` is reserved"));
            }
        }
        DecodeError::Operand { operand, .. } => blame_operand(fields, operand, "reserved encoding"),
        DecodeError::OutOfRange { operand, count, .. } => {
            blame_operand(fields, operand, &format!("the last is {}", count.saturating_sub(1)));
        }
        DecodeError::Alignment { operand, align, .. } => {
            blame_operand(fields, operand, &format!("must start at a multiple of {align}"));
        }
        DecodeError::UnusedShared { field, expected, .. } => {
            if let Some(found) = fields.iter_mut().find(|f| f.name == field && f.operand.is_empty()) {
                found.blame(&format!("must be {expected} when no operand uses it"));
            }
        }
    }
}

fn blame_operand(fields: &mut [Field], operand: &str, meaning: &str) {
    if let Some(found) = fields.iter_mut().find(|f| f.name == operand && f.operand.is_empty()) {
        found.blame(meaning);
    }
}
