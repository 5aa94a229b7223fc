//! The meaning of every bit of an instruction, as data.

use isaforge_analysis::entry::entries;
use isaforge_analysis::fields::{modifiers, of_stream as of_stream_bits};
use isaforge_core::annotate::Role;
use isaforge_core::bits::word_of;
use isaforge_core::explain::picture::picture;
use isaforge_core::explain::{Field as Known, groups, name_keys, words};
use isaforge_core::group::GroupIsa;
use isaforge_core::group::info::operations;
use isaforge_core::group::table::Operation;
use isaforge_core::group::text::SEPARATOR;
use isaforge_core::print::{Style, print};
use isaforge_core::stream::Engine;
use isaforge_core::table::Enum;
use isaforge_core::text::Line;
use isaforge_core::{Isa as WordIsa, Tables, group};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::html;
use crate::sequence::count;
use crate::set::{Isa, Set};

/// A field of an instruction: its runs of bits (`bits`, highest and lowest of each), its value, the `text` of the value
/// in assembly, if it is written, and its meaning. `role` is `opcode`, `fixed`, `modifier`, `operand`, `suffix`,
/// `shared` or `ignored`. `wrong` marks a field that makes the instruction invalid.
#[pyclass(frozen, eq, hash, get_all, weakref, module = "isaforge")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Field {
    name: String,
    operand: String,
    bits: Vec<(u8, u8)>,
    role: String,
    value: u64,
    text: String,
    meaning: String,
    wrong: bool,
}

#[pymethods]
impl Field {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "fields of Python")]
    fn new(
        name: String,
        operand: String,
        bits: Vec<(u8, u8)>,
        role: String,
        value: u64,
        text: String,
        meaning: String,
        wrong: bool,
    ) -> Self {
        Field { name, operand, bits, role, value, text, meaning, wrong }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Fields) {
        let Field { name, operand, bits, role, value, text, meaning, wrong } = slf.get().clone();
        (slf.get_type(), (name, operand, bits, role, value, text, meaning, wrong))
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("name", "text", "role")
    }

    fn __repr__(&self) -> String {
        let bits = place(&self.bits);
        let operand = if self.operand.is_empty() { String::new() } else { format!("{}.", self.operand) };
        let value = shown(&self.text, self.value);
        format!("<isaforge.Field {bits}: {operand}{} = {value}>", self.name)
    }
}

/// The fields of a `Field`, in order.
type Fields = (String, String, Vec<(u8, u8)>, String, u64, String, String, bool);

/// The text of a value, or its digits if it is not written.
fn shown(text: &str, value: u64) -> String {
    if text.is_empty() { format!("{value:#x}") } else { text.to_owned() }
}

impl From<Known> for Field {
    fn from(known: Known) -> Self {
        let role = role(&known).to_owned();
        let Known { runs, name, operand, value, text, meaning, wrong, .. } = known;
        Field { name, operand, bits: runs, role, value, text, meaning, wrong }
    }
}

/// The name of a field's role.
pub fn role(field: &Known) -> &'static str {
    match field.role {
        Some(Role::Opcode) | None => "opcode",
        Some(Role::Fixed) => "fixed",
        Some(Role::Modifier) => "modifier",
        Some(Role::Operand) => "operand",
        Some(Role::Suffix) => "suffix",
        Some(Role::Shared) => "shared",
        Some(Role::Ignored) => "ignored",
    }
}

/// Formats runs of bits, most significant first: `63..56, 3`.
pub fn place(runs: &[(u8, u8)]) -> String {
    let one = |(high, low): &(u8, u8)| if high == low { high.to_string() } else { format!("{high}..{low}") };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Bits that are explained together: a word, or a record of a group.
#[derive(Clone, Default)]
pub struct Bits {
    /// The title, if there are several parts.
    pub title: String,
    /// The number of bits.
    pub count: u16,
    /// The binary digits, highest bit first.
    pub digits: String,
    /// The fields, highest bit first.
    pub fields: Vec<Known>,
}

/// Bits that are explained together: a word, or a record of a group. `digits` are its binary digits, highest bit first.
#[pyclass(frozen, weakref, module = "isaforge")]
pub struct Part(Bits);

#[pymethods]
impl Part {
    /// The title; empty if there is only one part.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// The binary digits, highest bit first.
    #[getter]
    fn digits(&self) -> &str {
        &self.0.digits
    }

    /// The fields, highest bit first.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.fields.iter().cloned().map(Field::from))
    }

    fn __repr__(&self) -> String {
        let title = if self.0.title.is_empty() { String::new() } else { format!("{}: ", self.0.title) };
        format!("<isaforge.Part {title}{}>", count(self.0.count, "bit"))
    }
}

/// The explanation of an instruction, or of invalid bits. `str()` lists its fields; notebooks show a diagram of the
/// bits.
///
/// >>> import isaforge
/// >>> print(isaforge.load("vpu").explain(0x2a00004000800000))  # doctest: +ELLIPSIS
/// 2a00004000800000  MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx
/// ...
#[pyclass(frozen, weakref, module = "isaforge")]
#[derive(Clone, Default)]
pub struct Explanation {
    /// The bytes that are explained, and their set.
    of: Option<(&'static Set, Vec<u8>)>,
    /// The hexadecimal digits; for a word, most significant first.
    #[pyo3(get)]
    pub code: String,
    /// The text; empty if the bits are not an instruction.
    #[pyo3(get)]
    pub text: String,
    /// The mnemonic of the instruction, or of the one that the bits resemble most.
    #[pyo3(get)]
    pub mnemonic: String,
    /// A short description.
    #[pyo3(get)]
    pub title: String,
    /// The description in the specification.
    #[pyo3(get)]
    pub doc: String,
    /// Why the bits are not an instruction; empty if they are.
    #[pyo3(get)]
    pub error: String,
    /// The registers that it reads, with the operands that name them.
    reads: Vec<String>,
    /// The registers that it writes.
    writes: Vec<String>,
    /// The meaning of the instruction in the language of specifications; empty if it is not defined.
    #[pyo3(get)]
    pub does: String,
    /// The part of `does` that remains for the modifiers of these bits.
    #[pyo3(get)]
    pub here: String,
    /// The unit that executes it. This and what follows has a line for each operation of a group, with its name.
    #[pyo3(get)]
    unit: String,
    /// File and line of its definition.
    #[pyo3(get)]
    source: String,
    /// How the definition is known: `document`, `vendor-binary`, `driver` or `assumed`.
    #[pyo3(get)]
    provenance: String,
    /// A remark on how it is known.
    #[pyo3(get)]
    note: String,
    /// The modifiers that it may have, and the names of their values.
    modifiers: Vec<(String, Vec<&'static str>)>,
    /// The data path of a group as SVG.
    pub picture: String,
    parts: Vec<Bits>,
}

impl Explanation {
    /// Explains the first instruction of some bytes.
    pub fn of_code(set: &'static Set, bytes: &[u8]) -> Explanation {
        let mut out = match set.tables() {
            Tables::Words(isa) => of_word(set, isa, word_of(bytes)),
            Tables::Groups(isa) => of_group(set, isa, bytes),
            Tables::Streams(engine) => of_stream(set, engine, bytes),
        };
        out.of = Some((set, bytes.to_vec()));
        if let Some(found) = entries(&set.analysis, bytes).next().and_then(|entry| entry.instruction.ok()) {
            let texts = |write| found.accesses(&set.analysis, write).iter().map(ToString::to_string).collect();
            (out.reads, out.writes) = (texts(false), texts(true));
        }
        out
    }

    /// The parts.
    pub fn bits(&self) -> &[Bits] {
        &self.parts
    }

    /// The fields of all parts.
    pub fn all(&self) -> Vec<Field> {
        self.parts.iter().flat_map(|part| part.fields.iter().cloned()).map(Field::from).collect()
    }

    /// The registers that it reads and writes.
    pub fn uses(&self) -> [(&'static str, &[String]); 2] {
        [("reads", &self.reads), ("writes", &self.writes)]
    }

    fn invalid(code: String, error: String, bytes: &[u8]) -> Explanation {
        let bytes = bytes.get(..32).unwrap_or(bytes);
        let digits: String = bytes.iter().rev().map(|byte| format!("{byte:08b}")).collect();
        let part = Bits { count: digits.len() as u16, digits, ..Bits::default() };
        Explanation { code, error, parts: vec![part], ..Explanation::default() }
    }
}

/// The first wrong bits of a word, and the values they must have.
pub fn wrong(isa: &'static WordIsa, word: u64) -> (Option<(u8, u8)>, String) {
    let found = words::explain(isa, word).fields.into_iter().find(|field| field.wrong);
    found.map_or((None, String::new()), |field| (field.runs.first().copied(), field.meaning))
}

fn binary(word: u64, bits: u16) -> String {
    (0..bits).rev().map(|bit| if word >> bit & 1 == 0 { '0' } else { '1' }).collect()
}

fn of_word(set: &'static Set, isa: &'static WordIsa, word: u64) -> Explanation {
    let count = u16::from(isa.word_bits);
    let found = words::explain(isa, word);
    let mut out =
        Explanation { code: format!("{word:0digits$x}", digits = usize::from(count / 4)), ..Default::default() };
    if let Some(form) = found.opcode.and_then(|opcode| isa.forms.get(usize::from(opcode))) {
        out.mnemonic = form.name.str.to_owned();
        (out.title, out.doc) = (form.title.to_owned(), form.doc.to_owned());
        (out.unit, out.source, out.note) = (form.unit.to_owned(), form.source.to_owned(), form.note.to_owned());
        out.provenance = form.provenance.as_str().to_owned();
        let names = |of: &'static Enum| {
            let mut names: Vec<&'static str> = of.values.iter().map(|value| value.name).collect();
            names.dedup();
            names
        };
        let modifiers = modifiers(isa, form).into_iter();
        out.modifiers = modifiers.map(|(name, of)| (name, of.map(names).unwrap_or_default())).collect();
    }
    match &found.decoded {
        Ok(opcode) => {
            let mut line = Line::new();
            print(isa, *opcode, word, Style::Customary, &mut line);
            out.text = line.as_str().to_owned();
            let meaning = set.analysis.semantics.and_then(|known| words::operation(isa, known, *opcode, word));
            if let Some((does, here)) = meaning {
                (out.does, out.here) = (does.trim().to_owned(), here.trim().to_owned());
            }
        }
        Err(error) => out.error = error.to_string(),
    }
    out.parts.push(Bits { title: String::new(), count, digits: binary(word, count), fields: found.fields });
    out
}

fn of_group(set: &'static Set, isa: &'static GroupIsa, bytes: &[u8]) -> Explanation {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let found = match group::decode(isa, bytes) {
        Ok(found) => found,
        Err(error) => return Explanation::invalid(hex(bytes), error.to_string(), bytes),
    };
    let mut line = Line::new();
    group::print(isa, &found, SEPARATOR, &mut line);
    let mut out = Explanation {
        code: hex(found.as_bytes()),
        text: line.as_str().to_owned(),
        picture: picture(isa, set.analysis.semantics, &found),
        ..Default::default()
    };
    let all: Vec<_> = operations(isa, &found).map(|(_, _, operation)| operation).collect();
    out.mnemonic = all.iter().map(|operation| operation.name).collect::<Vec<_>>().join(SEPARATOR);
    let of_each = |text: &dyn Fn(&Operation) -> &'static str| {
        let texts = all.iter().map(|o| (o.name, text(o))).filter(|(_, text)| !text.is_empty());
        texts.map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("\n")
    };
    out.doc = of_each(&|o| o.doc);
    (out.unit, out.source, out.note) = (of_each(&|o| o.part), of_each(&|o| o.source), of_each(&|o| o.note));
    out.provenance = of_each(&|o| o.provenance.as_str());
    for (index, slot) in isa.slots.iter().enumerate() {
        let Some(record) = found.record(isa, index).filter(|record| record.bytes > 0) else { continue };
        let mut fields = groups::fields(isa, &found, index, record);
        name_keys(&mut fields);
        let count = u16::from(record.bytes) * 8;
        let title = format!("{} ({})", slot.name, record.name);
        out.parts.push(Bits { title, count, digits: binary(found.word(index), count), fields });
    }
    out
}

fn of_stream(set: &'static Set, engine: Engine, bytes: &[u8]) -> Explanation {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let decoded = match engine.decode(bytes) {
        Ok(decoded) => decoded,
        Err(error) => return Explanation::invalid(hex(bytes), error.to_string(), bytes),
    };
    let mut line = Line::new();
    engine.print(&decoded, &mut line);
    let code = hex(bytes.get(..usize::from(decoded.len)).unwrap_or_default());
    let mut out = Explanation { code, text: line.as_str().to_owned(), ..Default::default() };
    let opcode = engine.scope(&decoded).layout.opcode;
    if let Some(known) = engine.stream.instructions.get(usize::from(opcode)) {
        out.mnemonic = known.name.to_owned();
        (out.title, out.doc) = (known.title.to_owned(), known.doc.to_owned());
        (out.unit, out.source, out.note) = (known.unit.to_owned(), known.source.to_owned(), known.note.to_owned());
        out.provenance = known.provenance.as_str().to_owned();
    }
    let operation = set.analysis.semantics.and_then(|known| known.operations.get(usize::from(opcode)));
    out.does = operation.map_or(String::new(), |operation| operation.text.trim().to_owned());
    let count = u16::from(decoded.len) * 8;
    let digit = |bit: u32| if decoded.word.get(bit, 1) == 0 { '0' } else { '1' };
    let digits = (0..u32::from(count)).rev().map(digit).collect();
    let mut fields = of_stream_bits(engine, &decoded);
    name_keys(&mut fields);
    out.parts.push(Bits { title: String::new(), count, digits, fields });
    out
}

#[pymethods]
impl Explanation {
    /// The registers that it reads, each with the operands that name it.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.reads)
    }

    /// The registers that it writes.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.writes)
    }

    /// The modifiers that the instruction and its operands may have, if it is a word: the names of the values of each,
    /// none for a modifier that is only written or not.
    #[getter]
    fn modifiers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.modifiers.iter().try_for_each(|(name, values)| all.set_item(name, values))?;
        Ok(all)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Explanation>() else { return false };
        match (&self.of, &other.get().of) {
            (Some((own, mine)), Some((set, bytes))) => std::ptr::eq(*own, *set) && mine == bytes,
            _ => false,
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&self.code, &mut hasher);
        std::hash::Hasher::finish(&hasher)
    }

    /// Pickling: the other process loads the set and explains the bytes again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let (set, bytes) = self.of.as_ref().ok_or_else(|| PyValueError::new_err("nothing is explained"))?;
        Ok((Bound::new(py, Isa { set })?.getattr("explain")?, (PyBytes::new(py, bytes),)))
    }

    /// The parts in memory order.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.parts.iter().cloned().map(Part))
    }

    /// The fields of all parts.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.all())
    }

    fn __str__(&self) -> String {
        let head = if self.error.is_empty() { self.text.clone() } else { format!("no instruction: {}", self.error) };
        let mut out = format!("{}  {head}\n", self.code);
        for part in &self.parts {
            out.push('\n');
            if !part.title.is_empty() {
                out.push_str(&format!("{}\n", part.title));
            }
            let rows: Vec<[String; 4]> = part.fields.iter().map(row).collect();
            let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            let widths = [width(0), width(1), width(2)];
            for [bits, name, text, meaning] in &rows {
                let line = format!("  {bits:>0$}  {name:1$}  {text:2$}  {meaning}", widths[0], widths[1], widths[2]);
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        for (name, list) in self.uses().into_iter().filter(|(_, list)| !list.is_empty()) {
            out.push_str(&format!("\n{name}: {}", list.join(", ")));
        }
        let texts = [
            ("", &self.title),
            ("", &self.doc),
            ("does: ", &self.does),
            ("here: ", &self.here),
            ("unit: ", &on_a_line(&self.unit)),
            ("source: ", &on_a_line(&self.source)),
            ("known by: ", &on_a_line(&self.provenance)),
            ("note: ", &on_a_line(&self.note)),
        ];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            out.push_str(&format!("\n{name}{text}"));
        }
        out
    }

    fn __repr__(&self) -> String {
        format!("<isaforge.Explanation of {}>", self.code)
    }

    fn _repr_html_(&self) -> String {
        html::explanation(self)
    }
}

/// What a text says of each operation of a group, on a line.
fn on_a_line(text: &str) -> String {
    text.replace('\n', "; ")
}

/// Formats a field as a table row: bits, name, text, meaning.
pub fn row(field: &Known) -> [String; 4] {
    let meaning = if field.wrong { format!("wrong: {}", field.meaning) } else { field.meaning.clone() };
    [place(&field.runs), field.full_name(), shown(&field.text, field.value), meaning]
}
