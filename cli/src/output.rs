//! Output: results to standard output, messages to standard error, and files that are written atomically.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, StderrLock, StdoutLock, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstream::AutoStream;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::NamedTempFile;

use isaforge_compiler::source::visible;
use isaforge_core::text::is_unseen;

use crate::failure::Failure;
use crate::paint::{ERROR, HELP, paint};

/// Prints a message to standard error, coloured if wanted. Errors are ignored because they cannot be reported.
pub fn say(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Standard output for text with colours.
pub fn stdout() -> Visible<AutoStream<StdoutLock<'static>>> {
    Visible { out: anstream::stdout().lock(), colors: true, cut: Vec::new(), head: None }
}

/// Standard output for text without colours.
pub fn plain_stdout() -> Visible<StdoutLock<'static>> {
    Visible { out: io::stdout().lock(), colors: false, cut: Vec::new(), head: None }
}

/// Standard error.
pub fn stderr() -> Visible<AutoStream<StderrLock<'static>>> {
    Visible { out: anstream::stderr().lock(), colors: true, cut: Vec::new(), head: None }
}

/// Writes text that may quote names of files, arguments and contents of files. Characters that are invisible or change
/// how others are displayed become U+FFFD, or an escape on a line that is a JSON object.
#[derive(Debug)]
pub struct Visible<W> {
    out: W,
    /// Whether escape sequences of colours are written unchanged.
    colors: bool,
    /// The beginning of a character that the last write has cut.
    cut: Vec<u8>,
    /// The first byte of the current line.
    head: Option<u8>,
}

impl<W: Write> Visible<W> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
        // Without a way out of the loop it is one of vectors.
        if text.as_bytes().iter().fold(true, |all, byte| all & is_plain(byte)) {
            return self.raw(text);
        }
        let mut written = 0;
        while let Some((at, found)) = text[written..].char_indices().find(|(_, c)| is_unseen(*c)) {
            let at = written + at;
            self.raw(&text[written..at])?;
            written = at + found.len_utf8();
            let color = if found == '\u{1b}' && self.colors { color_length(&text[written..]) } else { 0 };
            if color > 0 {
                self.out.write_all(&text.as_bytes()[at..written + color])?;
                written += color;
            } else if self.head == Some(b'{') {
                found.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(self.out, "\\u{unit:04x}"))?;
            } else {
                self.raw("\u{fffd}")?;
            }
        }
        self.raw(&text[written..])
    }

    /// Writes text that needs no change.
    fn raw(&mut self, text: &str) -> io::Result<()> {
        let line = text.rfind('\n').map(|end| end + 1);
        if line.is_some() || self.head.is_none() {
            self.head = text.as_bytes().get(line.unwrap_or(0)).copied();
        }
        self.out.write_all(text.as_bytes())
    }
}

/// The length of the rest of an escape sequence that selects a colour; 0 for any other text.
fn color_length(rest: &str) -> usize {
    let digits = |c: char| c.is_ascii_digit() || c == ';';
    let end = rest.strip_prefix('[').map(|rest| rest.trim_start_matches(digits));
    end.filter(|end| end.starts_with('m')).map_or(0, |end| rest.len() - end.len() + 1)
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined;
        let all = if self.cut.is_empty() {
            bytes
        } else {
            joined = [&std::mem::take(&mut self.cut)[..], bytes].concat();
            &joined[..]
        };
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid())?;
            let rest = chunk.invalid();
            let is_cut = chunks.peek().is_none() && std::str::from_utf8(rest).is_err_and(|e| e.error_len().is_none());
            if is_cut {
                self.cut = rest.to_vec();
            } else if !rest.is_empty() {
                self.raw("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reports why the program of a file did not complete.
pub fn failed(file: &Path, reason: impl fmt::Display) {
    let reason = visible(&reason.to_string());
    say(&format!("{}: {}: {reason}", visible(&file.display().to_string()), paint(ERROR, "the program failed")));
}

/// Reports why a command could not complete.
pub fn complain(failure: &Failure) {
    let mut text = format!("{}: {}", paint(ERROR, "error"), visible(&failure.to_string()));
    if let Failure::Usage { help, .. } | Failure::Late { help, .. } = failure
        && !help.is_empty()
    {
        text.push_str(&format!("\n  {}: {}", paint(HELP, "help"), visible(help)));
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

/// Writes a file so that readers see either the old content or all of the new content. Its folder is created if it is
/// missing.
///
/// # Errors
/// When the folder cannot be written; the old content is then kept.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write(path, content).map_err(Failure::writing(path))
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(content)?;
    file.finish()
}

/// A file that is written as a whole: readers see either the old content or, after [`finish`](Self::finish), all of the
/// new content. If it is dropped before, the old content is kept.
#[derive(Debug)]
pub struct WholeFile {
    /// The path, followed through links.
    path: PathBuf,
    target: Written,
}

#[derive(Debug)]
enum Written {
    /// A device or pipe, which is written directly.
    Device(File),
    /// A file beside the path that replaces it in the end.
    Temporary(NamedTempFile),
}

impl WholeFile {
    /// Begins to write a file. Its folder is created if it is missing.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Renaming over a symbolic link would replace the link, and renaming over a device would replace the device.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&path).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let target = Written::Device(OpenOptions::new().write(true).open(&path)?);
            return Ok(WholeFile { path, target });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if old.is_none() {
            fs::create_dir_all(folder)?;
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder).map_err(without_path)?;
        if let Some(old) = old {
            temporary.as_file().set_permissions(old.permissions())?;
        }
        Ok(WholeFile { path, target: Written::Temporary(temporary) })
    }

    /// Replaces the old content.
    ///
    /// # Errors
    /// When the file cannot be replaced.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Written::Device(mut file) => file.flush(),
            Written::Temporary(file) => Ok(file.persist(&self.path).map(drop)?),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Written::Device(file) => file.write(bytes),
            Written::Temporary(file) => file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Drops the path of a temporary file from an error about it: users have not named it.
fn without_path(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|inner| inner.source()?.downcast_ref::<io::Error>()?.raw_os_error());
    cause.map_or(error, io::Error::from_raw_os_error)
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
    let bar = bar.with_prefix(visible(name));
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
    fn what_is_written_can_be_seen_however_it_is_cut() {
        let written = |text: &str, colors: bool, size: usize| {
            let mut out = Visible { out: Vec::new(), colors, cut: Vec::new(), head: None };
            text.as_bytes().chunks(size).for_each(|chunk| out.write_all(chunk).expect("memory takes it"));
            String::from_utf8(out.out).expect("it is text")
        };
        for size in 1..20 {
            let text = "a\u{202e}b\u{e9}\n{\"\u{202e}\u{e0001}\": 1}\n{}\n\u{3164}\n";
            let shown = "a\u{fffd}b\u{e9}\n{\"\\u202e\\udb40\\udc01\": 1}\n{}\n\u{fffd}\n";
            assert_eq!(written(text, true, size), shown, "{size}");
        }
        let text = "\u{1b}[1;31mx\u{1b}[0m\u{1b}[2Jy\u{1b}";
        assert_eq!(written(text, true, 99), "\u{1b}[1;31mx\u{1b}[0m\u{fffd}[2Jy\u{fffd}");
        assert_eq!(written("\u{1b}[1mx", false, 99), "\u{fffd}[1mx");
    }

    #[test]
    fn numbers_get_commas() {
        assert_eq!(thousands(1), "1");
        assert_eq!(thousands(123), "123");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(count(1, "word"), "1 word");
        assert_eq!(count(0, "word"), "0 words");
    }
}
