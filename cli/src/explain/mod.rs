//! `isaforge explain`: explains every bit of an instruction.

pub mod about;
pub(crate) mod diagram;
pub(crate) mod fields;
mod objects;
pub(crate) mod overview;
mod part;

use std::io::Write;

use isaforge_core::Isa;
use isaforge_core::decode::decode;
use isaforge_core::error::ParseError;
use isaforge_core::explain::words::{self, Explained, example};
use isaforge_core::parse::{find_name, parse};
use isaforge_core::print::{Style, print};
use isaforge_core::program::ProgramError;
use isaforge_core::semantics::Semantics;
use isaforge_core::table::Enum;
use isaforge_core::text::Line;

use crate::args::ExplainArgs;
use crate::builtin::Tables;
use crate::failure::{Failure, Status};
use crate::groups;
use crate::input::Input;
use crate::json;
use crate::list;
use crate::output::{say, stdout};
use crate::paint::{BOLD, DIM, ERROR, HELP, columns, paint};
use crate::snippet;
use crate::streams;
use crate::target::Target;
use crate::words::{parse_word, word_bytes, word_digits};

/// Runs `explain`.
///
/// # Errors
/// When standard output cannot be written.
pub fn explain(args: &ExplainArgs) -> Result<Status, Failure> {
    if args.json_schema {
        return json::schema(&json::any_of("explained", "What `isaforge explain --json` prints", &json::EXPLAINED));
    }
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let what = match args.what.as_slice() {
        [only] if only == "-" => String::from_utf8_lossy(Input::read(None)?.body()).into_owned(),
        words => words.join(" "),
    };
    let what = what.trim();
    if args.json {
        return objects::objects(&target, what);
    }
    let width = columns().min(120);
    let general = match choices_of(target.tables, what) {
        Some(found) => Some(overview::choices(found, width)),
        None if what.is_empty() => Some(overview::overview(&target, width)),
        None => None,
    };
    let parts =
        || part::parts(&target, what).iter().map(|part| part.text(width)).reduce(|all, part| all + "\n" + &part);
    if let Some(text) = general.or_else(parts) {
        stdout().write_all(text.as_bytes())?;
        return Ok(Status::Fine);
    }
    let search = || searched(&target, what);
    let status = match target.tables {
        Tables::Words(isa) => of_words(&target, isa, what, width)?,
        Tables::Groups(isa) => groups::explain::explain(isa, what, search)?,
        Tables::Streams(engine) => streams::explain::explain(engine, target.semantics, what, search)?,
    };
    if let Some(fields) = part::others(target.tables, what).filter(|_| status == Status::Mistakes) {
        say(&format!("{}: {fields}", paint(HELP, "help")));
    }
    Ok(status)
}

/// Explains a word, assembly text or a mnemonic, or else lists what a search finds.
fn of_words(target: &Target, isa: &'static Isa, what: &str, width: usize) -> Result<Status, Failure> {
    let (word, note) = match find_name(isa, what.as_bytes()) {
        Some(opcode) => (example(isa, opcode), "an example of it"),
        None => match parse_word(isa, what).or_else(|| parse_word(isa, &what.split_whitespace().collect::<String>())) {
            Some(word) => (in_order(isa, what, word), ""),
            None if what.starts_with("0x") || what.starts_with("0X") => {
                let help = format!("a word has at most {} hexadecimal digits", word_digits(isa));
                return Err(Failure::usage(format!("`{what}` is not a word of {}", target.name), help));
            }
            None => match parse(isa, what) {
                Ok((_, word)) => (word, ""),
                Err(_) if let Some(found) = searched(target, what) => {
                    stdout().write_all(found.as_bytes())?;
                    return Ok(Status::Fine);
                }
                Err(error) => {
                    say(&snippet::draw("text", what, &located(what, &error)));
                    return Ok(Status::Mistakes);
                }
            },
        },
    };
    let (text, status) = render(isa, target.semantics, word, note, width);
    stdout().write_all(text.as_bytes())?;
    Ok(status)
}

/// Finds an enum by name. Case is ignored unless the name is also that of an instruction.
fn choices_of(tables: Tables, name: &str) -> Option<&'static Enum> {
    let enums = match tables {
        Tables::Words(isa) => isa.enums,
        Tables::Groups(isa) => isa.enums,
        Tables::Streams(engine) => engine.stream.enums,
    };
    let by = |is: &dyn Fn(&str) -> bool| enums.iter().find(|found| is(found.name));
    by(&|known| known == name).or_else(|| {
        let nearly = by(&|known| known.eq_ignore_ascii_case(name))?;
        objects::example(tables, name).is_none().then_some(nearly)
    })
}

/// Byte-swaps a word if only its bytes in memory order decode.
fn in_order(isa: &'static Isa, what: &str, word: u64) -> u64 {
    let bytes = word.to_le_bytes();
    let turned = bytes[..word_bytes(isa)].iter().fold(0, |turned, byte| turned << 8 | u64::from(*byte));
    if decode(isa, word).is_ok() || decode(isa, turned).is_err() {
        return word;
    }
    say(&format!(
        "{}: `{what}` is read as bytes in memory order, since it is an instruction only that way",
        paint(HELP, "note")
    ));
    turned
}

/// Lists the instructions that match part of a mnemonic, or words of a description.
fn searched(target: &Target, what: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-');
    let found = if what.chars().all(plain) { list::search(target, what)? } else { return None };
    Some(format!(
        "{}\n{found}",
        paint(DIM, &format!("instructions that match `{what}`; `explain` with a name describes one:"))
    ))
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

/// Explains a word, in colour, wrapped at `width`. Also returns whether the word is a valid instruction.
pub fn render(
    isa: &'static Isa,
    semantics: Option<&'static Semantics>,
    word: u64,
    note: &str,
    width: usize,
) -> (String, Status) {
    let Explained { decoded, opcode, fields } = words::explain(isa, word);
    let mut out = String::new();
    let digits = word_digits(isa);
    match &decoded {
        Ok(opcode) => {
            let mut line = Line::new();
            print(isa, *opcode, word, Style::Customary, &mut line);
            out.push_str(&format!("{}  {}", paint(DIM, &format!("{word:0digits$x}")), paint(BOLD, line.as_str())));
            if !note.is_empty() {
                out.push_str(&format!("   {}", paint(DIM, &format!("({note})"))));
            }
            out.push_str("\n\n");
        }
        Err(error) => {
            let reason = format!("{}: {error}", paint(ERROR, "not an instruction"));
            out.push_str(&format!("{}  {reason}\n\n", paint(DIM, &format!("{word:0digits$x}"))));
        }
    }
    out.push_str(&diagram::draw(isa.word_bits, word, &fields, width, &|bit| bit));
    out.push('\n');
    out.push_str(&fields::table(&fields, width));
    if let Some(opcode) = opcode {
        out.push('\n');
        out.push_str(&about::describe(isa, opcode, word, decoded.is_ok(), width));
        let semantics = semantics.filter(|_| decoded.is_ok());
        if let Some(found) = semantics.and_then(|semantics| words::operation(isa, semantics, opcode, word)) {
            out.push_str(&about::operation(found, !note.is_empty()));
        }
    }
    (out, Status::mistakes_if(decoded.is_err()))
}
