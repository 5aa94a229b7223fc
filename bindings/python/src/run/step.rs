//! An executed instruction.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Receives a step; breaks if no further steps are wanted.
pub type Tell<'a> = &'a mut dyn FnMut(Did) -> ControlFlow<()>;

/// An executed instruction.
#[derive(Default)]
pub struct Did {
    pub line: String,
    pub pc: u64,
    pub text: String,
    pub lanes: u64,
    pub group: Option<[u32; 3]>,
    pub warp: Option<u32>,
    pub writes: Vec<(String, Vec<(u32, u64)>)>,
    pub loads: Vec<(u64, u8, u64)>,
    pub stores: Vec<(u64, u8, u64)>,
}

/// An executed instruction: its position (`pc`, the index of the word on Valhall, else the address), its `text`, the
/// mask of `lanes` that executed it, and its effects. `group` and `warp` identify the warp, where there are any.
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Step(pub Did);

#[pymethods]
impl Step {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("pc", "text")
    }

    /// The index of the word on Valhall, else the address.
    #[getter]
    fn pc(&self) -> u64 {
        self.0.pc
    }

    /// The instruction.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The mask of lanes that executed it, bit 0 for lane 0.
    #[getter]
    fn lanes(&self) -> u64 {
        self.0.lanes
    }

    /// The workgroup.
    #[getter]
    fn group(&self) -> Option<(u32, u32, u32)> {
        self.0.group.map(|[x, y, z]| (x, y, z))
    }

    /// The index of the warp in its workgroup.
    #[getter]
    fn warp(&self) -> Option<u32> {
        self.0.warp
    }

    /// The registers that it wrote, by name: values by lane.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, values) in &self.0.writes {
            let lanes = PyDict::new(py);
            values.iter().try_for_each(|(lane, value)| lanes.set_item(lane, value))?;
            all.set_item(name, lanes)?;
        }
        Ok(all)
    }

    /// What it loaded: address, size in bytes, value. Not available on Valhall.
    #[getter]
    fn loads(&self) -> Vec<(u64, u8, u64)> {
        self.0.loads.clone()
    }

    /// What it stored: address, size in bytes, value. Not available on Valhall.
    #[getter]
    fn stores(&self) -> Vec<(u64, u8, u64)> {
        self.0.stores.clone()
    }

    fn __str__(&self) -> &str {
        &self.0.line
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Step {} '{}'>", self.0.pc, self.0.text)
    }
}
