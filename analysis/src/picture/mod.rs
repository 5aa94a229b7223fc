//! A program as a picture: its control flow ([`svg`], [`dot`] for Graphviz), and where its time goes ([`flame`]).

pub mod dot;
pub mod flame;
pub mod svg;

use crate::graph::Graph;
use crate::program::Program;

/// The most blocks that are laid out for a picture: what a layout takes grows faster than their number.
pub const MOST_BLOCKS: usize = 400;

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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
