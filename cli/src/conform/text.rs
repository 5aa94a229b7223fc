//! Tables of words and texts, one case per line.

use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::error::{DecodeError, EncodeError, ParseError, ParseReason};
use isaforge_core::parse::parse;
use isaforge_core::print::{Style, print};
use isaforge_core::program::assemble;
use isaforge_core::text::Line;

use crate::output::count;
use crate::words::word_digits;

type Outcome = Result<(), String>;

fn word_of(isa: &Isa, column: &str) -> Result<u64, String> {
    u64::from_str_radix(column, 16).map_err(|_| format!("`{column}` is not a word of {} digits", word_digits(isa)))
}

fn column<'a>(columns: &[&'a str], index: usize) -> Result<&'a str, String> {
    let missing = || format!("the line has {}, not {}", count(columns.len() as u64, "column"), index + 1);
    columns.get(index).copied().ok_or_else(missing)
}

fn text_of(isa: &'static Isa, word: u64) -> Result<Line, DecodeError> {
    let opcode = decode(isa, word)?;
    let mut line = Line::new();
    print(isa, opcode, word, Style::Customary, &mut line);
    Ok(line)
}

/// Checks that the word decodes to the text.
fn gives_text(isa: &'static Isa, word: u64, text: &str) -> Outcome {
    match text_of(isa, word) {
        Ok(found) if found.as_str() == text => Ok(()),
        Ok(found) => Err(format!("{} decodes to `{}`, not to `{text}`", hex(isa, word), found.as_str())),
        Err(error) => Err(format!("{} does not decode to `{text}`: {error}", hex(isa, word))),
    }
}

/// Checks that the text assembles to the word.
fn gives_word(isa: &'static Isa, text: &str, word: u64) -> Outcome {
    match parse(isa, text) {
        Ok((_, found)) if found == word => Ok(()),
        Ok((_, found)) => Err(format!("`{text}` assembles to {}, not to {}", hex(isa, found), hex(isa, word))),
        Err(error) => Err(format!("`{text}` does not assemble: {}", describe(&error))),
    }
}

fn describe(error: &ParseError) -> String {
    format!("column {}: {error}", error.column())
}

fn hex(isa: &Isa, word: u64) -> String {
    format!("{word:0digits$x}", digits = word_digits(isa))
}

/// Checks that the text assembles to the word. Accepts a failure if the word has no text of its own: another word that
/// prints the same takes precedence, or an assembler rule beyond the encoding forbids it.
fn gives_word_or_its_like(isa: &'static Isa, text: &str, word: u64) -> Outcome {
    match parse(isa, text) {
        Ok((_, found)) if found == word => Ok(()),
        Ok((_, found)) if text_of(isa, found).is_ok_and(|line| line.as_str() == text) => Ok(()),
        Err(ParseError { reason: ParseReason::Encode(EncodeError::Limit { .. }), .. }) => Ok(()),
        _ => gives_word(isa, text, word),
    }
}

/// `word, text`: checks that each gives the other.
pub fn word_and_text(isa: &'static Isa, columns: &[&str]) -> Outcome {
    let (word, text) = (word_of(isa, column(columns, 0)?)?, column(columns, 1)?);
    gives_text(isa, word, text)?;
    gives_word(isa, text, word)
}

/// `word, text, class, status, result`: a random word, its text by another disassembler, and the result of assembling
/// that text (`=`: the same word).
///
/// A canonical word must decode to the text. Any other word may be rejected, since the other disassembler ignores some
/// bits; an opcode that it does not know must be rejected as an unknown opcode.
pub fn random_word(isa: &'static Isa, columns: &[&str]) -> Outcome {
    let (word, text) = (word_of(isa, column(columns, 0)?)?, column(columns, 1)?);
    let (class, status, result) = (column(columns, 2)?, column(columns, 3)?, column(columns, 4)?);
    if status == "unknown" {
        return match decode(isa, word) {
            Err(DecodeError::UnknownOpcode(_)) => Ok(()),
            Err(error) => Err(format!("{} has an unknown opcode, but is refused as: {error}", hex(isa, word))),
            Ok(_) => Err(format!("{} has an unknown opcode, but decodes", hex(isa, word))),
        };
    }
    let must_decode = status == "ok" && class == "canonical";
    if !must_decode && decode(isa, word).is_err() {
        return Ok(());
    }
    gives_text(isa, word, text)?;
    if result == "=" { gives_word(isa, text, word) } else { gives_word_or_its_like(isa, text, word) }
}

/// `id, source, name, stage, words`: checks that every word of the program decodes, and that its text assembles to the
/// same program.
pub fn shader(isa: &'static Isa, columns: &[&str]) -> Outcome {
    let words = column(columns, 4)?.split_whitespace();
    let words = words.map(|word| word_of(isa, word)).collect::<Result<Vec<u64>, String>>()?;
    let mut text = String::new();
    for (index, &word) in words.iter().enumerate() {
        let line = text_of(isa, word).map_err(|error| format!("word {index}: {}: {error}", hex(isa, word)))?;
        text.push_str(line.as_str());
        text.push('\n');
    }
    let assembled = assemble(isa, &text).map_err(|errors| match errors.first() {
        Some(error) => format!("word {}: the text does not assemble: {error}", error.line - 1),
        None => "the text does not assemble".to_owned(),
    })?;
    let differs = (0..words.len().max(assembled.len())).find(|&index| words.get(index) != assembled.get(index));
    match differs {
        None => Ok(()),
        Some(index) => {
            let found = assembled.get(index).map_or("nothing".to_owned(), |word| hex(isa, *word));
            let wanted = words.get(index).map_or("nothing".to_owned(), |word| hex(isa, *word));
            Err(format!("word {index}: the text assembles to {found}, not to {wanted}"))
        }
    }
}

/// `word, text, versions, verdict, text of the specification, its word`: a case of another assembler. The verdict says
/// whether its text is the specification's text too, or what replaces it.
pub fn assembler_case(isa: &'static Isa, columns: &[&str]) -> Outcome {
    let (word, original) = (word_of(isa, column(columns, 0)?)?, column(columns, 1)?);
    let (verdict, ours, our_word) = (column(columns, 3)?, column(columns, 4)?, column(columns, 5)?);
    let both = |text: &str| gives_text(isa, word, text).and_then(|()| gives_word(isa, text, word));
    match verdict {
        _ if verdict == "same" || verdict.contains("encodes-differently") => both(original),
        _ if verdict.starts_with("renamed") => both(ours),
        _ if verdict.starts_with("text-not-accepted") => {
            gives_text(isa, word, ours).and_then(|()| gives_word(isa, ours, word_of(isa, our_word)?))
        }
        _ if verdict.starts_with("absent") => match text_of(isa, word) {
            Err(_) => Ok(()),
            Ok(line) => {
                Err(format!("{} is absent from the specification, but decodes to `{}`", hex(isa, word), line.as_str()))
            }
        },
        _ => Err(format!("unknown verdict `{verdict}`")),
    }
}

/// `text, reason`: checks that the line is rejected with a message and a column inside the line.
pub fn rejected_line(isa: &'static Isa, columns: &[&str]) -> Outcome {
    let text = column(columns, 0)?;
    match parse(isa, text) {
        Ok((_, word)) => Err(format!("`{text}` must be refused, but assembles to {}", hex(isa, word))),
        Err(error) if error.to_string().is_empty() => Err(format!("`{text}` is refused without a message")),
        Err(error) if error.column() == 0 || error.column() > text.len() + 1 => {
            Err(format!("`{text}` is refused at column {}, which it does not have", error.column()))
        }
        Err(_) => Ok(()),
    }
}
