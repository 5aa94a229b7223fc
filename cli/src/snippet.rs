//! Errors in assembly text, drawn with the source line and a caret.

use isaforge_compiler::source::unseen;
use isaforge_core::program::ProgramError;

use crate::paint::{BOLD, ERROR, FRAME, HELP, paint};

/// The maximum number of characters of a source line that are shown.
const MAX_LINE: usize = 110;

/// Draws an error in the file `name`: `file:line:column: error: message`, the line, the caret, the help.
pub fn draw(name: &str, source_line: &str, error: &ProgramError) -> String {
    let place = format!("{name}:{}:{}:", error.line, error.column);
    let number = error.line.to_string();
    let gutter = " ".repeat(number.len());
    let bar = paint(FRAME, "|");
    let (line, caret, length) = window(source_line, error.column.saturating_sub(1), error.len.max(1));
    let message: String = error.message.chars().map(shown).collect();
    let mut text = format!("{} {}: {}\n", paint(BOLD, &place), paint(ERROR, "error"), paint(BOLD, &message));
    text.push_str(&format!(" {} {bar} {line}\n", paint(FRAME, &number)));
    text.push_str(&format!(" {gutter} {bar} {}{}", " ".repeat(caret), paint(ERROR, &"^".repeat(length))));
    if !error.help.is_empty() {
        let help: String = error.help.chars().map(shown).collect();
        text.push_str(&format!("\n {gutter} {} {}: {}", paint(FRAME, "="), paint(HELP, "help"), help));
    }
    text
}

/// Replaces characters that are invisible or change the display of others, so that each takes one column.
fn shown(c: char) -> char {
    match c {
        '\t' => ' ',
        '\n' | '\r' => '\u{fffd}',
        _ if unseen(c.encode_utf8(&mut [0; 4])).is_some() => '\u{fffd}',
        _ => c,
    }
}

/// The part of a line around the mark, with one column per character, and the mark's column and length in it.
fn window(line: &str, column: usize, length: usize) -> (String, usize, usize) {
    let first = if column + length.min(MAX_LINE / 2) > MAX_LINE { column.saturating_sub(MAX_LINE / 3) } else { 0 };
    let dots = if first > 0 { "…" } else { "" };
    let mut rest = line.trim_end().chars().skip(first);
    let mut text: String = dots.chars().chain(rest.by_ref().take(MAX_LINE).map(shown)).collect();
    if rest.next().is_some() {
        text.push('…');
    }
    let caret = column - first + dots.chars().count();
    let room = (first + MAX_LINE).saturating_sub(column).max(1);
    (text, caret, length.min(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_far_to_the_right_is_shown_in_a_window() {
        let line = format!("{}bad{}", "x".repeat(300), "y".repeat(300));
        let (text, caret, length) = window(&line, 300, 3);
        let marked: String = text.chars().skip(caret).take(length).collect();
        assert_eq!(marked, "bad");
        assert!(text.chars().count() < 120);
    }

    #[test]
    fn tabs_and_control_characters_take_one_column() {
        assert_eq!(window("\tab\u{7}c", 1, 2), (" ab\u{fffd}c".to_owned(), 1, 2));
        assert_eq!(window("ab", 2, 1), ("ab".to_owned(), 2, 1));
    }
}
