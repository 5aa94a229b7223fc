//! Programs in any form: assembly, hexadecimal text or raw bytes.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use isaforge_analysis::Program;
use isaforge_core::assembly::{Assembly, Placed};
use isaforge_core::error::ParseReason;
use isaforge_core::number;
use isaforge_core::parse::parse;

use crate::args::EntryArgs;
use crate::builtin::Tables;
use crate::code::{self, How, Symbols, is_in_number};
use crate::failure::Failure;
use crate::input::Input;
use crate::mistakes::{Mistake, Place, describe, not_text, report};
use crate::names::instructions;
use crate::output::{count, say};
use crate::paint::{HELP, paint};

/// The code of a program in memory order.
#[derive(Debug)]
pub struct Code {
    /// The program's name in messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The address of its first byte.
    pub address: u64,
    /// Whether the code was truncated at an error, which has been reported.
    pub cut: bool,
    /// The source location of each instruction, by address: line and column, both from 1. Empty for machine code.
    pub places: BTreeMap<usize, (usize, usize)>,
    /// The names of places, by address: labels of the source, or symbols of the file.
    pub labels: Symbols,
}

impl Code {
    fn assembled(name: String, text: &str, address: u64, assembly: Assembly) -> Code {
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
        Code { name, labels: assembly.names(), bytes: assembly.bytes, address, cut: false, places }
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
        let address = how.address.unwrap_or(0);
        let assembly = tables.assemble_at(text, address);
        if assembly.errors.is_empty() && (is_named || !assembly.bytes.is_empty()) {
            return Ok(Some(Code::assembled(input.name.clone(), text, address, assembly)));
        }
        if is_named {
            report(&input.name, text, &assembly.errors);
            return Ok(None);
        }
    }
    machine_code(tables, input, how)
}

/// Says how many instructions the specification does not say the flow of.
pub fn note_unknown(program: &Program<'_>) {
    let unknown = program.unknown();
    if unknown > 0 {
        let which = count(unknown as u64, "instruction");
        let note = "those with a target are taken for conditional branches";
        say(&format!("{}: the specification does not say what {which} do; {note}", paint(HELP, "note")));
    }
}

/// Reads machine code in any form. An error is reported and truncates the program. `None` if the text is rather
/// assembly with errors.
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
    let (bytes, address, cut) = (found.code.bytes, found.address, found.mistake.is_some());
    Ok(Some(Code { name: input.name, bytes, address, cut, places: BTreeMap::new(), labels: found.symbols }))
}

/// A text as assembly, if it is rather that than digits with this mistake: some line of it is an instruction, or the
/// mistake is not in a number and some line begins with the name of an instruction.
pub fn assembly_in<'t>(tables: Tables, input: &'t Input, mistake: &Mistake) -> Option<(&'t str, Assembly)> {
    let Place::Text(line, column) = mistake.place else { return None };
    let text = std::str::from_utf8(input.body()).ok()?;
    let assembly = tables.assemble(text);
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let is_assembly = !assembly.placed.is_empty() || !is_in_number(line, column) && has_names(tables, text);
    (column <= line.chars().count() && is_assembly).then_some((text, assembly))
}

/// Whether a line of a text begins with the name of an instruction, after labels, or looks like one whose name is
/// wrong.
fn has_names(tables: Tables, text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let known: HashSet<&str> = match tables {
        Tables::Words(_) => HashSet::new(),
        _ => instructions(tables).into_iter().map(|(name, _)| name).collect(),
    };
    text.lines().any(|line| {
        let mut line = line.trim();
        let label = |line: &str| line.split_once(':').is_some_and(|(label, _)| label.chars().all(is_name));
        while label(line) {
            line = line.split_once(':').map_or("", |(_, rest)| rest.trim_start());
        }
        match tables {
            _ if line.is_empty() => false,
            Tables::Words(isa) => {
                looks_like_instruction(line)
                    || !parse(isa, line).is_err_and(|error| error.reason == ParseReason::UnknownMnemonic)
            }
            // Other things may stand before the name.
            _ => line.split(|c| !is_name(c)).filter(|name| !name.is_empty()).take(4).any(|name| known.contains(name)),
        }
    })
}

/// Whether a line is a name and a register, such as `FOO r1`.
fn looks_like_instruction(line: &str) -> bool {
    let Some((name, rest)) = line.split_once([' ', '\t']) else { return false };
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let operand = rest.trim_start().split([',', '.', ' ']).next().unwrap_or_default();
    let operand = operand.trim_start_matches(['^', '@', '-', '`']);
    let number = operand.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_register = (1..=2).contains(&(operand.len() - number.len()))
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    is_name && is_register
}

impl EntryArgs {
    /// Adds the given entry points to those of a program called `name`.
    ///
    /// # Errors
    /// When no instruction is there.
    pub fn add_to(&self, program: &mut Program<'_>, name: &str) -> Result<(), Failure> {
        for given in &self.entries {
            let place = entry_point(program, given).map_err(|wrong| {
                let help = "`--entry` takes a label of the program, or an address in bytes, such as 0x50";
                Failure::usage(format!("`--entry {given}`: {wrong} of `{name}`"), help)
            })?;
            program.enter(place);
        }
        Ok(())
    }
}

/// The instruction at a label or address.
fn entry_point(program: &Program<'_>, given: &str) -> Result<usize, String> {
    let label = program.labels.iter().find(|(_, label)| *label == given).map(|(place, _)| *place);
    let (place, wrong) = match (label, number::parse(given)) {
        (Some(place), _) => (Some(place), "no instruction follows this label".to_owned()),
        (None, Some(address)) => {
            (program.place(address.wrapping_sub(program.set.base)), format!("no instruction starts at {given}"))
        }
        (None, None) => return Err("this is neither an address nor a label".to_owned()),
    };
    place.filter(|place| *place < program.entries.len()).ok_or(wrong)
}
