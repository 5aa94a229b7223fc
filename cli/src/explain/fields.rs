//! The table of fields and values.

pub use isaforge_core::explain::Field;

use isaforge_core::annotate::Role;
use isaforge_core::bits::ones;

use crate::paint::{BOLD, DIM, ERROR, paint, wrap};

/// How a field is displayed on a terminal.
pub trait Shown {
    /// Its colour.
    fn color(&self) -> &'static str;
    /// Its value in binary, or in hexadecimal if it is wide.
    fn binary(&self) -> String;
}

impl Shown for Field {
    fn color(&self) -> &'static str {
        match self.role {
            _ if self.wrong => ERROR,
            Some(Role::Opcode) => "\x1b[1;35m",
            Some(Role::Modifier) => "\x1b[33m",
            Some(Role::Operand) => "\x1b[32m",
            Some(Role::Suffix) => "\x1b[36m",
            Some(Role::Shared) => "\x1b[34m",
            Some(Role::Fixed | Role::Ignored) | None => DIM,
        }
    }

    fn binary(&self) -> String {
        let width = self.width().clamp(1, 64);
        let value = self.value & ones(width);
        if width > 10 { format!("{value:#x}") } else { format!("{value:0width$b}", width = width as usize) }
    }
}

/// Formats the table of fields, in colour.
pub fn table(fields: &[Field], width: usize) -> String {
    let mut out = String::new();
    if fields.is_empty() {
        return out;
    }
    let widest = |head: &str, cells: &dyn Fn(&Field) -> String| {
        let longest = fields.iter().map(|field| cells(field).chars().count()).max().unwrap_or(0);
        longest.max(head.len())
    };
    let bits = widest("bits", &Field::bits);
    let name = widest("field", &Field::full_name);
    let value = widest("value", &Field::binary);
    let text = widest("text", &|field| field.text.clone()).min(28);
    let indent = 3 + bits + 2 + name + 2 + value + 2 + text + 2;
    let room = width.saturating_sub(indent).max(24);
    let head = format!("   {:bits$}  {:name$}  {:>value$}  {:text$}  {}", "bits", "field", "value", "text", "meaning");
    out.push_str(&format!("{}\n", paint(DIM, &head)));
    for field in fields {
        let color = field.color();
        let lines = wrap(&field.meaning, room);
        let pad = |text: &str, wide: usize| " ".repeat(wide.saturating_sub(text.chars().count()));
        let cell = |text: &str, wide: usize| format!("{text}{}", pad(text, wide));
        let (number, full_name, bits_text) = (field.binary(), field.full_name(), field.bits());
        out.push_str(&format!(
            "{}  {}  {}  {}{}  {}",
            paint(color, &field.key.to_string()),
            cell(&bits_text, bits),
            paint(color, &cell(&full_name, name)),
            pad(&number, value),
            paint(DIM, &number),
            paint(BOLD, &field.text),
        ));
        if let Some(first) = lines.first().filter(|first| !first.is_empty()) {
            let meaning = if field.wrong { paint(ERROR, first) } else { first.clone() };
            out.push_str(&format!("{}  {meaning}", pad(&field.text, text)));
        }
        out.push('\n');
        for line in lines.iter().skip(1) {
            let line = if field.wrong { paint(ERROR, line) } else { line.clone() };
            out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
        }
    }
    out
}
