//! What claims the bits of a word, and a drawing of it for messages.

use crate::model::{Bits, Form};
use crate::source::Span;

/// A definition of certain bits.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The bits.
    pub mask: u64,
    /// One above the highest bit, which may be beyond the word.
    pub end: u32,
    /// A description, for messages.
    pub what: String,
    /// Where it is written.
    pub span: Span,
    /// Where its bits are defined, if that is elsewhere.
    pub declared: Option<Span>,
    /// The value, for constant bits.
    pub constant: Option<u64>,
    /// Whether it is a shared field, which is checked once and not for every instruction.
    pub shared: bool,
}

impl Claim {
    pub(super) fn new(bits: &Bits, what: String, span: Span, declared: Option<Span>) -> Self {
        Claim { mask: bits.own_mask(0), end: bits.end(0), what, span, declared, constant: None, shared: false }
    }

    /// The place to point at for its bits.
    pub(super) fn place(&self) -> Span {
        self.declared.unwrap_or(self.span)
    }
}

/// The meaning of a bit.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Unknown,
    Ignored,
    Constant(bool),
    Field(char),
}

/// Draws a form's word from the top bit: constants as digits, each field as a letter, `.` for ignored bits and `?` for
/// undefined ones, followed by the meaning of the letters.
pub(super) fn draw(width: u8, form: &Form, claims: &[Claim]) -> String {
    let mut cells = [Cell::Unknown; 64];
    let mut letters: Vec<(char, &str)> = Vec::new();
    let mut paint = |mask: u64, cell: &dyn Fn(usize) -> Cell| {
        for (bit, slot) in cells.iter_mut().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1) {
            *slot = cell(bit);
        }
    };
    paint(form.ignored, &|_| Cell::Ignored);
    for claim in claims.iter().filter(|claim| claim.mask & !form.ignored != 0) {
        if let Some(value) = claim.constant {
            paint(claim.mask, &|bit| Cell::Constant(value >> bit & 1 == 1));
            continue;
        }
        let name = claim.what.split('`').nth(1).unwrap_or(&claim.what);
        let letter =
            letters.iter().find(|(_, known)| *known == claim.what).map(|(letter, _)| *letter).unwrap_or_else(|| {
                let free = |letter: &char| letters.iter().all(|(taken, _)| taken != letter);
                let own = name
                    .chars()
                    .filter(char::is_ascii_alphabetic)
                    .flat_map(|c| [c.to_ascii_lowercase(), c.to_ascii_uppercase()]);
                own.chain('a'..='z').chain('A'..='Z').find(free).unwrap_or('x')
            });
        if letters.iter().all(|(taken, _)| *taken != letter) {
            letters.push((letter, &claim.what));
        }
        paint(claim.mask, &|_| Cell::Field(letter));
    }
    let mut text = String::from("the word, from the top bit: ");
    for bit in (0..usize::from(width.min(64))).rev() {
        text.push(match cells[bit] {
            Cell::Unknown => '?',
            Cell::Ignored => '.',
            Cell::Constant(value) => char::from(b'0' + u8::from(value)),
            Cell::Field(letter) => letter,
        });
        if bit % 8 == 0 && bit > 0 {
            text.push(' ');
        }
    }
    let legend: Vec<String> = letters.iter().map(|(letter, what)| format!("{letter} is {what}")).collect();
    if legend.is_empty() { text } else { format!("{text}, where {}", legend.join(", ")) }
}
