//! isaforge for Python.
//!
//! ```text
//! load ──▶ Isa ──decode, parse──▶ Instruction ──explain──▶ Explanation
//!           ├──program──▶ Program ──graph──▶ Graph
//!           ├──opcodes, mnemonics, texts, records──▶ Array, RecordBatch (Arrow)
//!           └──run, trace──▶ Outcome, Trace
//! ```
//!
//! - `error`: Rust errors as exceptions
//! - `set`: an instruction set, its derived data, and its class; `builtin` lists the built-in ones, `load` reads others
//! - `isa`: what the class for an instruction set does; `form` lists its instructions
//! - `instruction`, `program`, `graph`: code and its properties; `sequence` has iterators
//! - `explain`, `html`: the meaning of every bit, as text and for notebooks
//! - `code`: what users give as code, for one instruction or a program
//! - `input`, `batch`, `arrow`: many words at once, without a copy and without the interpreter's lock
//! - `run`: execution
#![deny(unsafe_code)]

mod arrow;
mod batch;
mod builtin;
mod code;
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
        form::{_form, Form},
        graph::{Block, Graph},
        instruction::{_instruction, Flow, Instruction, Modifier, Operand},
        load::{load, sets},
        program::{Invalid, Program},
        run::{Outcome, Step, Trace},
        set::Isa,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
