//! `isaforge graph`: the control flow of a program as a picture.

mod dot;
mod svg;

use std::io::Write;

use isaforge_analysis::{Graph, Program, Set};

use crate::args::{GraphArgs, GraphFormat};
use crate::failure::{Failure, Status};
use crate::output::{count, say, write_whole};
use crate::paint::{GOOD, paint};
use crate::program::load;

/// The most blocks that are laid out for a picture.
const MOST_BLOCKS: usize = 400;

/// Runs `graph`.
///
/// # Errors
/// When a file cannot be read or written, or when the program is too large for a picture.
pub fn graph(args: &GraphArgs) -> Result<Status, Failure> {
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    let Some(code) = load(target.tables, args.file.as_deref(), args.code.how())? else {
        return Ok(Status::Mistakes);
    };
    let set = Set::new(target.tables, target.semantics);
    let program = Program::read(&set, &code.bytes);
    if program.entries.is_empty() {
        return Err(Failure::usage(format!("`{}` holds no instructions", code.name), ""));
    }
    let graph = Graph::new(&program);
    let dot = match args.format {
        Some(format) => format == GraphFormat::Dot,
        None => args.output.as_deref().and_then(|path| path.extension()).is_some_and(|e| e == "dot" || e == "gv"),
    };
    if !dot && graph.blocks.len() > MOST_BLOCKS {
        let message = format!("{} are too many for a picture", count(graph.blocks.len() as u64, "block"));
        return Err(Failure::usage(message, format!("write `-o OUT.dot`; at most {MOST_BLOCKS} are laid out here")));
    }
    let text = if dot { dot::write(&program, &graph) } else { svg::write(&program, &graph, &code.name) };
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            let loops = graph.back_edges().len() as u64;
            say(&format!(
                "{}: {}, {} in {}",
                paint(GOOD, "drew"),
                count(graph.blocks.len() as u64, "block"),
                count(loops, "loop"),
                path.display(),
            ));
        }
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Status::mistakes_if(code.cut))
}

/// The lines of a block: its label, then each instruction with labels for targets.
fn lines(program: &Program<'_>, graph: &Graph, block: usize) -> Vec<String> {
    let entries = graph.blocks[block].entries.clone();
    let label = program.labels.get(&entries.start).map(|label| format!("{label}:"));
    let texts = entries.map(|index| match &program.entries[index].instruction {
        Ok(instruction) => {
            let to = instruction.flow.target.and_then(|target| program.labels.get(&program.place(target)?));
            match to {
                Some(to) => format!("{} → {to}", instruction.text.replace(" | ", "\n  ")),
                None => instruction.text.replace(" | ", "\n  "),
            }
        }
        Err(reason) => format!("? {reason}"),
    });
    let all: Vec<String> = label.into_iter().chain(texts).collect();
    all.iter().flat_map(|text| text.lines().map(str::to_owned)).collect()
}
