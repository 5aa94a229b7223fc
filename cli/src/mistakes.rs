//! The mistakes of assembly and of machine code, and how they are printed.

use std::fmt;
use std::io::Write;

use isaforge_core::program::ProgramError;

use crate::input::Input;
use crate::output::{count, say, stderr, thousands};
use crate::paint::{BOLD, ERROR, HELP, paint};
use crate::snippet;

/// An error at which reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line and column, both from 1, in text; byte offset in a binary file.
    pub place: Place,
    /// The message.
    pub message: String,
    /// The help.
    pub help: String,
}

/// A location in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line and column, both from 1.
    Text(usize, usize),
    /// Offset in bytes, from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text(line, column) => write!(f, "{line}:{column}"),
            Place::Byte(offset) => write!(f, "byte {offset:#x}"),
        }
    }
}

/// The number of errors that are printed in full; the rest are only counted.
pub const SHOWN: usize = 100;

/// Reports the errors of a text, each with its source line.
pub fn report(name: &str, text: &str, errors: &[ProgramError]) {
    let mut err = stderr();
    let mut lines = text.lines().enumerate();
    let mut current = (usize::MAX, "");
    for error in errors.iter().take(SHOWN) {
        // Errors are sorted by line, so one pass over the lines is enough.
        if current.0 != error.line - 1 {
            current = lines.find(|(index, _)| *index + 1 == error.line).unwrap_or((usize::MAX, ""));
        }
        // A closed standard error is not a failure.
        let _ = writeln!(err, "{}\n", snippet::draw(name, current.1, error));
    }
    say_number(errors.len());
}

/// Says how many mistakes there are, and how many of them are not shown.
pub fn say_number(all: usize) {
    let left_out = all.saturating_sub(SHOWN) as u64;
    let rest = if left_out > 0 { format!(", {} not shown", thousands(left_out)) } else { String::new() };
    say(&format!("{}: {}", paint(ERROR, "error"), paint(BOLD, &format!("{}{rest}", count(all as u64, "mistake")))));
}

/// Describes where a file stops being valid text.
pub fn not_text(input: &Input, at: usize) -> String {
    let before = input.body().get(..at).unwrap_or_default();
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
    let place = format!("{}:{line}:{column}:", input.name);
    let message = "this is not UTF-8 text; raw words go to `isaforge dis`";
    format!("{} {}: {}", paint(BOLD, &place), paint(ERROR, "error"), paint(BOLD, message))
}

/// Formats an error in a file of words with its location and help.
pub fn describe(name: &str, mistake: &Mistake) -> String {
    let place = match mistake.place {
        Place::Text(line, column) => format!("{name}:{line}:{column}:"),
        Place::Byte(offset) => format!("{name}: byte {offset:#x}:"),
    };
    let message = paint(BOLD, &mistake.message);
    format!("{} {}: {message}\n  {}: {}", paint(BOLD, &place), paint(ERROR, "error"), paint(HELP, "help"), mistake.help)
}
