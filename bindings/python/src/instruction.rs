//! A single instruction and its properties.

use std::sync::OnceLock;

use isaforge_analysis as analysis;
use isaforge_analysis::Register;
use isaforge_analysis::effects::When;
use isaforge_analysis::entry::entries;
use isaforge_core::bits::word_of;
use isaforge_core::print::{Style, print};
use isaforge_core::program::refused;
use isaforge_core::stream::NoPlaces;
use isaforge_core::text::Line;
use isaforge_core::{Isa as WordIsa, Tables, group};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use crate::explain::{Explanation, wrong};
use crate::set::{Isa, Set};
use crate::{error, html};

/// An operand of an instruction.
///
/// `kind` is the alternative of the operand, such as `register` or `number`. `value` is the number as written, the
/// register number, or else the bits. `text` is the operand in assembly.
#[pyclass(frozen, eq, hash, get_all, weakref, module = "isaforge")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    name: String,
    kind: String,
    value: i64,
    text: String,
}

#[pymethods]
impl Operand {
    #[new]
    fn new(name: String, kind: String, value: i64, text: String) -> Self {
        Operand { name, kind, value, text }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, String, i64, String)) {
        let Operand { name, kind, value, text } = slf.get().clone();
        (slf.get_type(), (name, kind, value, text))
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("kind", "value", "text", "name")
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Operand {}: {} {:?}>", self.name, self.kind, self.text)
    }
}

/// A modifier that is not at its default: its name (`operand.name` if it belongs to an operand), its value, and its
/// text in assembly.
#[pyclass(frozen, eq, hash, get_all, weakref, module = "isaforge")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Modifier {
    name: String,
    value: u64,
    text: String,
}

#[pymethods]
impl Modifier {
    #[new]
    fn new(name: String, value: u64, text: String) -> Self {
        Modifier { name, value, text }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, u64, String)) {
        let Modifier { name, value, text } = slf.get().clone();
        (slf.get_type(), (name, value, text))
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("name", "text", "value")
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Modifier {}={}>", self.name, self.text)
    }
}

/// Where execution continues after an instruction.
///
/// `kind` is `next`, `branch`, `jump`, `call` or `end`, or `None` if the specification does not say what the
/// instruction does. `conditional` tells whether it depends on a condition. `waits` contains the slots whose messages
/// the instruction waits for.
#[pyclass(frozen, eq, hash, get_all, weakref, module = "isaforge")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Flow {
    kind: Option<String>,
    conditional: bool,
    waits: Vec<u32>,
    reconverges: bool,
    discards: bool,
    barrier: bool,
}

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(signature = (kind, conditional, waits, reconverges, discards, barrier))]
    fn new(
        kind: Option<String>,
        conditional: bool,
        waits: Vec<u32>,
        reconverges: bool,
        discards: bool,
        barrier: bool,
    ) -> Self {
        Flow { kind, conditional, waits, reconverges, discards, barrier }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, FlowFields) {
        let Flow { kind, conditional, waits, reconverges, discards, barrier } = slf.get().clone();
        (slf.get_type(), (kind, conditional, waits, reconverges, discards, barrier))
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("kind", "conditional")
    }

    fn __str__(&self) -> &str {
        self.kind.as_deref().unwrap_or("unknown")
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Flow {}{}>", self.__str__(), if self.conditional { ", conditional" } else { "" })
    }
}

/// The fields of a `Flow`, in order.
type FlowFields = (Option<String>, bool, Vec<u32>, bool, bool, bool);

/// The name of a flow; `None` if it is not known.
pub fn kind(flow: &analysis::Flow) -> Option<&'static str> {
    flow.known.then(|| flow.name())
}

impl From<&analysis::Flow> for Flow {
    fn from(flow: &analysis::Flow) -> Self {
        let sometimes = flow.branch == When::Sometimes || flow.end == When::Sometimes;
        Flow {
            kind: kind(flow).map(str::to_owned),
            conditional: flow.known && sometimes,
            waits: (0..8).filter(|slot| flow.waits >> slot & 1 != 0).collect(),
            reconverges: flow.reconverges,
            discards: flow.discards,
            barrier: flow.barrier,
        }
    }
}

/// The encoding of an instruction.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Code {
    /// A word with its opcode.
    Word(u16, u64),
    /// Bytes in memory order.
    Bytes(Box<[u8]>),
}

/// A valid instruction. Two instructions are equal if they have the same bits, set and address.
///
/// >>> import isaforge
/// >>> fma = isaforge.load("valhall").decode(0x00B2C00000808140)
/// >>> fma
/// <isaforge.Instruction 'FMA.f32 r0, ^r0, u1, u0'>
/// >>> match fma:
/// ...     case isaforge.Instruction("FMA.f32", (_, isaforge.Operand("last_use", number), *_)):
/// ...         print("multiplies register", number)
/// multiplies register 0
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Instruction {
    pub set: &'static Set,
    pub code: Code,
    pub at: u64,
    facts: OnceLock<analysis::Instruction>,
}

impl Instruction {
    /// An instruction that is analysed on demand.
    pub fn new(set: &'static Set, code: Code) -> Self {
        Instruction { set, code, at: 0, facts: OnceLock::new() }
    }

    /// An instruction of a program, with its analysis.
    pub fn within(set: &'static Set, code: Code, at: u64, facts: analysis::Instruction) -> Self {
        Instruction { set, code, at, facts: OnceLock::from(facts) }
    }

    /// The instruction for exactly these bytes.
    pub fn exactly(set: &'static Set, py: Python<'_>, bytes: Vec<u8>) -> PyResult<Instruction> {
        if let Err(reason) = one(set, py, &bytes)? {
            return Err(error::decode(py, &reason, "", None));
        }
        match set.words() {
            Some(isa) => Instruction::of_word(set, py, isa, word_of(&bytes)),
            None => Ok(Instruction::new(set, Code::Bytes(bytes.into()))),
        }
    }

    /// The instruction of a word.
    pub fn of_word(set: &'static Set, py: Python<'_>, isa: &'static WordIsa, word: u64) -> PyResult<Instruction> {
        match set.opcode(isa, word) {
            Some(opcode) => Ok(Instruction::new(set, Code::Word(opcode, word))),
            None => Err(invalid(py, isa, word)),
        }
    }

    fn facts(&self) -> &analysis::Instruction {
        self.facts.get_or_init(|| {
            let first = entries(&self.set.analysis, &self.raw()).next().and_then(|entry| entry.instruction.ok());
            // It was decoded before, so there is an entry.
            first.unwrap_or_default()
        })
    }

    /// The bytes in memory order.
    pub fn raw(&self) -> Vec<u8> {
        match &self.code {
            Code::Word(_, word) => word.to_le_bytes()[..self.set.tables().unit().min(8)].to_vec(),
            Code::Bytes(bytes) => bytes.to_vec(),
        }
    }

    /// The hexadecimal digits; for a word, most significant first.
    pub fn digits(&self) -> String {
        match &self.code {
            Code::Word(_, word) => format!("{word:0digits$x}", digits = self.set.tables().unit() * 2),
            Code::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        self.styled(Style::Customary)
    }

    /// The text in a style.
    pub fn styled(&self, style: Style) -> String {
        let mut line = Line::new();
        match (&self.code, self.set.tables()) {
            (Code::Word(opcode, word), Tables::Words(isa)) => {
                if let Some(text) = (style == Style::Exact).then(|| refused(isa, *opcode, *word)).flatten() {
                    return text;
                }
                print(isa, *opcode, *word, style, &mut line);
            }
            (Code::Bytes(bytes), Tables::Streams(engine)) if style == Style::Exact => {
                let Ok(decoded) = engine.decode(bytes) else { return String::new() };
                engine.print_exact_at(&decoded, 0, &NoPlaces, &mut line);
            }
            _ => return self.facts().text.clone(),
        }
        line.as_str().to_owned()
    }

    fn names<'py>(
        &self,
        py: Python<'py>,
        registers: impl ExactSizeIterator<Item = Register>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, registers.map(|register| self.set.analysis.name(register)))
    }
}

/// Checks that bytes are those of one instruction, by their number. The inner result has the reason why they have no
/// length of their own, which is that they do not decode.
///
/// # Errors
/// A `DecodeError` if there are no bytes, or more or fewer than the instruction has.
pub fn one(set: &Set, py: Python<'_>, bytes: &[u8]) -> PyResult<Result<(), String>> {
    let len = match set.tables() {
        Tables::Words(_) => Ok(set.tables().unit()),
        Tables::Groups(isa) => group::decode(isa, bytes).map(|found| found.len()).map_err(|error| error.to_string()),
        Tables::Streams(engine) => {
            engine.decode(bytes).map(|found| found.len.into()).map_err(|error| error.to_string())
        }
    };
    let message = match len {
        _ if bytes.is_empty() => "there are no bytes".to_owned(),
        Ok(len) if len != bytes.len() => format!("the instruction has {len} bytes, not {}", bytes.len()),
        len => return Ok(len.map(|_| ())),
    };
    Err(error::decode(py, &message, "`program` and `disassemble` read several", None))
}

/// The error for a word that is not an instruction.
pub fn invalid(py: Python<'_>, isa: &'static WordIsa, word: u64) -> PyErr {
    let reason = isaforge_core::decode::decode(isa, word).err().map_or_else(String::new, |error| error.to_string());
    let (bits, help) = wrong(isa, word);
    error::decode(py, &reason, &help, bits)
}

#[pymethods]
impl Instruction {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("mnemonic", "operands", "modifiers")
    }

    /// The mnemonic; for a group, the names of its operations joined by ` | `.
    #[getter]
    fn mnemonic(&self) -> String {
        match (&self.code, self.set.words()) {
            (Code::Word(opcode, _), Some(isa)) => isa.forms[usize::from(*opcode)].name.str.to_owned(),
            _ => self.facts().mnemonic.clone(),
        }
    }

    /// The `opcode` of its entry in the set's `list()`, and its index there unless the list lacks instructions of other
    /// generations; `None` for a group, which contains several operations.
    #[getter]
    pub fn opcode(&self) -> Option<u16> {
        match (&self.code, self.set.tables()) {
            (Code::Word(opcode, _), _) => Some(*opcode),
            (Code::Bytes(bytes), Tables::Streams(engine)) => {
                let decoded = engine.decode(bytes).ok()?;
                Some(engine.scope(&decoded).layout.opcode)
            }
            _ => None,
        }
    }

    /// The operands in the order of the specification.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.facts().operands.iter();
        let operand = |o: &analysis::Operand| Operand::new(o.name.into(), o.kind.into(), o.value, o.text.clone());
        PyTuple::new(py, all.map(operand))
    }

    /// The modifiers that are not at their defaults.
    #[getter]
    fn modifiers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.facts().modifiers.iter();
        PyTuple::new(py, all.map(|m| Modifier::new(m.name.clone(), m.value, m.text.clone())))
    }

    /// The names of the registers that it reads, without duplicates.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.names(py, self.facts().reads.iter().copied())
    }

    /// The names of the registers that it writes, without duplicates.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.names(py, self.facts().writes.iter().map(|(register, _)| *register))
    }

    /// Where execution continues.
    #[getter]
    fn flow(&self) -> Flow {
        Flow::from(&self.facts().flow)
    }

    /// The branch target, if the instruction contains it, in bytes relative to the same origin as `address`.
    #[getter]
    fn target(&self) -> Option<i64> {
        self.facts().flow.target.map(|target| target as i64)
    }

    /// The address in the program in bytes; 0 if the instruction was decoded alone.
    #[getter]
    fn address(&self) -> u64 {
        self.at
    }

    /// The word as a number; `None` if instructions are not words.
    #[getter]
    fn word(&self) -> Option<u64> {
        match self.code {
            Code::Word(_, word) => Some(word),
            Code::Bytes(_) => None,
        }
    }

    /// The bytes in memory order.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.raw())
    }

    /// The meaning of every bit.
    fn annotate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.explain().all())
    }

    /// The explanation of the instruction.
    pub fn explain(&self) -> Explanation {
        Explanation::of_code(self.set, &self.raw())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Instruction '{}'>", self.text())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Instruction>() else { return false };
        let other = other.get();
        std::ptr::eq(self.set, other.set) && self.code == other.code && self.at == other.at
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&(&self.code, self.at), &mut hasher);
        std::hash::Hasher::finish(&hasher)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn _repr_html_(&self) -> String {
        html::instruction(&self.explain())
    }

    /// Pickling: the other process loads the set again. A branch keeps its target, which depends on the address.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let rebuild = py.import("isaforge._isaforge")?.getattr("_instruction")?;
        Ok((rebuild, (Isa { set: self.set }, self.bytes(py), self.at, self.facts().flow.target)))
    }
}

/// The set, the bytes, the address and the branch target of an instruction.
type Pickled<'py> = (Isa, Bound<'py, PyBytes>, u64, Option<u64>);

/// Rebuilds a pickled instruction.
#[pyfunction]
pub fn _instruction(
    isa: &Bound<'_, Isa>,
    code: &Bound<'_, PyBytes>,
    address: u64,
    target: Option<u64>,
) -> PyResult<Instruction> {
    let found = Instruction::exactly(isa.get().set, isa.py(), code.as_bytes().to_vec())?;
    if address == 0 {
        return Ok(found);
    }
    let mut facts = found.facts().clone();
    facts.flow.target = target;
    Ok(Instruction::within(found.set, found.code, address, facts))
}
