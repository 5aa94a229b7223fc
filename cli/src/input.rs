//! Reading: a file, or standard input for `-` and for nothing.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::failure::Failure;

/// The most bytes that a file may hold, packed or not.
const MAX_READ: u64 = 4 << 30;

/// What was read and what to call it in messages.
#[derive(Debug)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Opens a file that may be named by a stranger: opening a pipe would wait until somebody writes to it, and a device may
/// have no end.
///
/// # Errors
/// When it cannot be opened, or is no regular file.
pub fn open(path: &Path) -> io::Result<fs::File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    fs::File::open(path)
}

/// Opens a file of the command line, which may also be what a shell has opened already: `<(command)`.
fn open_given(path: &Path) -> io::Result<fs::File> {
    let opened = ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|known| path.starts_with(known));
    if opened { fs::File::open(path) } else { open(path) }
}

/// All that there is to read, unless it is more than anybody would want.
fn whole(from: impl Read, name: &Path) -> Result<Input, Failure> {
    let mut bytes = Vec::new();
    from.take(MAX_READ + 1).read_to_end(&mut bytes).map_err(Failure::reading(name))?;
    if bytes.len() as u64 > MAX_READ {
        let message = format!("`{}` holds more than {} GiB", name.display(), MAX_READ >> 30);
        return Err(Failure::usage(message, "split it"));
    }
    Ok(Input { name: name.display().to_string(), bytes })
}

impl Input {
    /// Reads all of a file, or of standard input when the path is missing or `-`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: Option<&Path>) -> Result<Input, Failure> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => whole(open_given(path).map_err(Failure::reading(path))?, path),
            None => whole(io::stdin().lock(), Path::new("<stdin>")),
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
        whole(MultiGzDecoder::new(self.bytes.as_slice()), Path::new(&self.name))
    }

    /// The content without a byte order mark.
    pub fn body(&self) -> &[u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }
}
