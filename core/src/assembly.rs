//! Assembled programs with the position of each instruction and label in the text, for editors and other tools that
//! show text and bytes side by side.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::program::ProgramError;

/// The result of assembling a program, possibly with errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The bytes, in memory order. The bytes of a line with an error are meaningless.
    pub bytes: Vec<u8>,
    /// The instructions without errors, in text order.
    pub placed: Vec<Placed>,
    /// The labels, in text order.
    pub labels: Vec<Label>,
    /// All errors, in text order.
    pub errors: Vec<ProgramError>,
}

/// The position of an instruction in the text and in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The line on which it starts, from 0.
    pub line: usize,
    /// The offset of its first byte.
    pub at: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// The definition of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its line, from 0.
    pub line: usize,
    /// The offset of its first byte in the line, from 0.
    pub at: usize,
}

impl Label {
    /// `name` must be a slice of `full`, which is the line with this number.
    pub(crate) fn new(full: &str, line: usize, name: &str) -> Label {
        Label { name: name.to_string(), line, at: name.as_ptr() as usize - full.as_ptr() as usize }
    }
}

impl Assembly {
    /// The labels with the offsets of what they precede: an instruction, or the end of the program.
    pub fn addresses(&self) -> impl Iterator<Item = (usize, &Label)> {
        self.labels.iter().map(|label| {
            let next = self.placed.partition_point(|placed| placed.line < label.line);
            (self.placed.get(next).map_or(self.bytes.len(), |placed| placed.at), label)
        })
    }

    /// The first label of each address.
    pub fn names(&self) -> BTreeMap<usize, String> {
        let mut names = BTreeMap::new();
        for (at, label) in self.addresses() {
            names.entry(at).or_insert_with(|| label.name.clone());
        }
        names
    }
}
