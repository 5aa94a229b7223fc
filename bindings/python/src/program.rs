//! Whole programs: instructions, labels, listings.

use isaforge_analysis as analysis;
use isaforge_core::bits::word_of;
use isaforge_core::print::Style;
use isaforge_core::{Tables, group, program, stream};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyTuple, PyType};

use crate::graph::Graph;
use crate::html::{escaped, shell};
use crate::input::number;
use crate::instruction::{Code, Instruction};
use crate::sequence::{Items, count};
use crate::set::{Isa, Set};

/// Bytes of a program that are not an instruction, with the reason.
#[pyclass(frozen, eq, hash, weakref, module = "isaforge")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Invalid {
    /// The address in the program in bytes.
    #[pyo3(get)]
    address: u64,
    pub raw: Vec<u8>,
    /// Why they are not an instruction.
    #[pyo3(get)]
    error: String,
}

#[pymethods]
impl Invalid {
    #[new]
    fn new(address: u64, bytes: Vec<u8>, error: String) -> Self {
        Invalid { address, raw: bytes, error }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (u64, Bound<'py, PyBytes>, String)) {
        let found = slf.get();
        (slf.get_type(), (found.address, found.bytes(slf.py()), found.error.clone()))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("bytes", "error")
    }

    /// The bytes in memory order.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.raw)
    }

    fn __repr__(&self) -> String {
        let digits: String = self.raw.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("<isaforge.Invalid {digits}: {}>", self.error)
    }
}

/// A program: a sequence of `Instruction` and, for invalid bytes, `Invalid`. Two programs are equal if they have the
/// same bytes and set.
///
/// `str()` returns its listing, that of `Isa.disassemble`, with a comment for an incomplete word at the end.
///
/// >>> import isaforge
/// >>> isa = isaforge.load("valhall")
/// >>> program = isa.program(isa.assemble("top: IADD_IMM.i32 r0, ^r0, #0x1\nBRANCHZ.eq ^r1, top"))
/// >>> print(program)
/// l0:
/// IADD_IMM.i32 r0, ^r0, #0x1
/// BRANCHZ.eq ^r1, l0
/// >>> program[1].target, program.labels
/// (0, {0: 'l0'})
#[pyclass(frozen, sequence, weakref, module = "isaforge")]
pub struct Program {
    pub set: &'static Set,
    code: Vec<u8>,
    read: analysis::Program<'static>,
}

impl Program {
    /// Reads the bytes of a program.
    pub fn new(set: &'static Set, code: Vec<u8>) -> Self {
        let read = analysis::Program::read(&set.analysis, &code);
        Program { set, code, read }
    }

    fn entry<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let entry =
            self.read.entries.get(index).ok_or_else(|| PyIndexError::new_err("there are fewer instructions"))?;
        let bytes = self.code.get(entry.bytes.clone()).unwrap_or_default();
        let address = entry.bytes.start as u64;
        match &entry.instruction {
            Ok(facts) => {
                let code = match self.set.words() {
                    Some(isa) => {
                        let word = word_of(bytes);
                        // The word was decoded before, so it has an opcode.
                        Code::Word(self.set.opcode(isa, word).unwrap_or_default(), word)
                    }
                    None => Code::Bytes(bytes.into()),
                };
                let found = Instruction::within(self.set, code, address, facts.clone());
                Ok(Bound::new(py, found)?.into_any())
            }
            Err(error) => {
                let found = Invalid { address, raw: bytes.to_vec(), error: error.clone() };
                Ok(Bound::new(py, found)?.into_any())
            }
        }
    }

    fn address(&self, place: usize) -> usize {
        self.read.entries.get(place).map_or(self.code.len(), |entry| entry.bytes.start)
    }
}

/// The text of a program with labels, as printed by `isaforge dis`. Only words and streams have an exact style.
///
/// # Errors
/// When the set has whole modules and the code is not a module.
pub fn listing(set: &Set, code: &[u8], style: Style) -> Result<String, String> {
    let mut text = String::new();
    match set.tables() {
        Tables::Words(isa) => {
            let size = set.tables().unit();
            let words = code.chunks_exact(size);
            let rest = words.remainder();
            // Writing to a string cannot fail.
            let _ = program::disassemble(isa, &words.map(word_of).collect::<Vec<_>>(), style, &mut text);
            if !rest.is_empty() {
                text.push_str(&format!("// {} of {} bytes are left over: a word has {size}\n", rest.len(), code.len()));
            }
        }
        Tables::Groups(isa) => text = group::listing::disassemble(isa, code),
        Tables::Streams(engine) => match engine.stream.sequence {
            Some(sequence) => text = sequence.disassemble(code).map_err(|e| format!("at byte {}: {e}", e.at))?,
            None => {
                stream::listing::disassemble_at(engine, code, 0, style, &mut text);
            }
        },
    }
    Ok(text)
}

#[pymethods]
impl Program {
    /// The labels, by address in bytes.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let labels = PyDict::new(py);
        for (place, label) in &self.read.labels {
            labels.set_item(self.address(*place), label)?;
        }
        Ok(labels)
    }

    /// The bytes of the program.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.code)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Program>() else { return false };
        let other = other.get();
        std::ptr::eq(self.set, other.set) && self.code == other.code
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&self.code, &mut hasher);
        std::hash::Hasher::finish(&hasher)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// The control flow graph.
    fn graph(slf: &Bound<'_, Self>) -> Graph {
        Graph::new(slf.clone().unbind(), &slf.get().read)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Items {
        let len = slf.get().read.entries.len();
        Items::new(slf.into_any().unbind(), len)
    }

    fn __len__(&self) -> usize {
        self.read.entries.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let len = self.read.entries.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(len as isize)?;
            let mut found = Vec::with_capacity(range.slicelength);
            for step in 0..range.slicelength as isize {
                found.push(self.entry(py, (range.start + step * range.step) as usize)?);
            }
            return Ok(PyList::new(py, found)?.into_any());
        }
        let index: isize = index.extract()?;
        let at = if index < 0 { index.saturating_add_unsigned(len) } else { index };
        self.entry(py, usize::try_from(at).unwrap_or(usize::MAX))
    }

    /// The entry at an address, given in bytes. Raises `IndexError` if none starts there.
    fn at<'py>(&self, py: Python<'py>, address: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let address = number(address).ok_or_else(|| PyTypeError::new_err("`address` must be a whole number"))?;
        let len = self.code.len();
        let Some(at) = address.extract::<usize>().ok().filter(|at| *at < len) else {
            let message = format!("{address} is no address of the program, which has {len} bytes");
            return Err(PyIndexError::new_err(message));
        };
        let after = self.read.entries.partition_point(|entry| entry.bytes.start <= at);
        let place = after.saturating_sub(1);
        let start = self.address(place);
        if start < at {
            let message = format!("no instruction starts at {at:#x}, which is within the one at {start:#x}");
            return Err(PyIndexError::new_err(message));
        }
        self.entry(py, place)
    }

    fn __str__(&self) -> PyResult<String> {
        let text = listing(self.set, &self.code, Style::Customary).map_err(pyo3::exceptions::PyValueError::new_err)?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Pickling: the other process loads the set and reads the bytes again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let isa = Bound::new(py, Isa { set: self.set })?;
        Ok((isa.getattr("program")?, (self.bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Program of {}, {}>", count(self.read.entries.len(), "instruction"), self.set.name)
    }

    fn _repr_html_(&self) -> String {
        html(&self.read, &self.code)
    }
}

/// The maximum number of instructions shown in a notebook.
const MAX_ROWS: usize = 2000;

/// A table of addresses, bytes and texts; branches show the labels of their targets.
fn html(read: &analysis::Program<'_>, code: &[u8]) -> String {
    let mut rows = String::new();
    let label = |rows: &mut String, place: usize| {
        if let Some(label) = read.labels.get(&place) {
            rows.push_str(&format!("<tr class=\"label\"><td colspan=\"3\">{}:</td></tr>", escaped(label)));
        }
    };
    for (place, entry) in read.entries.iter().enumerate().take(MAX_ROWS) {
        label(&mut rows, place);
        let bytes = code.get(entry.bytes.clone()).unwrap_or_default();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = match &entry.instruction {
            Ok(found) => {
                let to = entry.target().and_then(|target| read.labels.get(&read.place(target)?));
                let to = to.map_or(String::new(), |label| format!(" <span class=\"soft\">→ {}</span>", escaped(label)));
                format!("<td><code>{}</code>{to}</td>", escaped(&found.text))
            }
            Err(error) => format!("<td class=\"error\">{}</td>", escaped(error)),
        };
        let at = entry.bytes.start;
        rows.push_str(&format!("<tr><td>{at:#x}</td><td class=\"soft\"><code>{digits}</code></td>{text}</tr>"));
    }
    match read.entries.len().checked_sub(MAX_ROWS) {
        None | Some(0) => label(&mut rows, read.entries.len()),
        Some(more) => rows.push_str(&format!("<tr><td colspan=\"3\" class=\"soft\">… {more} more</td></tr>")),
    }
    shell(&format!("<table>{rows}</table>"))
}

impl Program {
    /// Its bytes.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The analysis of the program.
    pub fn read(&self) -> &analysis::Program<'static> {
        &self.read
    }

    /// The entries in a range.
    pub fn range<'py>(&self, py: Python<'py>, range: std::ops::Range<usize>) -> PyResult<Bound<'py, PyTuple>> {
        let found: Vec<_> = range.map(|index| self.entry(py, index)).collect::<PyResult<_>>()?;
        PyTuple::new(py, found)
    }
}
