//! The line at the prompt: a cursor in it, and the lines before it.

use ratatui::crossterm::event::KeyCode;

/// A line that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub line: String,
    /// Where the next character goes, in bytes.
    pub at: usize,
    /// How many lines back the text was taken from, and what had been written before that.
    recalled: Option<(usize, String)>,
}

impl Prompt {
    /// A line with a text, which can be continued.
    pub fn new(text: &str) -> Self {
        Prompt { line: text.to_owned(), at: text.len(), recalled: None }
    }

    /// The text before the cursor.
    pub fn before(&self) -> &str {
        &self.line[..self.at]
    }

    /// Replaces the text from `start` to the cursor.
    pub(super) fn complete(&mut self, start: usize, word: &str) {
        self.line.replace_range(start..self.at, word);
        self.at = start + word.len();
    }

    /// Handles a key. `entered` has the lines before this one.
    pub(super) fn press(&mut self, code: KeyCode, entered: &[String]) {
        match code {
            KeyCode::Char(c) => {
                self.line.insert(self.at, c);
                self.at += c.len_utf8();
            }
            KeyCode::Backspace => {
                let start = self.at - self.last();
                self.complete(start, "");
            }
            KeyCode::Delete if self.at < self.line.len() => _ = self.line.remove(self.at),
            KeyCode::Left => self.at -= self.last(),
            KeyCode::Right => self.at += self.line[self.at..].chars().next().map_or(0, char::len_utf8),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.line.len(),
            KeyCode::Up => self.recall(entered, |back| (back + 1).min(entered.len())),
            KeyCode::Down => self.recall(entered, |back| back.saturating_sub(1)),
            _ => {}
        }
    }

    /// Handles a key that is pressed with Control.
    pub(super) fn control(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char('a') => self.at = 0,
            KeyCode::Char('e') => self.at = self.line.len(),
            KeyCode::Char('u') => self.complete(0, ""),
            KeyCode::Char('k') => self.line.truncate(self.at),
            KeyCode::Char('w') => {
                let word = self.before().trim_end();
                let start = word.char_indices().rev().find(|(_, c)| c.is_whitespace());
                self.complete(start.map_or(0, |(at, c)| at + c.len_utf8()), "");
            }
            _ => {}
        }
    }

    /// The length of the character before the cursor.
    fn last(&self) -> usize {
        self.before().chars().next_back().map_or(0, char::len_utf8)
    }

    /// Shows another of the lines before this one.
    fn recall(&mut self, entered: &[String], turn: impl Fn(usize) -> usize) {
        let (back, own) = self.recalled.take().unwrap_or_else(|| (0, self.line.clone()));
        let back = turn(back);
        self.line = match back {
            0 => own.clone(),
            back => entered[entered.len() - back].clone(),
        };
        self.at = self.line.len();
        self.recalled = (back > 0).then_some((back, own));
    }
}
