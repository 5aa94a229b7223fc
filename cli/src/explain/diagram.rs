//! A word drawn as a row of boxes: every bit in its position, every field in a box.
//!
//! ```text
//! 63 62          59 58 57 56
//! ┌──┬───────────┬─────┬──
//! │ 0│ 0  0  0  0│ 0  0│ 0
//! │a │b flow     │c    │d
//! └──┴───────────┴─────┴──
//! ```

use super::fields::{Field, Shown};
use crate::paint::{DIM, paint};

/// The number of columns per bit.
const BIT: usize = 3;

/// Draws a word in colour, in rows of 32 bits, or of 16 if the terminal is too narrow. `number` maps a bit to its
/// displayed number.
pub fn draw(word_bits: u8, word: u64, fields: &[Field], width: usize, number: &dyn Fn(u8) -> u8) -> String {
    let word_bits = word_bits.clamp(1, 64);
    let row = if width > 32 * BIT { 32 } else { 16 };
    let mut out = String::new();
    let rows = word_bits.div_ceil(row);
    for index in (0..rows).rev() {
        let low = index * row;
        let high = (low + row).min(word_bits) - 1;
        draw_row(&mut out, high, low, word, fields, number);
    }
    out
}

/// Adjacent bits of a row that belong to the same field, or to none.
struct Stretch<'a> {
    high: u8,
    low: u8,
    field: Option<&'a Field>,
}

impl Stretch<'_> {
    fn columns(&self) -> usize {
        usize::from(self.high - self.low + 1) * BIT - 1
    }

    fn paint(&self, text: &str) -> String {
        paint(self.field.map_or(DIM, Shown::color), text)
    }
}

/// The field and run that contain a bit. Invalid fields come first, so that they are never hidden.
fn owner(fields: &[Field], bit: u8) -> Option<(&Field, (u8, u8))> {
    let holds = |run: &&(u8, u8)| run.0 >= bit && run.1 <= bit;
    let found = |field: &'_ &Field| field.runs.iter().any(|run| holds(&run));
    let field = fields.iter().filter(|field| field.wrong).find(found).or_else(|| fields.iter().find(found))?;
    field.runs.iter().find(holds).map(|run| (field, *run))
}

fn stretches(high: u8, low: u8, fields: &[Field]) -> Vec<Stretch<'_>> {
    let mut found: Vec<Stretch<'_>> = Vec::new();
    let mut previous = None;
    for bit in (low..=high).rev() {
        let here = owner(fields, bit);
        let key = here.map(|(field, run)| (field.key, run));
        match found.last_mut() {
            Some(last) if previous == Some(key) => last.low = bit,
            _ => found.push(Stretch { high: bit, low: bit, field: here.map(|(field, _)| field) }),
        }
        previous = Some(key);
    }
    found
}

fn draw_row(out: &mut String, high: u8, low: u8, word: u64, fields: &[Field], number: &dyn Fn(u8) -> u8) {
    let row = stretches(high, low, fields);
    let rule = |left: char, between: char, right: char| {
        let parts: Vec<String> = row.iter().map(|stretch| "─".repeat(stretch.columns())).collect();
        paint(DIM, &format!("{left}{}{right}", parts.join(&between.to_string())))
    };
    let bar = paint(DIM, "│");
    let line = |cell: &dyn Fn(&Stretch<'_>) -> String| {
        let cells: Vec<String> = row.iter().map(|stretch| stretch.paint(&cell(stretch))).collect();
        format!("{bar}{}{bar}", cells.join(&bar))
    };
    let numbers: String = row.iter().map(|stretch| format!(" {}", ends(stretch, number))).collect();
    out.push_str(&format!("{}\n", paint(DIM, numbers.trim_end())));
    out.push_str(&format!("{}\n", rule('┌', '┬', '┐')));
    out.push_str(&format!("{}\n", line(&|stretch| digits(stretch, word))));
    out.push_str(&format!("{}\n", line(&label)));
    out.push_str(&format!("{}\n", rule('└', '┴', '┘')));
}

/// The numbers of the highest and lowest bit, aligned to the ends of the stretch.
fn ends(stretch: &Stretch<'_>, number: &dyn Fn(u8) -> u8) -> String {
    let columns = stretch.columns();
    if stretch.high == stretch.low {
        return format!("{:>columns$}", number(stretch.high));
    }
    format!("{:>2}{:>rest$}", number(stretch.high), number(stretch.low), rest = columns - 2)
}

fn digits(stretch: &Stretch<'_>, word: u64) -> String {
    let bits: Vec<String> = (stretch.low..=stretch.high).rev().map(|bit| format!("{:>2}", word >> bit & 1)).collect();
    bits.join(" ")
}

/// The key, and the name if it fits.
fn label(stretch: &Stretch<'_>) -> String {
    let columns = stretch.columns();
    let text = match stretch.field {
        None => String::new(),
        Some(field) => {
            let names = [field.full_name(), field.name.clone()];
            let fitting = names.iter().find(|name| name.chars().count() + 3 <= columns);
            fitting.map_or(format!(" {}", field.key), |name| format!(" {} {name}", field.key))
        }
    };
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.chars().count())))
}
