//! `isaforge explain`: explains every bit of an instruction.

pub mod about;
pub(crate) mod diagram;
pub(crate) mod does;
pub(crate) mod fields;
mod given;
mod objects;
mod operand;
pub(crate) mod overview;
pub(crate) mod part;

use std::io::Write;

use isaforge_analysis::Set;
use isaforge_core::Isa;
use isaforge_core::bits::word_of;
use isaforge_core::error::ParseError;
use isaforge_core::explain::words::{self, Explained, example};
use isaforge_core::parse::{find_name, parse};
use isaforge_core::print::{Style, print};
use isaforge_core::program::ProgramError;
use isaforge_core::text::Line;

use self::given::{choices_of, code_in, in_order, searched};
use crate::args::ExplainArgs;
use crate::builtin::Tables;
use crate::example::remark;
use crate::explain_code;
use crate::failure::{Failure, Status};
use crate::groups;
use crate::input::Input;
use crate::json;
use crate::mistakes::describe;
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
    let input = match args.what.as_slice() {
        [only] if only == "-" => Input::read(None)?,
        words => Input::new("text".to_owned(), words.join(" ").into_bytes()),
    };
    let what = String::from_utf8_lossy(input.body());
    let what = what.trim();
    if what.is_empty() && !args.what.is_empty() {
        let help =
            "without an argument, `explain` shows the calling convention; `isaforge list` lists all instructions";
        return Err(Failure::usage("there is nothing to explain: the text is empty", help));
    }
    if args.json {
        return objects::objects(&target, what, &input);
    }
    let width = columns().min(120);
    let general = match choices_of(target.tables, what) {
        Some(found) => Some(overview::choices(&found, width)),
        None if what.is_empty() => Some(overview::overview(&target, width)),
        None => explain_code::page(what).or_else(|| operand::operand(&target, what, width)),
    };
    let parts =
        || part::parts(&target, what).iter().map(|part| part.text(width)).reduce(|all, part| all + "\n" + &part);
    if let Some(text) = general.or_else(parts) {
        stdout().write_all(text.as_bytes())?;
        return Ok(Status::Fine);
    }
    if let Tables::Streams(engine) = target.tables
        && let Some(error) = streams::explain::elsewhere(engine, what)
    {
        say(&snippet::draw("text", what, &error));
        return Ok(Status::Mistakes);
    }
    let search = || searched(&target, what);
    match code_in(&target, what, &input)? {
        Ok(Some((bytes, _))) => {
            let (text, status) = of_code(&target, &bytes, width);
            stdout().write_all(text.as_bytes())?;
            return Ok(status);
        }
        Err(mistake) => {
            say(&describe(&input.name, &mistake));
            return Ok(Status::Mistakes);
        }
        Ok(None) => {}
    }
    let status = match target.tables {
        Tables::Words(isa) => of_words(&target, isa, what, width)?,
        Tables::Groups(isa) => groups::explain::explain(&target.set(), isa, what, search)?,
        Tables::Streams(engine) => streams::explain::explain(&target.set(), engine, what, search)?,
    };
    if let Some(fields) = part::others(target.tables, what).filter(|_| status == Status::Mistakes) {
        say(&format!("{}: {fields}", paint(HELP, "help")));
    }
    Ok(status)
}

/// Explains the instructions of a program one after another.
fn of_code(target: &Target, bytes: &[u8], width: usize) -> (String, Status) {
    let isa = match target.tables {
        Tables::Words(isa) => isa,
        Tables::Groups(isa) => return groups::explain::of_bytes(&target.set(), isa, bytes, width),
        Tables::Streams(engine) => return streams::explain::of_bytes(&target.set(), engine, bytes),
    };
    let set = target.set();
    let found = bytes.chunks(word_bytes(isa)).map(|word| render(&set, isa, word_of(word), "", width));
    let (texts, statuses): (Vec<String>, Vec<Status>) = found.unzip();
    (texts.join("\n"), Status::mistakes_if(statuses.contains(&Status::Mistakes)))
}

/// Explains a word, assembly text or a mnemonic, or else lists what a search finds.
fn of_words(target: &Target, isa: &'static Isa, what: &str, width: usize) -> Result<Status, Failure> {
    let (word, note) = match find_name(isa, what.as_bytes()) {
        Some(opcode) => {
            let name = isa.forms[usize::from(opcode)].name.str;
            (example(isa, opcode), remark(target.tables, name))
        }
        None => match parse_word(isa, what) {
            Some(word) => (in_order(isa, what, word), String::new()),
            None if what.starts_with("0x") || what.starts_with("0X") => {
                let help = format!("a word has at most {} hexadecimal digits", word_digits(isa));
                return Err(Failure::usage(format!("`{what}` is not a word of {}", target.name), help));
            }
            None => match parse(isa, what) {
                Ok((_, word)) => (word, String::new()),
                Err(_) if let Some(found) = searched(target, what).or_else(|| operand::value(target, what, width)) => {
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
    let (text, status) = render(&target.set(), isa, word, &note, width);
    stdout().write_all(text.as_bytes())?;
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

/// Explains a word, in colour, wrapped at `width`. Also returns whether the word is a valid instruction.
pub fn render(set: &Set, isa: &'static Isa, word: u64, note: &str, width: usize) -> (String, Status) {
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
        out.push_str(&about::describe(set, isa, (opcode, word), decoded.is_ok(), width));
        let semantics = set.semantics.filter(|_| decoded.is_ok());
        if let Some(found) = semantics.and_then(|semantics| words::operation(isa, semantics, opcode, word)) {
            out.push_str(&about::operation(found, !note.is_empty()));
        }
    }
    (out, Status::mistakes_if(decoded.is_err()))
}
