//! What is wrong with units or a text.

use alloc::string::String;

/// Why units are no instruction, or a text is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceError {
    /// The place: a byte of the units or of the text.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

impl core::fmt::Display for SequenceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for SequenceError {}

impl SequenceError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        SequenceError { at, message: message.into() }
    }
}

impl SequenceError {
    /// The same at a place some bytes further.
    pub(super) fn moved(mut self, by: usize) -> Self {
        self.at += by;
        self
    }
}
