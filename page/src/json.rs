//! Writes JSON.

use std::fmt::Write;

/// A text of JSON being written. Commas come by themselves.
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

    /// A list of what `fill` writes.
    pub fn array(&mut self, fill: impl FnOnce(&mut Json)) {
        self.comma();
        self.out.push('[');
        fill(self);
        self.out.push(']');
    }

    /// An object with the fields that `fill` writes.
    pub fn object(&mut self, fill: impl FnOnce(&mut Json)) {
        self.comma();
        self.out.push('{');
        fill(self);
        self.out.push('}');
    }

    /// A field of an object.
    pub fn field(&mut self, name: &str, value: impl FnOnce(&mut Json)) {
        self.text(name);
        self.out.push(':');
        value(self);
    }

    /// A string.
    pub fn text(&mut self, text: &str) {
        self.comma();
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                c if c.is_control() => {
                    // A string takes everything.
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// A number that JavaScript represents exactly.
    pub fn number(&mut self, number: u32) {
        self.comma();
        self.out.push_str(&number.to_string());
    }

    /// `true` or `false`.
    pub fn truth(&mut self, truth: bool) {
        self.comma();
        self.out.push_str(if truth { "true" } else { "false" });
    }
}
