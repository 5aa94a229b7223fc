//! `isaforge explain --json`.

use std::io::Write;

use isaforge_analysis::entry::{entries_with_calls, labels};
use isaforge_core::Tables;

use super::given::{choices_of, code_in};
use super::overview;
use super::part::parts;
use crate::example::example;
use crate::failure::{Failure, Status};
use crate::groups::parse;
use crate::input::Input;
use crate::json;
use crate::list::search_objects;
use crate::mistakes::{describe, report};
use crate::output::{say, stdout};
use crate::streams::explain::elsewhere;
use crate::target::Target;
use crate::words::{parse_word, word_bytes};

/// Prints a JSON object for each instruction given by mnemonic, word, bytes or text, for an enum, for a field of an
/// instruction, for each result of a search, or for the whole set if nothing is named.
///
/// # Errors
/// When standard output cannot be written.
pub fn objects(target: &Target, what: &str, input: &Input) -> Result<Status, Failure> {
    let mut out = stdout();
    if what.is_empty() {
        writeln!(out, "{}", overview::object(target))?;
        return Ok(Status::Fine);
    }
    if let Some(found) = choices_of(target.tables, what) {
        writeln!(out, "{}", json::choices(&found))?;
        return Ok(Status::Fine);
    }
    let parts = parts(target, what);
    for part in &parts {
        writeln!(out, "{}", part.object())?;
    }
    if !parts.is_empty() {
        return Ok(Status::Fine);
    }
    if let Tables::Streams(engine) = target.tables
        && let Some(error) = elsewhere(engine, what)
    {
        report("text", what, &[error]);
        return Ok(Status::Mistakes);
    }
    let mut set = target.set();
    let (bytes, example) = match (example(target.tables, what), encoded(target.tables, what)) {
        (Some(bytes), _) => (bytes, true),
        (None, Some(bytes)) => (bytes, false),
        (None, None) => match code_in(target, what, input)? {
            Ok(Some((bytes, address))) => {
                set = set.at(address);
                (bytes, false)
            }
            Err(mistake) => {
                say(&describe(&input.name, &mistake));
                return Ok(Status::Mistakes);
            }
            Ok(None) => {
                let assembly = target.tables.assemble(what);
                if !assembly.errors.is_empty() || assembly.bytes.is_empty() {
                    let found = search_objects(target, what);
                    for object in &found {
                        writeln!(out, "{object}")?;
                    }
                    if found.is_empty() {
                        report("text", what, &assembly.errors);
                    }
                    return Ok(Status::mistakes_if(found.is_empty()));
                }
                (assembly.bytes, false)
            }
        },
    };
    let labels = labels(&set, &bytes);
    let code = json::Code { set: &set, bytes: &bytes, labels: &labels, shader: None };
    let mut invalid = false;
    for entry in entries_with_calls(&set, &bytes, labels.keys().copied()) {
        json::line(&mut out, &json::explained(&code, &entry, example))?;
        invalid |= entry.instruction.is_err();
    }
    Ok(Status::mistakes_if(invalid))
}

/// Parses hexadecimal digits as an encoded instruction.
fn encoded(tables: Tables, digits: &str) -> Option<Vec<u8>> {
    match tables {
        Tables::Words(isa) => Some(parse_word(isa, digits)?.to_le_bytes()[..word_bytes(isa)].to_vec()),
        _ => parse(digits),
    }
}
