//! Errors in units and texts.

use alloc::string::String;

/// Why units are not an instruction, or a text is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceError {
    /// The position: a byte offset in the units or in the text.
    pub at: usize,
    /// The error message.
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
    /// The same error, `by` bytes further on.
    pub(super) fn moved(mut self, by: usize) -> Self {
        self.at += by;
        self
    }
}
