//! The front page of a generated crate: what the set is, and an example that goes through its doors.

use isaforge_core::Tables;
use isaforge_core::explain::{groups, streams, words};
use isaforge_core::group;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::print::{Style, print};
use isaforge_core::stream::Engine;
use isaforge_core::table::Isa;
use isaforge_core::text::Line;

use super::idents::doc_text;
use super::types::Names;

/// Characters of the longest assembly that is shown.
const MOST: usize = 60;

/// The page as Markdown, for the crate that Rust knows by this name.
pub fn front(tables: Tables, doc: &str, crate_name: &str) -> String {
    let (summary, example) = match tables {
        Tables::Words(isa) => (of_words(isa), word(isa, crate_name)),
        Tables::Groups(isa) => {
            let (operations, longest) = (isa.operations.len(), isa.longest);
            (format!("{operations} operations, in groups of up to {longest} bytes."), example_group(isa, crate_name))
        }
        Tables::Streams(engine) => {
            let (count, longest) = (engine.stream.instructions.len(), engine.stream.longest);
            (format!("{count} instructions of up to {longest} bytes."), example_stream(engine, crate_name))
        }
    };
    let doc = doc_text(if doc.trim().is_empty() { tables.name() } else { doc });
    let example = example
        .map_or_else(String::new, |code| format!("\n\n```\n{code}# Ok::<(), Box<dyn std::error::Error>>(())\n```"));
    // The first space of a line is what `//!` has behind it.
    let rest = format!("\n\n{summary}{example}").replace('\n', "\n ").replace("\n \n", "\n\n");
    format!("{doc}{rest}")
}

fn of_words(isa: &Isa) -> String {
    format!("{} instructions in words of {} bits.", isa.forms.len(), isa.word_bits)
}

/// A text as a Rust literal.
fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// An instruction that says much in a short line: of those whose assembly is short enough, the longest.
fn best<T>(all: impl Iterator<Item = (T, String)>) -> Option<(T, String)> {
    let all = all.filter(|(_, text)| text.len() <= MOST && text.is_ascii());
    all.fold(None, |best: Option<(T, String)>, (what, text)| match best {
        Some(best) if best.1.len() >= text.len() => Some(best),
        _ => Some((what, text)),
    })
}

fn word(isa: &'static Isa, crate_name: &str) -> Option<String> {
    let all = (0..isa.forms.len() as u16).map(|opcode| {
        let (word, mut line) = (words::example(isa, opcode), Line::new());
        print(isa, opcode, word, Style::Customary, &mut line);
        ((opcode, word), line.as_str().to_owned())
    });
    let own = all.filter(|((opcode, word), text)| isaforge_core::parse::parse(isa, text) == Ok((*opcode, *word)));
    let ((opcode, word), text) = best(own)?;
    let names = Names::new(isa);
    let (variant, text, count) = (names.forms.get(usize::from(opcode))?, literal(&text), isa.forms.len());
    let word = format!("{word:#x}");
    Some(format!(
        "use {crate_name}::{{Instruction, Opcode, decode}};\n\n\
         // A word, an instruction and a line of assembly are three views of one thing.\n\
         let instruction = decode({word})?;\n\
         assert_eq!(instruction.to_string(), {text});\n\
         assert_eq!({text}.parse::<Instruction>()?.encode(), {word});\n\n\
         // Each instruction is a type of its own, with an accessor for every operand and modifier.\n\
         let Instruction::{variant}(found) = instruction else {{ unreachable!() }};\n\
         println!(\"{{found:?}}: {{}} registers read\", instruction.reads().count());\n\n\
         // The tables know them all.\n\
         assert_eq!(Opcode::ALL.len(), {count});\n\
         assert_eq!(Opcode::ALL[{opcode}], Opcode::{variant});\n"
    ))
}

fn example_group(isa: &'static group::GroupIsa, crate_name: &str) -> Option<String> {
    let all = isa.operations.iter().filter_map(|operation| {
        let (group, mut line) = (groups::example(isa, operation)?, Line::new());
        group::print(isa, &group, SEPARATOR, &mut line);
        Some((group, line.as_str().to_owned()))
    });
    let own = all.filter(|(group, text)| {
        let read = group::assemble(isa, text).ok().and_then(|values| values.encode(isa).ok());
        read.is_some_and(|read| read.as_bytes() == group.as_bytes())
    });
    let (group, text) = best(own)?;
    let bytes: Vec<String> = group.as_bytes().iter().map(|byte| format!("{byte:#04x}")).collect();
    let (bytes, text, count) = (bytes.join(", "), literal(&text), isa.operations.len());
    Some(format!(
        "use {crate_name}::{{Group, ISA, decode, walk}};\n\n\
         // Bytes, a group and a line of assembly are three views of one thing.\n\
         let bytes = [{bytes}];\n\
         let group = decode(&bytes)?;\n\
         assert_eq!(group.to_string(), {text});\n\
         assert_eq!({text}.parse::<Group>()?.as_bytes(), bytes);\n\n\
         // A program is one group after the other.\n\
         let program = [bytes, bytes].concat();\n\
         let starts: Vec<usize> = walk(&program).map(|(at, _)| at).collect();\n\
         assert_eq!(starts, [0, bytes.len()]);\n\n\
         // The tables know all operations.\n\
         assert_eq!(ISA.operations.len(), {count});\n"
    ))
}

fn example_stream(engine: Engine, crate_name: &str) -> Option<String> {
    let count = engine.stream.sets.first()?.count;
    let all = engine.stream.layouts.iter().take(count.into()).filter_map(|layout| {
        let found = engine.decode(engine.store(streams::example(engine, layout)).as_ref()).ok()?;
        let mut line = Line::new();
        engine.print(&found, &mut line);
        let bytes = engine.store(found.word).get(..usize::from(found.len))?.to_vec();
        Some((bytes, line.as_str().to_owned()))
    });
    let own = all.filter(|(bytes, text)| {
        let read = engine.parse(text).ok().map(|read| read.decoded);
        let read =
            read.and_then(|read| Some(engine.store(read.word).get(..usize::from(read.len))? == bytes.as_slice()));
        read == Some(true)
    });
    let (bytes, text) = best(own)?;
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    let (bytes, text, count) = (bytes.join(", "), literal(&text), engine.stream.instructions.len());
    Some(format!(
        "use {crate_name}::{{Instruction, Opcode, decode}};\n\n\
         // Bytes, an instruction and a line of assembly are three views of one thing.\n\
         let bytes = [{bytes}];\n\
         let instruction = decode(&bytes)?;\n\
         assert_eq!(instruction.to_string(), {text});\n\
         assert_eq!({text}.parse::<Instruction>()?.bytes()[..bytes.len()], bytes);\n\n\
         // The tables know them all.\n\
         assert_eq!(Opcode::ALL.len(), {count});\n"
    ))
}
