//! `isaforge explain` for streams: the meaning of an instruction's bits.

use std::io::Write;

use isaforge_analysis::Set;
use isaforge_core::Tables;
use isaforge_core::explain::streams::{example, operation};
use isaforge_core::explain::{bits_text, hex};
use isaforge_core::program::ProgramError;
use isaforge_core::stream::listing::parts;
use isaforge_core::stream::{DecodeError, Decoded, Engine, Field, Note, Role, Source, Type, Wide, annotate};
use isaforge_core::text::Line;

use crate::example::{layout_of, remark};
use crate::explain::about;
use crate::failure::{Failure, Status};
use crate::groups::parse;
use crate::output::{say, stdout};
use crate::paint::{BOLD, DIM, ERROR, paint};
use crate::snippet;

/// Explains bytes in memory order, assembly text or a mnemonic, or else prints the result of `search`.
///
/// # Errors
/// When standard output cannot be written.
pub fn explain(set: &Set, engine: Engine, what: &str, search: impl Fn() -> Option<String>) -> Result<Status, Failure> {
    let (bytes, note) = match (layout_of(engine, what), parse(what)) {
        (Some(layout), _) => {
            (engine.store(example(engine, layout)).to_vec(), remark(Tables::Streams(engine), layout.name))
        }
        (None, Some(bytes)) => (bytes, String::new()),
        (None, None) => match engine.parse(what) {
            Ok(parsed) => {
                let bytes = engine.store(parsed.decoded.word);
                (bytes[..usize::from(parsed.decoded.len)].to_vec(), String::new())
            }
            Err(error) => {
                if let Some(found) = search() {
                    stdout().write_all(found.as_bytes())?;
                    return Ok(Status::Fine);
                }
                let characters = |range: std::ops::Range<usize>| what.get(range).map_or(1, |text| text.chars().count());
                let error = ProgramError {
                    line: 1,
                    column: characters(0..error.at) + 1,
                    len: characters(error.at..error.at + error.len).max(1),
                    message: error.to_string(),
                    help: String::new(),
                };
                say(&snippet::draw("text", what, &error));
                return Ok(Status::Mistakes);
            }
        },
    };
    let (text, status) = match engine.decode(&bytes) {
        Ok(decoded) => (render(set, engine, &decoded, &note), Status::Fine),
        Err(error) => (invalid(&bytes, &error), Status::Mistakes),
    };
    stdout().write_all(text.as_bytes())?;
    Ok(status)
}

/// If a name is that of an instruction, but not in the engine's generation: an error that says in which it is one.
pub fn elsewhere(engine: Engine, name: &str) -> Option<ProgramError> {
    let all = || engine.stream.layouts_of(0).iter().filter(|layout| layout.name == name);
    if layout_of(engine, name).is_some() {
        return None;
    }
    let before = all().map(|layout| layout.until).filter(|until| *until < engine.generation).max();
    let after = all().map(|layout| layout.since).filter(|since| *since > engine.generation).min();
    let when = match (before, after) {
        (None, None) => return None,
        (None, Some(since)) => format!("exists since {}", generation(engine, since)),
        (Some(until), None) => format!("exists until {}", generation(engine, until)),
        (Some(until), Some(since)) => {
            format!("exists until {} and since {}", generation(engine, until), generation(engine, since))
        }
    };
    let message = format!("`{name}` {when}, and not in {}", generation(engine, engine.generation));
    let help = "`--generation` chooses the generation".to_owned();
    Some(ProgramError { line: 1, column: 1, len: name.chars().count(), message, help })
}

/// The name of a generation, or else `generation 2`.
fn generation(engine: Engine, number: u32) -> String {
    let named = engine.stream.generation_names.iter().find(|(_, known)| *known == number);
    named.map_or_else(|| format!("generation {number}"), |(name, _)| format!("`{name}`"))
}

/// Explains the instructions in some bytes.
pub fn of_bytes(set: &Set, engine: Engine, bytes: &[u8]) -> (String, Status) {
    let mut status = Status::Fine;
    let texts: Vec<String> = parts(engine, bytes)
        .map(|part| match part.decoded {
            Ok(decoded) => render(set, engine, &decoded, ""),
            Err(error) => {
                status = Status::Mistakes;
                invalid(part.bytes, &error)
            }
        })
        .collect();
    (texts.join("\n"), status)
}

fn invalid(bytes: &[u8], error: &DecodeError) -> String {
    format!("{}\n\n{}: {error}\n", paint(DIM, &hex(bytes)), paint(ERROR, "invalid"))
}

fn runs(bits: Wide) -> String {
    let mut runs: Vec<(u32, u32)> = bits.runs().map(|(at, width)| (at + width - 1, at)).collect();
    runs.reverse();
    bits_text(runs)
}

/// The description of a field, and for a branch target how it is counted.
fn about_field(field: &Field) -> String {
    let target = match field.ty {
        Type::Number(notation) => notation.target.map(|target| format!("a branch target, {target}")),
        _ => None,
    };
    match target {
        Some(target) if field.doc.is_empty() => target,
        Some(target) => format!("{} ({target})", field.doc.trim_end_matches('.')),
        None => field.doc.to_owned(),
    }
}

/// Explains an instruction.
fn render(set: &Set, engine: Engine, decoded: &Decoded, note: &str) -> String {
    let mut line = Line::new();
    engine.print(decoded, &mut line);
    let bytes = engine.store(decoded.word);
    let mut out = format!("{}  {}", paint(DIM, &hex(&bytes[..usize::from(decoded.len)])), paint(BOLD, line.as_str()));
    if !note.is_empty() {
        out.push_str(&format!("   {}", paint(DIM, &format!("({note})"))));
    }
    out.push_str("\n\n");
    let scope = engine.scope(decoded);
    let mut rows: Vec<[String; 4]> = Vec::new();
    annotate(engine, decoded, &mut |Note { bits, field, constant, value, text }| {
        let (name, doc) = match field {
            Some(field) if field.name.ends_with(" in bits") => return,
            Some(field) => (field.name.to_owned(), about_field(field)),
            None if constant => ("constant".to_owned(), String::new()),
            None => ("ignored".to_owned(), String::new()),
        };
        let place = match field.map(|field| field.source) {
            Some(Source::Computed { value, .. }) => {
                engine.stream.expressions.get(usize::from(value)).map_or(String::new(), |e| format!("= {}", e.text))
            }
            _ => runs(bits),
        };
        let shown = if text.as_str().is_empty() { format!("{value:#x}") } else { text.as_str().to_owned() };
        rows.push([place, name, shown, doc]);
    });
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [place, name, shown, doc] in &rows {
        let row = format!("{place:>0$}  {name:1$}  {shown:2$}  {doc}", widths[0], widths[1], widths[2]);
        out.push_str(&format!("  {}\n", row.trim_end()));
    }
    if let Some(instruction) = engine.stream.instructions.get(usize::from(scope.layout.opcode)) {
        let lines = [instruction.title, instruction.doc, instruction.note].into_iter().filter(|text| !text.is_empty());
        let about: Vec<&str> = lines.collect();
        if !about.is_empty() {
            out.push_str(&format!("\n{}\n", about.join("\n")));
        }
        out.push('\n');
        let (layout, (first, last)) = (scope.layout, engine.stream.generations);
        if layout.since > first || layout.until < last {
            let [since, until] = [layout.since.max(first), layout.until.min(last)];
            let name = |number: u32| generation(engine, number).replace('`', "");
            let which = if since == until {
                name(since)
            } else {
                format!("{} to {}", name(since), name(until).trim_start_matches("generation "))
            };
            out.push_str(&format!("  {}{which}\n", paint(DIM, &format!("{:10}", "in"))));
        }
        for (head, write) in [("reads", false), ("writes", true)] {
            let bytes = &bytes[..usize::from(decoded.len)];
            let registers = about::accesses(set, bytes, write);
            out.push_str(&format!("  {}{registers}\n", paint(DIM, &format!("{head:10}"))));
        }
        if let Some(found) = set.semantics.and_then(|semantics| operation(engine, semantics, decoded)) {
            out.push_str(&about::operation(found, !note.is_empty()));
        }
        let source = format!("{}; provenance: {}", instruction.source, instruction.provenance.as_str());
        out.push_str(&format!("\n{}\n", paint(DIM, &source)));
        let aliases = engine
            .stream
            .layouts_of(0)
            .iter()
            .filter(|layout| layout.opcode == scope.layout.opcode && layout.role != Role::Own)
            .filter(|layout| (layout.since..=layout.until).contains(&engine.generation));
        let names: Vec<&str> = aliases.map(|layout| layout.name).collect();
        if !names.is_empty() {
            out.push_str(&format!("{}\n", paint(DIM, &format!("also written: {}", names.join(", ")))));
        }
    }
    out
}
