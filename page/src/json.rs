//! Writes JSON.

use std::fmt::Write;

/// A JSON text under construction. Commas are inserted automatically.
#[derive(Default)]
pub struct Json {
    pub out: String,
}

impl Json {
    fn comma(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(['[', '{', ':', ',']) {
            self.out.push(',');
        }
    }

    /// Writes an array with the elements that `fill` writes.
    pub fn array(&mut self, fill: impl FnOnce(&mut Json)) {
        self.comma();
        self.out.push('[');
        fill(self);
        self.out.push(']');
    }

    /// Writes an object with the fields that `fill` writes.
    pub fn object(&mut self, fill: impl FnOnce(&mut Json)) {
        self.comma();
        self.out.push('{');
        fill(self);
        self.out.push('}');
    }

    /// Writes a field of an object.
    pub fn field(&mut self, name: &str, value: impl FnOnce(&mut Json)) {
        self.text(name);
        self.out.push(':');
        value(self);
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) {
        self.comma();
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                c if c.is_control() => {
                    // Writing to a string cannot fail.
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// Writes a number, which JavaScript represents exactly up to 53 bits.
    pub fn number(&mut self, number: i64) {
        self.comma();
        self.out.push_str(&number.to_string());
    }

    /// Writes `true` or `false`.
    pub fn truth(&mut self, truth: bool) {
        self.comma();
        self.out.push_str(if truth { "true" } else { "false" });
    }
}
