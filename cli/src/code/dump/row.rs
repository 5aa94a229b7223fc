//! The lines of a listing, as digits.

use crate::order::Order;

/// A run of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Their value, the first digit being the most significant.
    pub value: u128,
    /// The number of bytes.
    pub bytes: usize,
    /// Their byte order, if it is certain.
    pub order: Option<Order>,
}

/// A line of a listing.
pub struct Row {
    /// The address of its first byte, or whatever else comes first.
    pub address: u64,
    /// Its digits.
    pub tokens: Vec<Token>,
    /// What is left out before it.
    pub gap: Gap,
}

/// What is left out before a line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Gap {
    #[default]
    None,
    /// A `*`: the line before is repeated up to the address.
    Repeated,
    /// A `...` of objdump: zeros up to the address.
    Zeros,
}

/// The lines of a listing.
#[derive(Default)]
pub struct Rows {
    /// In the order of the text.
    pub rows: Vec<Row>,
    /// The line number, from 1, of the first line without bytes, its text, and the number of such lines.
    pub skipped: Option<(usize, String, usize)>,
    /// Whether zeros follow the last line.
    pub open: bool,
    /// Whether lines begin with an address.
    pub is_addressed: bool,
}
