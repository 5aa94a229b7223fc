//! Programs in any form: assembly, hexadecimal text or raw bytes.

use std::collections::BTreeMap;
use std::path::Path;

use isaforge_core::assembly::{Assembly, Placed};

use crate::asm::{not_text, report};
use crate::builtin::Tables;
use crate::code::{self, How, Symbols};
use crate::dis::describe;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::say;
use crate::words::{Mistake, Place};

/// The code of a program in memory order.
#[derive(Debug)]
pub struct Code {
    /// The program's name in messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether the code was truncated at an error, which has been reported.
    pub cut: bool,
    /// The source location of each instruction, by address: line and column, both from 1. Empty for machine code.
    pub places: BTreeMap<usize, (usize, usize)>,
    /// The names of places, by address: labels of the source, or symbols of the file.
    pub labels: Symbols,
}

impl Code {
    fn assembled(name: String, text: &str, assembly: Assembly) -> Code {
        let lines: Vec<&str> = text.lines().collect();
        let labels: BTreeMap<usize, usize> =
            assembly.labels.iter().map(|label| (label.line, label.at + label.name.len())).collect();
        let place = |placed: &Placed| {
            let line = lines.get(placed.line).copied().unwrap_or_default();
            let start = labels.get(&placed.line).copied().unwrap_or(0);
            let is_before = |c: char| c.is_whitespace() || start > 0 && c == ':';
            let at = line.get(start..).and_then(|rest| rest.find(|c| !is_before(c))).unwrap_or(0) + start;
            (placed.at, (placed.line + 1, line.get(..at).map_or(0, |before| before.chars().count()) + 1))
        };
        let places = assembly.placed.iter().map(place).collect();
        Code { name, labels: assembly.names(), bytes: assembly.bytes, cut: false, places }
    }
}

/// Reads a program: assembly if the file is named `.s` or `.asm`, or if it assembles; else machine code in any form.
/// `None` if it is assembly with errors, which have been reported.
///
/// # Errors
/// When the file cannot be read.
pub fn load(tables: Tables, path: Option<&Path>, how: How<'_>) -> Result<Option<Code>, Failure> {
    let input = Input::read(path)?;
    let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_named = matches!(extension, "s" | "asm");
    if how.encoding.is_none() {
        let Ok(text) = std::str::from_utf8(input.body()) else {
            if is_named {
                say(&not_text(&input, 0));
                return Ok(None);
            }
            return machine_code(tables, input, how);
        };
        let assembly = tables.assemble(text);
        if assembly.errors.is_empty() && (is_named || !assembly.bytes.is_empty()) {
            return Ok(Some(Code::assembled(input.name.clone(), text, assembly)));
        }
        if is_named {
            report(&input.name, text, &assembly.errors);
            return Ok(None);
        }
    }
    machine_code(tables, input, how)
}

/// Reads machine code in any form. An error is reported and truncates the program. `None` if the text is rather assembly
/// with errors.
///
/// # Errors
/// Those of [`code::read`], and when the file contains several programs.
fn machine_code(tables: Tables, input: Input, how: How<'_>) -> Result<Option<Code>, Failure> {
    let found = code::read(tables, &input, how)?;
    found.say_note(&input);
    if !found.shaders.is_empty() {
        let message = format!("`{}` holds {} shaders, and this takes one", input.name, found.shaders.len());
        return Err(Failure::usage(message, "choose one: `--shader NAME`"));
    }
    if let Some(mistake) = &found.mistake {
        if how.encoding.is_none()
            && let Some((text, assembly)) = assembly_in(tables, &input, mistake)
        {
            report(&input.name, text, &assembly.errors);
            return Ok(None);
        }
        say(&describe(&input.name, mistake));
    }
    let (bytes, cut) = (found.code.bytes, found.mistake.is_some());
    Ok(Some(Code { name: input.name, bytes, cut, places: BTreeMap::new(), labels: found.symbols }))
}

/// A text as assembly, if it is rather that than digits with this mistake: if some line of it is an instruction, or the
/// mistake is not in a number.
pub fn assembly_in<'t>(tables: Tables, input: &'t Input, mistake: &Mistake) -> Option<(&'t str, Assembly)> {
    let Place::Text(line, column) = mistake.place else { return None };
    let text = std::str::from_utf8(input.body()).ok()?;
    let assembly = tables.assemble(text);
    let line: Vec<char> = text.lines().nth(line.checked_sub(1)?)?.chars().collect();
    let is_between = |c: &char| c.is_whitespace() || *c == ',';
    let (before, after) = line.split_at_checked(column.checked_sub(1)?)?;
    let start = before.iter().rposition(is_between).map_or(0, |at| at + 1);
    let number: Vec<char> = line[start..].iter().take_while(|c| !is_between(c)).copied().collect();
    let digits = number.iter().take_while(|c| c.is_ascii_hexdigit()).count();
    let is_number = number.first().is_some_and(char::is_ascii_digit) || digits == number.len() || digits >= LONG;
    (!after.is_empty() && (!assembly.placed.is_empty() || !is_number)).then_some((text, assembly))
}

/// More hexadecimal digits than any mnemonic starts with.
const LONG: usize = 8;
