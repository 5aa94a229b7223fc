//! Reading: a file, or standard input for `-` and for nothing.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::failure::Failure;

/// The most bytes that a packed file may hold.
const MAX_UNPACKED: u64 = 4 << 30;

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

    /// The input with its content unpacked, if it is packed with gzip; its name says nothing about that.
    ///
    /// # Errors
    /// When it is damaged, or holds more than anybody would want to replay.
    pub fn unpacked(self) -> Result<Input, Failure> {
        if !self.bytes.starts_with(b"\x1f\x8b") {
            return Ok(self);
        }
        let mut bytes = Vec::new();
        let mut content = MultiGzDecoder::new(self.bytes.as_slice()).take(MAX_UNPACKED + 1);
        content.read_to_end(&mut bytes).map_err(Failure::reading(Path::new(&self.name)))?;
        if bytes.len() as u64 > MAX_UNPACKED {
            let message = format!("`{}` holds more than {} GiB", self.name, MAX_UNPACKED >> 30);
            return Err(Failure::usage(message, "split it"));
        }
        Ok(Input { bytes, ..self })
    }

    /// The content without a byte order mark.
    pub fn body(&self) -> &[u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }
}
