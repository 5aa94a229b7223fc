//! `isaforge graph`: draws the control flow of a program.

mod profile;

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use isaforge_analysis::picture::{Drawing, MAX_BLOCKS, dot, svg};
use isaforge_analysis::{Graph, Program};

use crate::args::{GraphArgs, GraphFormat};
use crate::failure::{Failure, Status};
use crate::output::{count, plain_stdout, say, write_whole};
use crate::paint::{GOOD, paint};
use crate::program::{load, note_unknown};

/// Runs `graph`.
///
/// # Errors
/// When a file cannot be read or written, or when the program is too large for a picture.
pub fn graph(args: &GraphArgs) -> Result<Status, Failure> {
    let dot = is_dot(args)?;
    let Some(target) = args.target.open()? else { return Ok(Status::Mistakes) };
    target.layouts()?;
    let Some(code) = load(target.tables, args.file.as_deref(), args.code.how(&target))? else {
        return Ok(Status::Mistakes);
    };
    let set = target.set().at(code.address);
    let mut program = Program::read(&set, &code.bytes).named(&code.labels);
    args.entries.add_to(&mut program, &code.name)?;
    if program.entries.is_empty() {
        return Err(Failure::usage(format!("`{}` holds no instructions", code.name), ""));
    }
    note_unknown(&program);
    let graph = Graph::new(&program);
    let profile = args.profile.as_deref().map(|path| profile::read(path, &program)).transpose()?;
    let drawing = Drawing { program: &program, graph: &graph, profile: profile.as_ref() };
    if !dot && graph.blocks.len() > MAX_BLOCKS {
        let message = format!("{} are too many for a picture", count(graph.blocks.len() as u64, "block"));
        return Err(Failure::usage(message, format!("write `-o OUT.dot`; at most {MAX_BLOCKS} are laid out here")));
    }
    let text = if dot { dot::write(drawing) } else { svg::write(drawing, &code.name) };
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            let loops = graph.loops() as u64;
            say(&format!(
                "{}: {}, {} in {}",
                paint(GOOD, "drew"),
                count(graph.blocks.len() as u64, "block"),
                count(loops, "loop"),
                path.display(),
            ));
        }
        None => {
            let mut out = plain_stdout();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Status::mistakes_if(code.cut))
}

/// Whether the output format is dot, by option or file extension.
fn is_dot(args: &GraphArgs) -> Result<bool, Failure> {
    if let Some(format) = args.format {
        return Ok(format == GraphFormat::Dot);
    }
    let path = args.output.as_deref();
    match path.and_then(Path::extension).and_then(OsStr::to_str).map(str::to_ascii_lowercase).as_deref() {
        None | Some("svg") => Ok(false),
        Some("dot" | "gv") => Ok(true),
        Some(other) => {
            let message = format!("pictures are SVG or dot, not `{other}`");
            Err(Failure::usage(
                message,
                "write `-o OUT.svg` or `-o OUT.dot`; Graphviz and browsers make others of them",
            ))
        }
    }
}
