//! Reading of files and of standard input.
//!
//! Programs are read once, as a stream. Specifications and launch files are opened several times by their path, so the
//! command line replaces `-` by the path [`STANDARD`], and a pipe that the shell has opened, as for `<(command)`, by
//! another path of this kind.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ArgMatches;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use flate2::read::MultiGzDecoder;
use isaforge_compiler::source::{Sources, of_utf16};

use crate::failure::Failure;
use crate::output::say;
use crate::paint::{HELP, paint};

/// The path that stands for a specification or launch file on standard input. Paths in it are relative to the current
/// folder.
pub const STANDARD: &str = "<stdin>";

/// Whether a path stands for standard input or for a pipe that the shell has opened.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD || pipe(path).is_some()
}

/// The path that stands for a pipe, with the number that the shell has opened it by.
fn named_pipe(number: &str) -> PathBuf {
    PathBuf::from(format!("<pipe {number}>"))
}

/// The number of a [`named_pipe`].
fn pipe(path: &Path) -> Option<&str> {
    let number = path.to_str()?.strip_prefix("<pipe ")?.strip_suffix('>')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Reads all of standard input, or of a pipe, once.
fn standard(path: &Path) -> io::Result<Arc<[u8]>> {
    static READ: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = read.get(path) {
        return Ok(bytes.clone());
    }
    let input = match pipe(path) {
        Some(number) => whole(fs::File::open(Path::new("/dev/fd").join(number))?, path),
        None => whole(io::stdin().lock(), path),
    };
    let bytes: Arc<[u8]> = input.map_err(io::Error::other)?.bytes.into();
    read.insert(path.to_owned(), bytes.clone());
    Ok(bytes)
}

/// Parses the path of an input file; `-` becomes [`STANDARD`], and an open pipe the path that stands for it.
pub fn path_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| {
        let opened = ["/dev/fd", "/proc/self/fd"].iter().find_map(|folder| path.strip_prefix(folder).ok()?.to_str());
        match opened {
            Some(number) if path.exists() => named_pipe(number),
            _ if path.as_os_str() == "-" || path.as_os_str() == "/dev/stdin" => PathBuf::from(STANDARD),
            _ => path,
        }
    })
}

/// The arguments that name input files.
const READ: [&str; 15] = [
    "spec", "file", "files", "old", "new", "from", "to", "since", "launch", "more", "what", "words", "names",
    "profile", "commands",
];

/// Checks that a command line reads standard input at most once. Some commands read it if no file is named.
///
/// # Errors
/// When two arguments read standard input.
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

/// The text of standard input, or of an open pipe, under its path; an empty map for any other path.
///
/// # Errors
/// When standard input cannot be read or is not UTF-8.
pub fn unsaved(path: &Path) -> Result<HashMap<PathBuf, String>, Failure> {
    if !is_standard(path) {
        return Ok(HashMap::new());
    }
    let input = Input::read(Some(path))?;
    let text = String::from_utf8(input.body().to_vec());
    let text = text.map_err(|_| Failure::usage(format!("`{}` is not UTF-8 text", path.display()), ""))?;
    let path = std::path::absolute(path).map_err(Failure::reading(path))?;
    Ok(HashMap::from([(path, text)]))
}

/// The sources for a file that may come from standard input.
///
/// # Errors
/// Those of [`unsaved`].
pub fn sources(path: &Path) -> Result<Sources, Failure> {
    let mut sources = Sources::new();
    sources.unsaved = unsaved(path)?;
    Ok(sources)
}

/// Reads at most the first `most` bytes of a file named on the command line.
///
/// # Errors
/// When it cannot be read.
pub fn head(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    let read = match is_standard(path) {
        true => standard(path).and_then(|bytes| bytes.take(most).read_to_end(&mut head)),
        false => open(path).and_then(|file| file.take(most).read_to_end(&mut head)),
    };
    read.map_err(Failure::reading(path))?;
    Ok(head)
}

/// Words of a command line, with those of standard input in place of `-`.
///
/// # Errors
/// When standard input cannot be read.
pub fn words(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    for word in given {
        if word == "-" {
            let input = Input::read(None)?;
            words.extend(String::from_utf8_lossy(input.body()).split_whitespace().map(str::to_owned));
        } else {
            words.push(word.clone());
        }
    }
    Ok(words)
}

/// The maximum size of an input file in bytes, compressed or not.
const MAX_READ: u64 = 4 << 30;

/// The content of an input and its name in messages.
#[derive(Debug)]
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// The same in UTF-8, if it is text in UTF-16.
    text: Option<String>,
}

/// Opens a regular file. Launch files and specifications may come from untrusted sources: opening a pipe could block
/// forever, and a device may be endless.
///
/// # Errors
/// When it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<fs::File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    fs::File::open(path)
}

/// Opens a file named on the command line. This may be a pipe that the shell has opened: `<(command)`.
fn open_given(path: &Path) -> io::Result<fs::File> {
    let opened = ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|known| path.starts_with(known));
    if opened { fs::File::open(path) } else { open(path) }
}

/// Reads to the end, within the size limit, and decompresses what is compressed with gzip, whatever its name.
fn whole(from: impl Read, name: &Path) -> Result<Input, Failure> {
    let limited = |from: &mut dyn Read| {
        let mut bytes = Vec::new();
        from.take(MAX_READ + 1).read_to_end(&mut bytes).map_err(Failure::reading(name))?;
        if bytes.len() as u64 > MAX_READ {
            let message = format!("`{}` holds more than {} GiB", name.display(), MAX_READ >> 30);
            return Err(Failure::usage(message, "split it"));
        }
        Ok(bytes)
    };
    let mut bytes = limited(&mut { from })?;
    if bytes.starts_with(b"\x1f\x8b") {
        bytes = limited(&mut MultiGzDecoder::new(bytes.as_slice()))?;
    }
    Ok(Input::new(name.display().to_string(), bytes))
}

impl Input {
    /// An input with this content.
    pub fn new(name: String, bytes: Vec<u8>) -> Input {
        let text = of_utf16(&bytes);
        Input { name, bytes, text }
    }

    /// Reads a whole file, or standard input if the path is missing or `-`. What gzip has compressed is decompressed.
    ///
    /// # Errors
    /// When it cannot be read, its compressed data is damaged, or it exceeds the size limit.
    pub fn read(path: Option<&Path>) -> Result<Input, Failure> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) if is_standard(path) => {
                let bytes = standard(path).map_err(Failure::reading(path))?.to_vec();
                Ok(Input::new(path.display().to_string(), bytes))
            }
            Some(path) => whole(open_given(path).map_err(Failure::reading(path))?, path),
            None => {
                // Without a file argument, the user may not expect that the command waits for input.
                if path.is_none() && io::stdin().is_terminal() && io::stderr().is_terminal() {
                    say(&format!("{}: reading standard input; Ctrl+D ends it", paint(HELP, "note")));
                }
                whole(io::stdin().lock(), Path::new(STANDARD))
            }
        }
    }

    /// The content without a byte order mark; that of UTF-16 as UTF-8.
    pub fn body(&self) -> &[u8] {
        if let Some(text) = &self.text {
            return text.as_bytes();
        }
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }
}
