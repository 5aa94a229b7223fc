//! The program of a launch file: words, or groups of bytes.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_core::assembly::Assembly;
use isaforge_core::program::ProgramError;
use isaforge_core::{Isa, Tables};

use super::buffers::read_file;
use super::launch::Program;
use crate::groups;
use crate::mistakes::Mistake;
use crate::words::{self, Encoding};

/// Loads a program of any set, or assembles it for an address, to bytes in memory order. `None` after an error, which
/// is reported.
pub fn load(
    (tables, base): (Tables, u64),
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u8>> {
    match program {
        Program::Inline(text) => {
            let Assembly { bytes, errors, .. } = tables.assemble_at(text, base);
            report_inline(text, &errors, sources, out);
            errors.is_empty().then_some(bytes)
        }
        Program::File(file) => load_file((tables, base), file, &folder.join(&file.value), sources, out),
    }
}

/// Loads or assembles a program of words. `None` after an error, which is reported.
pub fn load_words(
    isa: &'static Isa,
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u64>> {
    let words = words::of_bytes(isa, &load((Tables::Words(isa), 0), program, folder, sources, out)?);
    if words.is_empty() {
        out.push(Diagnostic::error("L0002", program.span(), "the program is empty"));
        return None;
    }
    Some(words)
}

/// Reads the code in a file.
fn read(tables: Tables, bytes: &[u8], encoding: Option<Encoding>) -> Result<Vec<u8>, Mistake> {
    let (bytes, mistake) = match tables {
        Tables::Words(isa) => {
            let found = words::read(isa, bytes, encoding);
            (words::write(isa, &found.words, Encoding::Bin), found.mistake)
        }
        Tables::Groups(_) | Tables::Streams(_) => {
            let found = groups::read(bytes, encoding);
            (found.bytes, found.mistake)
        }
    };
    mistake.map_or(Ok(bytes), Err)
}

/// The file extensions of programs: four for assembly, then hexadecimal and raw code.
const EXTENSIONS: [&str; 6] = ["s", "asm", "vpu", "usc", "hex", "bin"];

fn load_file(
    (tables, base): (Tables, u64),
    file: &Spanned<String>,
    path: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u8>> {
    let ending = |path: &Path| path.extension().and_then(OsStr::to_str).unwrap_or_default().to_owned();
    let extension = ending(path);
    let extension = extension.as_str();
    let is_program = |path: &Path| EXTENSIONS.contains(&ending(path).as_str());
    // Messages quote the lines of a program; a link must not make them quote those of another file.
    if is_program(path) && fs::canonicalize(path).is_ok_and(|real| !is_program(&real)) {
        let message = format!("`{}` is a link to a file that is not named like a program", file.value);
        out.push(Diagnostic::error("L0002", file.span, message));
        return None;
    }
    if EXTENSIONS[..4].contains(&extension) {
        return match sources.load(path) {
            Ok(id) => {
                let text = sources.text(id);
                let Assembly { bytes, errors, .. } = tables.assemble_at(text, base);
                let starts = line_starts(text);
                for error in &errors {
                    let start = starts.get(error.line - 1).copied().unwrap_or(0);
                    out.push(diagnostic(Span::new(id, in_line(text, start, error)), error));
                }
                errors.is_empty().then_some(bytes)
            }
            Err(error) => {
                out.push(Diagnostic::error("L0002", file.span, error.to_string()));
                None
            }
        };
    }
    let encoding =
        match extension {
            "hex" => Some(Encoding::Hex),
            "bin" => Some(Encoding::Bin),
            _ => {
                let error = Diagnostic::error("L0002", file.span, format!("`{}` could be anything", file.value));
                out.push(error.help(
                    "name it `.s`, `.asm`, `.usc` or `.vpu` (assembly), `.hex` (hexadecimal) or `.bin` (raw words)",
                ));
                return None;
            }
        };
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            out.push(Diagnostic::error("L0002", file.span, format!("`{}` cannot be read: {error}", path.display())));
            return None;
        }
    };
    match read(tables, &bytes, encoding) {
        Ok(program) => Some(program),
        Err(mistake) => {
            let message = format!("`{}`, {}: {}", path.display(), mistake.place, mistake.message);
            out.push(Diagnostic::error("L0002", file.span, message).help(mistake.help));
            None
        }
    }
}

fn report_inline(text: &Spanned<String>, errors: &[ProgramError], sources: &Sources, out: &mut Diagnostics) {
    let snippet = sources.snippet(text.span);
    let starts = line_starts(snippet);
    // The text of a YAML block starts on the line after its indicator.
    let skipped = usize::from(snippet.starts_with(['|', '>']));
    for error in errors {
        let wanted = text.lines().nth(error.line - 1).unwrap_or_default();
        let line = starts.get(error.line - 1 + skipped).map(|&start| (start, line_at(snippet, start)));
        let place = line.and_then(|(start, line)| Some(start + line.find(wanted)?));
        let span = match place {
            Some(start) => text.span.slice(in_line(snippet, start, error)),
            // The lines of a quoted or folded text are not those of the file.
            None => text.span,
        };
        let found = diagnostic(span, error);
        out.push(if is_path(text) {
            found.help(format!("a file is `program: {{ file: {} }}`", text.trim()))
        } else {
            found
        });
    }
}

/// Whether the text looks like the name of a program file.
fn is_path(text: &str) -> bool {
    let extension = Path::new(text.trim()).extension().and_then(|extension| extension.to_str());
    text.trim().lines().count() == 1 && extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

fn diagnostic(span: Span, error: &ProgramError) -> Diagnostic {
    let found = Diagnostic::error("L0002", span, error.message.clone());
    if error.help.is_empty() { found } else { found.help(error.help.clone()) }
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(breaks).collect()
}

fn line_at(text: &str, start: usize) -> &str {
    text.get(start..).unwrap_or_default().lines().next().unwrap_or_default()
}

/// The byte range of an error in the line that begins at `start`.
fn in_line(text: &str, start: usize, error: &ProgramError) -> std::ops::Range<usize> {
    let line = line_at(text, start);
    let at = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let first = error.column.saturating_sub(1);
    start + at(first)..start + at(first + error.len)
}
