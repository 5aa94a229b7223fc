//! A launch file's program: words, or the bytes of groups.

use std::path::Path;

use isaforge_compiler::diagnostic::{Diagnostic, Diagnostics};
use isaforge_compiler::source::{Sources, Span, Spanned};
use isaforge_core::Isa;
use isaforge_core::group::GroupIsa;
use isaforge_core::group::listing::assemble_program;
use isaforge_core::program::{ProgramError, assemble};
use isaforge_core::stream::{self, Engine};

use super::buffers::read_file;
use super::launch::Program;
use crate::groups;
use crate::words::{self, Encoding, Mistake};

type Assemble<'a, T> = &'a dyn Fn(&str) -> Result<T, Vec<ProgramError>>;
type Read<'a, T> = &'a dyn Fn(&[u8], Option<Encoding>) -> Result<T, Mistake>;

/// How a program is read.
struct Readers<'a, T> {
    assemble: Assemble<'a, T>,
    read: Read<'a, T>,
}

/// Loads or assembles a program of words. `None` after a mistake, which is reported.
pub fn load(
    isa: &'static Isa,
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u64>> {
    let read = |bytes: &[u8], encoding| {
        let found = words::read(isa, bytes, encoding);
        found.mistake.map_or(Ok(found.words), Err)
    };
    let readers = Readers { assemble: &|text| assemble(isa, text), read: &read };
    load_with(&readers, program, folder, sources, out)
}

/// Loads or assembles a program of groups. `None` after a mistake, which is reported.
pub fn load_groups(
    isa: &'static GroupIsa,
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u8>> {
    let read = |bytes: &[u8], encoding| {
        let found = groups::read(bytes, encoding);
        found.mistake.map_or(Ok(found.bytes), Err)
    };
    let readers = Readers { assemble: &|text| assemble_program(isa, text), read: &read };
    load_with(&readers, program, folder, sources, out)
}

/// Loads or assembles a program of a stream. `None` after a mistake, which is reported.
pub fn load_stream(
    engine: Engine,
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Vec<u8>> {
    let read = |bytes: &[u8], encoding| {
        let found = groups::read(bytes, encoding);
        found.mistake.map_or(Ok(found.bytes), Err)
    };
    let readers = Readers { assemble: &|text| stream::program::assemble(engine, text), read: &read };
    load_with(&readers, program, folder, sources, out)
}

/// How files of programs are called: four sorts of assembly, then numbers.
const EXTENSIONS: [&str; 6] = ["s", "asm", "vpu", "usc", "hex", "bin"];

fn load_with<T>(
    readers: &Readers<'_, T>,
    program: &Program,
    folder: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<T> {
    match program {
        Program::Inline(text) => {
            (readers.assemble)(text).map_err(|errors| report_inline(text, &errors, sources, out)).ok()
        }
        Program::File(file) => load_file(readers, file, &folder.join(&file.value), sources, out),
    }
}

fn load_file<T>(
    readers: &Readers<'_, T>,
    file: &Spanned<String>,
    path: &Path,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<T> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if EXTENSIONS[..4].contains(&extension) {
        return match sources.load(path) {
            Ok(id) => {
                let text = sources.text(id);
                let report = |errors: Vec<ProgramError>| {
                    let starts = line_starts(text);
                    for error in &errors {
                        let start = starts.get(error.line - 1).copied().unwrap_or(0);
                        out.push(diagnostic(Span::new(id, in_line(text, start, error)), error));
                    }
                };
                (readers.assemble)(text).map_err(report).ok()
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
    match (readers.read)(&bytes, encoding) {
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
    // The text of a block begins on the line after its mark.
    let skipped = usize::from(snippet.starts_with(['|', '>']));
    for error in errors {
        let wanted = text.lines().nth(error.line - 1).unwrap_or_default();
        let line = starts.get(error.line - 1 + skipped).map(|&start| (start, line_at(snippet, start)));
        let place = line.and_then(|(start, line)| Some(start + line.find(wanted)?));
        let span = match place {
            Some(start) => text.span.slice(in_line(snippet, start, error)),
            // A text in quotes or folded: its lines are not those of the file.
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

/// Whether a program is rather the name of a file that holds one.
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

/// The bytes that an error marks in the line from `start`.
fn in_line(text: &str, start: usize, error: &ProgramError) -> std::ops::Range<usize> {
    let line = line_at(text, start);
    let at = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let first = error.column.saturating_sub(1);
    start + at(first)..start + at(first + error.len)
}
