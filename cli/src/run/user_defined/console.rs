//! The standard streams of a program that the command runs.

use std::io::{self, BufWriter, StdoutLock, Write};

use isaforge_core::machine::Host;

/// The standard streams.
#[derive(Debug)]
pub struct Console {
    out: BufWriter<StdoutLock<'static>>,
    /// The first error of writing to standard output.
    pub failed: Option<io::Error>,
}

/// The number of the standard error stream.
const ERRORS: u64 = 2;

impl Console {
    /// Opens the streams.
    pub fn open() -> Self {
        Console { out: BufWriter::new(io::stdout().lock()), failed: None }
    }

    /// Prints the command's own output.
    pub fn print(&mut self, text: &str) {
        let result = self.out.write_all(text.as_bytes());
        self.keep(result);
    }

    /// Flushes standard output.
    pub fn flush(&mut self) {
        let result = self.out.flush();
        self.keep(result);
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

impl<const L: usize> Host<L> for Console {
    fn write(&mut self, stream: u64, bytes: &[u8]) -> Result<(), String> {
        if stream == ERRORS {
            // A closed standard error is not a failure.
            let _ = io::stderr().write_all(bytes);
            return Ok(());
        }
        let result = self.out.write_all(bytes);
        let told = result.as_ref().map_err(ToString::to_string).copied();
        self.keep(result);
        told
    }
}
