//! Colours, as escape sequences that [`anstream`] removes where they are not wanted.

use std::io::{self, IsTerminal};

/// Resets all attributes.
pub const RESET: &str = "\x1b[0m";
/// Bold.
pub const BOLD: &str = "\x1b[1m";
/// Less important text.
pub const DIM: &str = "\x1b[2m";
/// Errors.
pub const ERROR: &str = "\x1b[1;31m";
/// Warnings.
pub const WARNING: &str = "\x1b[1;33m";
/// Success.
pub const GOOD: &str = "\x1b[1;32m";
/// Frames and line numbers.
pub const FRAME: &str = "\x1b[1;34m";
/// Hints.
pub const HELP: &str = "\x1b[1;36m";

/// Wraps `text` in a colour and a reset.
pub fn paint(color: &str, text: &str) -> String {
    if color.is_empty() { text.to_owned() } else { format!("{color}{text}{RESET}") }
}

/// The width that text is wrapped to: the value of `COLUMNS`, or else that of the terminal, or 100 without one.
pub fn columns() -> usize {
    given_columns().or_else(terminal_columns).map_or(100, |width| width.max(40))
}

/// The width that lines are cut to: the value of `COLUMNS`, or else that of the terminal that shows the output.
pub fn width() -> Option<usize> {
    given_columns().or_else(|| io::stdout().is_terminal().then(terminal_columns).flatten())
}

fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

fn given_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0)
}

/// Breaks text into lines of at most `width` characters, at spaces where possible. Returns at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let mut rest = word;
        // Words longer than a line are split.
        while length > width {
            let cut = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
            if let Some(line) = lines.last_mut() {
                line.push_str(&rest[..cut]);
            }
            lines.push(String::new());
            rest = &rest[cut..];
            length -= width;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(rest);
            used += length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn text_breaks_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("ab abcdefghijkl m", 8), ["ab", "abcdefgh", "ijkl m"]);
    }
}
