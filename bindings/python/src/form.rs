//! The list of a set's instructions.

use isaforge_analysis::list::{Listed, list as listed};
use isaforge_core::{Tables, explain};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::set::{Isa, Set};

/// An entry of `Isa.list()`: an instruction, or an operation of a set whose instructions are groups.
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Form {
    set: &'static Set,
    known: Listed,
}

#[pymethods]
impl Form {
    /// The `opcode` of its instructions.
    #[getter]
    fn opcode(&self) -> usize {
        self.known.opcode
    }

    /// Its mnemonic.
    #[getter]
    fn mnemonic(&self) -> &'static str {
        self.known.mnemonic
    }

    /// A short description.
    #[getter]
    fn title(&self) -> &'static str {
        self.known.title
    }

    /// The description in the specification.
    #[getter]
    fn doc(&self) -> &'static str {
        self.known.doc
    }

    /// The unit that executes it, or the slots and the part of a group that it may be in.
    #[getter]
    fn unit(&self) -> &str {
        &self.known.unit
    }

    /// The operands that it reads, and the registers and states that it reads without an operand.
    #[getter]
    fn reads(&self) -> Vec<String> {
        self.known.reads.clone()
    }

    /// The operands that it writes, and the registers and states that it writes without an operand.
    #[getter]
    fn writes(&self) -> Vec<String> {
        self.known.writes.clone()
    }

    /// Its meaning in the language of specifications; empty if it is not defined.
    #[getter]
    fn does(&self) -> &'static str {
        self.known.does
    }

    /// The intrinsics that it calls.
    #[getter]
    fn intrinsics(&self) -> Vec<&'static str> {
        self.known.intrinsics.clone()
    }

    /// How closely it matches the hardware: `exact`, `approximate`, `choice` or `unsupported`; `None` if the
    /// specification does not say.
    #[getter]
    fn fidelity(&self) -> Option<&'static str> {
        self.known.class()
    }

    /// File and line of its definition.
    #[getter]
    fn source(&self) -> &'static str {
        self.known.source
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Form>() else { return false };
        let other = other.get();
        std::ptr::eq(self.set, other.set) && self.known.opcode == other.known.opcode
    }

    fn __hash__(&self) -> usize {
        self.known.opcode
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Form {} '{}'>", self.known.opcode, self.known.mnemonic)
    }

    /// Pickling: the other process loads the set again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Isa, usize))> {
        let rebuild = py.import("isaforge._isaforge")?.getattr("_form")?;
        Ok((rebuild, (Isa { set: self.set }, self.known.opcode)))
    }
}

/// Rebuilds a pickled entry.
#[pyfunction]
pub fn _form(isa: &Bound<'_, Isa>, opcode: usize) -> PyResult<Form> {
    let found = list(isa.get().set, &[]).into_iter().find(|form| form.known.opcode == opcode);
    found.ok_or_else(|| PyValueError::new_err(format!("the set has no instruction {opcode}")))
}

/// The instructions of a set in whose columns all of these words appear, given in lower case.
pub fn list(set: &'static Set, words: &[String]) -> Vec<Form> {
    let found = listed(&set.analysis).into_iter().filter(|known| known.has(words));
    found.map(|known| Form { set, known }).collect()
}

/// The code of an example for the instruction with this name.
pub fn example(set: &'static Set, name: &str) -> Option<Vec<u8>> {
    match set.tables() {
        Tables::Words(isa) => {
            let opcode = isaforge_core::parse::find_name(isa, name.as_bytes())?;
            let word = explain::words::example(isa, opcode);
            Some(word.to_le_bytes()[..set.tables().unit().min(8)].to_vec())
        }
        Tables::Groups(isa) => {
            let operation = isa.operations.iter().find(|operation| operation.name.eq_ignore_ascii_case(name))?;
            explain::groups::example(isa, operation).map(|group| group.as_bytes().to_vec())
        }
        Tables::Streams(engine) => {
            let layout = engine.stream.layouts_of(0).iter().find(|layout| layout.name == name)?;
            let bytes = engine.store(explain::streams::example(engine, layout));
            let len = engine.decode(&bytes).map_or(bytes.len(), |decoded| decoded.len.into());
            Some(bytes.get(..len)?.to_vec())
        }
    }
}
