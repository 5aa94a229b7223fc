//! Output: messages to standard error, and files that are written atomically.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::Failure;
use crate::paint::{ERROR, HELP, paint};

/// Prints a message to standard error, coloured if wanted. Errors are ignored because they cannot be reported.
pub fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{text}");
}

/// Reports why the program of a file did not complete.
pub fn failed(file: &Path, reason: impl fmt::Display) {
    say(&format!("{}: {}: {reason}", file.display(), paint(ERROR, "the program failed")));
}

/// Reports why a command could not complete.
pub fn complain(failure: &Failure) {
    let mut text = format!("{}: {failure}", paint(ERROR, "error"));
    if let Failure::Usage { help, .. } = failure
        && !help.is_empty()
    {
        text.push_str(&format!("\n  {}: {help}", paint(HELP, "help")));
    }
    say(&text);
}

/// Adapts a byte writer to [`fmt::Write`].
#[derive(Debug)]
pub struct Text<W> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Text<W> {
    /// Creates an adapter for `out`.
    pub fn new(out: W) -> Self {
        Text { out, failed: None }
    }

    /// Finishes the text.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

impl<W: Write> fmt::Write for Text<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed.get_or_insert(error);
            fmt::Error
        })
    }
}

/// Writes a file so that readers see either the old content or all of the new content.
///
/// # Errors
/// When the folder cannot be written; the old content is then kept.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write(path, content).map_err(Failure::writing(path))
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // Renaming over a symbolic link would replace the link, and renaming over a device would replace the device.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return OpenOptions::new().write(true).open(&path)?.write_all(content);
    }
    let (mut file, temporary) = Temporary::beside(&path)?;
    file.write_all(content)?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    drop(file);
    temporary.become_file(&path)
}

/// A temporary file that is removed unless it is renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn beside(path: &Path) -> io::Result<(File, Temporary)> {
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file name"))?;
        let mut taken = None;
        for attempt in 0..100 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
            let temporary = path.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => return Ok((file, Temporary(temporary))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(taken.unwrap_or_else(|| io::Error::other("no free name for a temporary file")))
    }

    fn become_file(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0 = PathBuf::new();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// A progress bar on standard error, if that is a terminal, for `all` units of work.
pub fn progress(name: &str, all: u64) -> ProgressBar {
    if all < 2 { ProgressBar::hidden() } else { shown(Some(all), name, "{prefix} {bar:40} {pos}/{len} {eta}") }
}

/// A spinner that shows the elapsed time, for work of unknown size. `quiet` hides it.
pub fn running(name: &str, quiet: bool) -> ProgressBar {
    if quiet { ProgressBar::hidden() } else { shown(None, name, "{prefix} {spinner} {elapsed}") }
}

fn shown(all: Option<u64>, name: &str, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Hidden until the style is set.
    let bar = ProgressBar::with_draw_target(all, ProgressDrawTarget::hidden()).with_style(style);
    let bar = bar.with_prefix(name.to_owned());
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Formats a count and its noun: `1 word`, `2 words`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(number)) }
}

/// Formats a number with commas: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_commas() {
        assert_eq!(thousands(1), "1");
        assert_eq!(thousands(123), "123");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(count(1, "word"), "1 word");
        assert_eq!(count(0, "word"), "0 words");
    }
}
