//! Everything known about an instruction, as data: to be shown in a terminal, on a page, or to another program.
//!
//! [`words`], [`groups`] and [`streams`] give the [`Field`]s of an instruction, an example of its text, and the
//! registers that it uses. [`words::operation`] gives its semantics, and [`picture`](mod@picture) draws a group.

pub mod groups;
pub mod picture;
pub mod streams;
pub mod words;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::annotate::{Note, Role};

/// A field of an instruction: its position, its value and the meaning of the value.
#[derive(Clone, Debug)]
pub struct Field {
    /// The runs of bits that it occupies: highest and lowest bit of each.
    pub runs: Vec<(u8, u8)>,
    /// Its name.
    pub name: String,
    /// The operand that it belongs to; empty for a field of the instruction itself.
    pub operand: String,
    /// Its role; `None` for bits that make the word invalid.
    pub role: Option<Role>,
    /// Its value.
    pub value: u64,
    /// The value in assembly.
    pub text: String,
    /// The meaning of the value.
    pub meaning: String,
    /// Whether this field makes the word invalid.
    pub wrong: bool,
    /// The letter that represents it in the diagram.
    pub key: char,
}

impl Field {
    /// A field without text and meaning.
    pub fn new(runs: Vec<(u8, u8)>, name: &str, role: Role, value: u64) -> Field {
        Field {
            runs,
            name: name.to_owned(),
            operand: String::new(),
            role: Some(role),
            value,
            text: String::new(),
            meaning: String::new(),
            wrong: false,
            key: ' ',
        }
    }

    fn of_note(note: &Note) -> Field {
        Field {
            operand: note.operand.to_owned(),
            text: note.text.as_str().to_owned(),
            meaning: note.meaning.to_owned(),
            ..Field::new(vec![(note.high, note.low)], note.name, note.role, note.value)
        }
    }

    /// Bits that make a word invalid.
    pub fn wrong(bits: (u8, u8), name: &str, value: u64, meaning: &str) -> Field {
        Field {
            role: None,
            text: format!("{value:#X}").replacen("0X", "0x", 1),
            meaning: meaning.to_owned(),
            wrong: true,
            ..Field::new(vec![bits], name, Role::Fixed, value)
        }
    }

    /// Marks this field as the one that makes the word invalid.
    pub fn blame(&mut self, meaning: &str) {
        self.wrong = true;
        self.meaning = meaning.to_owned();
    }

    /// Whether it occupies exactly these bits.
    pub fn has_bits(&self, bits: (u8, u8)) -> bool {
        self.runs == [bits]
    }

    /// Its bits, such as `47..40, 3`.
    pub fn bits(&self) -> String {
        bits_text(self.runs.iter().copied())
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.runs.iter().map(|(high, low)| u32::from(high - low) + 1).sum()
    }

    /// The name, prefixed with that of the operand.
    pub fn full_name(&self) -> String {
        if self.operand.is_empty() { self.name.clone() } else { format!("{}.{}", self.operand, self.name) }
    }
}

/// Formats runs of bits, each given by its highest and lowest bit.
///
/// # Examples
///
/// ```
/// assert_eq!(isaforge_core::explain::bits_text([(47, 40), (3, 3)]), "47..40, 3");
/// ```
pub fn bits_text<B: Display + PartialEq>(runs: impl IntoIterator<Item = (B, B)>) -> String {
    let run = |(high, low)| if high == low { format!("{low}") } else { format!("{high}..{low}") };
    runs.into_iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Formats bytes as hexadecimal digits, in memory order.
///
/// # Examples
///
/// ```
/// assert_eq!(isaforge_core::explain::hex(&[0xc0, 0x01]), "c001");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Sorts the fields by position and gives each a letter.
pub fn name_keys(fields: &mut [Field]) {
    fields.sort_by_key(|field| core::cmp::Reverse(field.runs.first().map(|run| run.0)));
    let mut keys = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    for field in fields {
        field.key = keys.next().unwrap_or('*');
    }
}
