//! Reading: a file, or standard input for `-` and for nothing.
//!
//! Programs are read once, as they come. Specifications and launch files are looked at several times and found by their path, so
//! the command line gives them the path [`STANDARD`] where somebody writes `-`.

use std::collections::HashMap;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ArgMatches;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use flate2::read::MultiGzDecoder;
use isaforge_compiler::source::Sources;

use crate::failure::Failure;
use crate::output::say;
use crate::paint::{HELP, paint};

/// The path of a specification or of a launch file that standard input holds. Paths in it are relative to the current folder.
pub const STANDARD: &str = "<stdin>";

/// Whether a path is that of standard input.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// All of standard input.
fn standard() -> io::Result<&'static [u8]> {
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes);
    }
    let input = whole(io::stdin().lock(), Path::new(STANDARD)).map_err(io::Error::other)?;
    Ok(READ.get_or_init(|| input.bytes))
}

/// A command-line path of a file that is read: `-` is standard input.
pub fn path_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| if path.as_os_str() == "-" { PathBuf::from(STANDARD) } else { path })
}

/// The arguments that name what is read.
const READ: [&str; 13] =
    ["spec", "file", "files", "old", "new", "from", "to", "since", "launch", "more", "what", "profile", "commands"];

/// Sees to it that a command line names standard input once at most. Some commands take their file from there if none is named.
///
/// # Errors
/// When two arguments name it.
pub fn read_once(command: &clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let Some(command) = command.find_subcommand(name) else { return Ok(()) };
    let mut named = Vec::new();
    for argument in command.get_arguments().filter(|argument| READ.contains(&argument.get_id().as_str())) {
        let id = argument.get_id().as_str();
        let given = matches.try_get_raw(id).ok().flatten().into_iter().flatten().filter(|value| *value == "-").count();
        let left_out = id == "file" && matches.value_source(id).is_none();
        named.extend(std::iter::repeat_n(argument.to_string(), given + usize::from(left_out)));
    }
    let [first, second, ..] = &named[..] else { return Ok(()) };
    let message = format!("`{first}` and `{second}` cannot both be standard input: name the file of one of them\n");
    Err(clap::Error::raw(ErrorKind::ArgumentConflict, message).with_cmd(command))
}

/// What stands in the place of a file at a path: the text of standard input under its name, and else nothing.
///
/// # Errors
/// When standard input cannot be read or is no text.
pub fn unsaved(path: &Path) -> Result<HashMap<PathBuf, String>, Failure> {
    if !is_standard(path) {
        return Ok(HashMap::new());
    }
    let input = Input::read(Some(path))?.unpacked()?;
    let text = String::from_utf8(input.body().to_vec());
    let text = text.map_err(|_| Failure::usage("standard input is not UTF-8 text", ""))?;
    let path = std::path::absolute(path).map_err(Failure::reading(path))?;
    Ok(HashMap::from([(path, text)]))
}

/// Texts that may hold the file at a path, wherever it comes from.
///
/// # Errors
/// Those of [`unsaved`].
pub fn sources(path: &Path) -> Result<Sources, Failure> {
    let mut sources = Sources::new();
    sources.unsaved = unsaved(path)?;
    Ok(sources)
}

/// The first bytes of a file of the command line, at most `most`.
///
/// # Errors
/// When it cannot be read.
pub fn head(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    let read = match is_standard(path) {
        true => standard().and_then(|bytes| bytes.take(most).read_to_end(&mut head)),
        false => open(path).and_then(|file| file.take(most).read_to_end(&mut head)),
    };
    read.map_err(Failure::reading(path))?;
    Ok(head)
}

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
            Some(path) if is_standard(path) => {
                let bytes = standard().map_err(Failure::reading(path))?.to_vec();
                Ok(Input { name: STANDARD.to_owned(), bytes })
            }
            Some(path) => whole(open_given(path).map_err(Failure::reading(path))?, path),
            None => {
                // Who named no file may not know what is waited for.
                if path.is_none() && io::stdin().is_terminal() && io::stderr().is_terminal() {
                    say(&format!("{}: reading standard input; Ctrl+D ends it", paint(HELP, "note")));
                }
                whole(io::stdin().lock(), Path::new(STANDARD))
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
        whole(MultiGzDecoder::new(self.bytes.as_slice()), Path::new(&self.name))
    }

    /// The content without a byte order mark.
    pub fn body(&self) -> &[u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }
}
