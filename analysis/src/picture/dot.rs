//! The control flow graph in Graphviz format.

use std::fmt::Write;

use super::{Drawing, heat};
use crate::graph::Edge;

/// The saturation of the hottest block's colour; black text must stay readable on it.
const HOTTEST: f64 = 0.6;

/// Writes the graph.
pub fn write(drawing: Drawing<'_>) -> String {
    let graph = drawing.graph;
    let mut out = String::from(
        "digraph program {\n  node [shape=box fontname=\"monospace\" fontsize=10 style=rounded]\n  edge [fontname=\"monospace\" fontsize=9]\n",
    );
    let shares = drawing.shares();
    let heats = heat(&shares);
    for (index, block) in graph.blocks.iter().enumerate() {
        let counts = drawing.counts(index, &shares);
        let label: String =
            drawing.lines(index).iter().chain(&counts).map(|line| format!("{}\\l", escaped(&line.text))).collect();
        let style = if block.reachable { "" } else { " color=gray fontcolor=gray" };
        let heat = heats.get(index).filter(|heat| **heat > 0.0);
        let fill = heat.map_or(String::new(), |heat| {
            format!(" style=\"rounded,filled\" fillcolor=\"0.03 {:.3} 1.000\"", heat * HOTTEST)
        });
        let _ = writeln!(out, "  b{index} [label=\"{label}\"{style}{fill}]");
    }
    for (index, block) in graph.blocks.iter().enumerate() {
        for (to, edge) in graph.successors(index) {
            let style = match edge {
                _ if graph.goes_back(index, to) => " [color=\"#c2410c\" penwidth=2]",
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
