//! Colours, as escapes that [`anstream`] removes where they are not wanted.

/// Back to plain.
pub const RESET: &str = "\x1b[0m";
/// Bold.
pub const BOLD: &str = "\x1b[1m";
/// Less important.
pub const DIM: &str = "\x1b[2m";
/// Something is wrong.
pub const ERROR: &str = "\x1b[1;31m";
/// Something is likely wrong.
pub const WARNING: &str = "\x1b[1;33m";
/// All is well.
pub const GOOD: &str = "\x1b[1;32m";
/// Frames and line numbers.
pub const FRAME: &str = "\x1b[1;34m";
/// Advice.
pub const HELP: &str = "\x1b[1;36m";

/// `text` between a colour and its end.
pub fn paint(color: &str, text: &str) -> String {
    if color.is_empty() { text.to_owned() } else { format!("{color}{text}{RESET}") }
}

/// Columns to draw for: those of the terminal, or 100 when standard output is none.
pub fn columns() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).max(40))
}

/// Breaks text into lines of at most `width` characters, at spaces where possible. At least one line.
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
        // A word longer than a line is cut.
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
