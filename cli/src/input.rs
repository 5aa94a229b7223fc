//! Reading: a file, or standard input for `-` and for nothing.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;

/// What was read and what to call it in messages.
#[derive(Debug)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Reads all of a file, or of standard input when the path is missing or `-`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: Option<&Path>) -> Result<Input, Failure> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                let bytes = fs::read(path).map_err(Failure::reading(path))?;
                Ok(Input { name: path.display().to_string(), bytes })
            }
            None => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map_err(Failure::reading(Path::new("<stdin>")))?;
                Ok(Input { name: "<stdin>".to_owned(), bytes })
            }
        }
    }

    /// The content without a byte order mark.
    pub fn body(&self) -> &[u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }
}
