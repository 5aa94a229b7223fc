//! isaforge for Python.
//!
//! ```text
//! load ──▶ Isa ──decode, parse──▶ Instruction ──explain──▶ Explanation
//!           ├──program──▶ Program ──graph──▶ Graph
//!           ├──opcodes, mnemonics, texts, records──▶ Array, RecordBatch (Arrow)
//!           └──run, trace──▶ Outcome, Trace
//! ```
//!
//! - `error`: what Rust calls errors, as exceptions
//! - `set`: an instruction set and what is known of it; `builtin` lists those with a name, `load` reads others
//! - `isa`: the class that does all the rest; `form` lists what there is
//! - `instruction`, `program`, `graph`: code and what it says about itself; `sequence` iterates
//! - `explain`, `html`: every bit, for people and for notebooks
//! - `input`, `batch`, `arrow`: many words at once, without a copy and without the interpreter's lock
//! - `run`: execution
#![deny(unsafe_code)]

mod arrow;
mod batch;
mod builtin;
mod error;
mod explain;
mod form;
mod graph;
mod html;
mod input;
mod instruction;
mod isa;
mod load;
mod program;
mod run;
mod sequence;
mod set;

use pyo3::prelude::*;

/// The native half of the package `isaforge`.
#[pymodule]
mod _isaforge {
    use super::*;
    #[pymodule_export]
    use crate::{
        arrow::{Array, RecordBatch},
        explain::{Explanation, Field, Part},
        form::Form,
        graph::{Block, Graph},
        instruction::{_instruction, Flow, Instruction, Modifier, Operand},
        isa::Isa,
        load::{load, sets},
        program::{Invalid, Program},
        run::{Outcome, Step, Trace},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
