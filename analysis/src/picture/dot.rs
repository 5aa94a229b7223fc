//! The graph in the language of Graphviz.

use std::fmt::Write;

use crate::graph::{Edge, Graph};
use crate::program::Program;

/// Writes a graph.
pub fn write(program: &Program<'_>, graph: &Graph) -> String {
    let mut out = String::from(
        "digraph program {\n  node [shape=box fontname=\"monospace\" fontsize=10 style=rounded]\n  edge [fontname=\"monospace\" fontsize=9]\n",
    );
    let back = graph.back_edges();
    for (index, block) in graph.blocks.iter().enumerate() {
        let label: String =
            super::lines(program, graph, index).iter().map(|line| format!("{}\\l", escaped(line))).collect();
        let style = if block.reachable { "" } else { " color=gray fontcolor=gray" };
        let _ = writeln!(out, "  b{index} [label=\"{label}\"{style}]");
    }
    for (index, block) in graph.blocks.iter().enumerate() {
        for (to, edge) in graph.successors(index) {
            let style = match edge {
                _ if back.contains(&(index, to)) => " [color=\"#c2410c\" penwidth=2]",
                Edge::Branch => " [color=\"#1d4ed8\"]",
                Edge::Next => "",
            };
            let _ = writeln!(out, "  b{index} -> b{to}{style}");
        }
        if block.indirect {
            let _ = writeln!(out, "  i{index} [label=\"?\" shape=circle]\n  b{index} -> i{index} [style=dashed]");
        }
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
