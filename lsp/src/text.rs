//! Positions in a document. Editors count lines from 0 and columns in UTF-16 units.

use std::ops::Range;

use lsp_types::Position;

/// A text and the starts of its lines.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The whole text.
    pub text: String,
    starts: Vec<usize>,
}

impl Text {
    /// Splits a text into lines.
    pub fn new(text: String) -> Text {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Text { text, starts }
    }

    /// The number of lines, including an empty one at the end.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// A line without its line break; empty past the last line.
    pub fn line(&self, line: usize) -> &str {
        let Some(start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(*start..end).unwrap_or_default().trim_end_matches('\r')
    }

    /// The offset of a line.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The byte of a line at a column, or the end of the line if the column is past it.
    pub fn byte(&self, position: Position) -> usize {
        let line = self.line(position.line as usize);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= position.character {
                return at;
            }
            units += character.len_utf16() as u32;
        }
        line.len()
    }

    /// The position of a byte of a line.
    pub fn position(&self, line: usize, byte: usize) -> Position {
        let text = self.line(line);
        let before = text.get(..byte.min(text.len())).unwrap_or(text);
        Position::new(line as u32, before.encode_utf16().count() as u32)
    }

    /// The position of a byte of the text.
    pub fn place(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        self.position(line, offset - self.start(line).min(offset))
    }

    /// The range of some bytes in a line.
    pub fn range(&self, line: usize, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(line, bytes.start), self.position(line, bytes.end))
    }

    /// The range of `len` characters from a column, both counted as in the assembler's messages: columns start at 1.
    pub fn characters(&self, line: usize, column: usize, len: usize) -> lsp_types::Range {
        let text = self.line(line);
        let byte = |characters: usize| text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
        self.range(line, byte(column.saturating_sub(1))..byte(column.saturating_sub(1) + len))
    }
}

/// A mark at the start of a text that is no part of it.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// The byte of a text at a position as an editor counts it, for which a lone carriage return ends a line, too.
pub fn offset(text: &str, position: Position) -> usize {
    let mut rest = text;
    for _ in 0..position.line {
        let Some(end) = rest.find(['\n', '\r']) else { return text.len() };
        let len = if rest.get(end..).is_some_and(|rest| rest.starts_with("\r\n")) { 2 } else { 1 };
        rest = rest.get(end + len..).unwrap_or_default();
    }
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let mut units = 0;
    let before = line.chars().take_while(|character| {
        let is_before = units < position.character;
        units += character.len_utf16() as u32;
        is_before
    });
    text.len() - rest.len() + before.map(char::len_utf8).sum::<usize>()
}

/// A text in Markdown, as this crate writes it, without its marks.
pub fn unmarked(markdown: &str) -> String {
    let mut found = String::new();
    let mut is_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let row = line.strip_prefix('|').and_then(|row| row.strip_suffix('|'));
        match row {
            _ if is_code => found.push_str(line),
            Some(row) if row.chars().all(|c| matches!(c, '-' | '|')) => continue,
            Some(row) => {
                let row = row.replace("\\|", "\u{1}");
                let cells = row.split('|').map(str::trim).filter(|cell| !cell.is_empty());
                let cells: Vec<String> = cells.map(|cell| cell.replace('\u{1}', "|").replace('`', "")).collect();
                found.push_str(&cells.join("  "));
            }
            None => found.push_str(&line.trim_end().replace("**", "").replace('`', "")),
        }
        found.push('\n');
    }
    found.truncate(found.trim_end().len());
    found
}

/// The occurrences of a word in a line that are not part of a longer word. `is_part` tells which characters words
/// consist of.
pub fn occurrences<'t>(
    line: &'t str,
    word: &'t str,
    is_part: impl Fn(char) -> bool + Copy + 't,
) -> impl Iterator<Item = Range<usize>> + 't {
    let stands_alone = move |at: usize| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        before || line[at + word.len()..].chars().next().is_some_and(is_part)
    };
    let found = line.match_indices(word).filter(move |(at, _)| !word.is_empty() && !stands_alone(*at));
    found.map(|(at, word)| at..at + word.len())
}

/// The run of matching characters that touches a byte of a line.
pub fn run_at(line: &str, byte: usize, is_part: impl Fn(char) -> bool + Copy) -> Range<usize> {
    let byte = line.floor_char_boundary(byte);
    let before: usize = line[..byte].chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    let after: usize = line[byte..].chars().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    byte - before..byte + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units_of_utf_16() {
        let text = Text::new("a\r\n𝒳é: x\nlast".to_owned());
        assert_eq!((text.lines(), text.line(1), text.line(2), text.line(9)), (3, "𝒳é: x", "last", ""));
        let at = text.line(1).find('x').unwrap();
        assert_eq!(text.position(1, at), Position::new(1, 5));
        assert_eq!(text.byte(Position::new(1, 5)), at);
        assert_eq!(text.place(text.start(1) + at), Position::new(1, 5));
        assert_eq!(text.characters(1, 5, 1), text.range(1, at..at + 1));
        assert_eq!(text.byte(Position::new(2, 99)), 4);
    }

    #[test]
    fn offsets_count_all_ends_of_lines() {
        let text = "a\r\n𝒳é\rx\n";
        let at = |line, character| offset(text, Position::new(line, character));
        assert_eq!([at(0, 1), at(0, 9), at(1, 0), at(1, 2), at(1, 3), at(1, 9)], [1, 1, 3, 7, 9, 9]);
        assert_eq!([at(2, 0), at(2, 1), at(3, 0), at(9, 9)], [10, 11, 12, 12]);
    }

    #[test]
    fn plain_text_has_no_marks() {
        let markdown =
            "**ADD** — adds\n\n`00` at `0x0`  \n```\na **b** `c`\n```\n| a | b |\n|---|---|\n| 1 | `x\\|y` |\n";
        assert_eq!(unmarked(markdown), "ADD — adds\n\n00 at 0x0\na **b** `c`\na  b\n1  x|y");
    }

    #[test]
    fn words_stand_alone() {
        let is_part = |c: char| c.is_alphanumeric();
        assert_eq!(occurrences("r1, r11, ^r1", "r1", is_part).collect::<Vec<_>>(), [0..2, 10..12]);
        assert_eq!(run_at("ab cd", 3, is_part), 3..5);
        assert_eq!(run_at("ab cd", 2, is_part), 0..2);
    }
}
