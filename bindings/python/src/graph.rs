//! The control flow graph: blocks, edges, drawings.

use isaforge_analysis as analysis;
use isaforge_analysis::graph::Edge;
use isaforge_analysis::picture::{Drawing, MAX_BLOCKS, dot, svg};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error;
use crate::program::Program;
use crate::sequence::count;

/// A basic block. `successors` contains the index of each following block, and how it is reached: `next` or `branch`.
#[pyclass(frozen, get_all, weakref, module = "isaforge")]
pub struct Block {
    /// Its index in the graph.
    index: usize,
    /// The address of its first instruction.
    address: usize,
    /// The blocks that may follow it.
    successors: Vec<(usize, &'static str)>,
    /// Whether it is reachable from the first instruction.
    reachable: bool,
    /// How many loops contain it.
    depth: usize,
    /// Whether the target of its branch is computed, so that any block may follow.
    indirect: bool,
    /// Its instructions.
    instructions: Py<PyTuple>,
}

#[pymethods]
impl Block {
    fn __repr__(&self) -> String {
        format!("<isaforge.Block {} at {:#x}>", self.index, self.address)
    }
}

/// The control flow graph of a program. Notebooks show it as a picture.
///
/// >>> import isaforge
/// >>> isa = isaforge.load("valhall")
/// >>> code = isa.assemble("top: IADD_IMM.i32 r0, ^r0, #0x1\nBRANCHZ.eq ^r1, top\nNOP.end")
/// >>> [block.successors for block in isa.program(code).graph().blocks]
/// [[(1, 'next'), (0, 'branch')], []]
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Graph {
    program: Py<Program>,
    graph: analysis::Graph,
}

impl Graph {
    /// Builds the control flow graph of a program.
    pub fn new(program: Py<Program>, read: &analysis::Program<'_>) -> Self {
        Graph { graph: analysis::Graph::new(read), program }
    }

    fn drawing<'p>(&'p self, program: &'p analysis::Program<'p>) -> Drawing<'p> {
        Drawing { program, graph: &self.graph, profile: None }
    }
}

#[pymethods]
impl Graph {
    /// The blocks in address order.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let program = self.program.get();
        let block = |(index, block): (usize, &analysis::graph::Block)| {
            let name = |edge| if edge == Edge::Next { "next" } else { "branch" };
            Ok(Block {
                index,
                address: program.read().entries.get(block.entries.start).map_or(0, |entry| entry.bytes.start),
                successors: self.graph.successors(index).map(|(to, edge)| (to, name(edge))).collect(),
                reachable: block.reachable,
                depth: block.depth,
                indirect: block.indirect,
                instructions: program.range(py, block.entries.clone())?.unbind(),
            })
        };
        let all: Vec<Block> = self.graph.blocks.iter().enumerate().map(block).collect::<PyResult<_>>()?;
        PyTuple::new(py, all)
    }

    /// The number of instructions whose operation the specification does not define. Those with a branch target are taken
    /// for conditional branches.
    #[getter]
    fn unknown(&self) -> usize {
        self.program.get().read().unknown()
    }

    /// Edges that close a loop: from a block to the first block of the loop, by index.
    #[getter]
    fn back_edges(&self) -> Vec<(usize, usize)> {
        self.graph.back_edges()
    }

    /// The graph as SVG. Raises `Error` if it is empty or too large to lay out.
    #[pyo3(signature = (title="program"))]
    fn svg(&self, py: Python<'_>, title: &str) -> PyResult<String> {
        let blocks = self.graph.blocks.len();
        if blocks == 0 {
            return Err(error::plain(py, "a program without instructions has no picture", ""));
        }
        if blocks > MAX_BLOCKS {
            let help = format!("`dot()` is for Graphviz; at most {MAX_BLOCKS} are laid out here");
            return Err(error::plain(py, &format!("{blocks} blocks are too many for a picture"), &help));
        }
        let program = self.program.get();
        Ok(py.detach(|| svg::write(self.drawing(program.read()), title)))
    }

    /// The graph in the Graphviz language.
    fn dot(&self) -> String {
        dot::write(self.drawing(self.program.get().read()))
    }

    fn __repr__(&self) -> String {
        let edges: usize = (0..self.graph.blocks.len()).map(|block| self.graph.successors(block).count()).sum();
        format!("<isaforge.Graph of {} and {}>", count(self.graph.blocks.len(), "block"), count(edges, "edge"))
    }

    /// The picture. A graph that cannot be drawn is shown as text in notebooks.
    fn _repr_svg_(&self, py: Python<'_>) -> Option<String> {
        self.svg(py, "program").ok()
    }
}
