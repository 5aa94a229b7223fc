//! What the class for an instruction set does.

use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::print::{Style, print};
use isaforge_core::text::Line;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyMapping, PyString, PyTuple};

use crate::arrow::{Array, RecordBatch};
use crate::explain::Explanation;
use crate::form;
use crate::input::number;
use crate::instruction::{Instruction, invalid, one};
use crate::program::{Program, listing};
use crate::run::{self, Outcome, Request, Trace};
use crate::set::{Isa, Origin};
use crate::{batch, error};

/// The error for a column that is too large.
fn too_much(py: Python<'_>, what: &str) -> PyErr {
    error::plain(py, what, "split the batch")
}

#[pymethods]
impl Isa {
    /// The name that it was loaded by.
    #[getter]
    fn name(&self) -> &str {
        &self.set.name
    }

    /// The kind of its instructions: `words` of one length, `groups` of bytes, or a `stream` of bytes.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.set.tables() {
            Tables::Words(_) => "words",
            Tables::Groups(_) => "groups",
            Tables::Streams(_) => "stream",
        }
    }

    /// The width of a word in bits; `None` if instructions are not words.
    #[getter]
    fn word_bits(&self) -> Option<u8> {
        self.set.words().map(|isa| isa.word_bits)
    }

    /// The alignment of instructions in bytes.
    #[getter]
    fn unit(&self) -> usize {
        self.set.tables().unit()
    }

    /// Decodes an instruction given as a number or bytes. Decoding is strict: every bit is checked.
    ///
    /// Raises `DecodeError` with the mistake and its position; `TypeError` for a number if instructions are groups,
    /// which are bytes.
    ///
    /// >>> import isaforge
    /// >>> isa = isaforge.load("valhall")
    /// >>> isa.decode(0x0091C10000000002).operands
    /// (<isaforge.Operand dest: register "r1">, <isaforge.Operand src0: register "r2">)
    /// >>> isa.decode(0)  # doctest: +ELLIPSIS
    /// Traceback (most recent call last):
    ///   ...
    /// isaforge.errors.DecodeError: ...
    fn decode(&self, code: &Bound<'_, PyAny>) -> PyResult<Instruction> {
        if let (Some(isa), Ok(number)) = (self.set.words(), code.cast::<PyInt>()) {
            return Instruction::of_word(self.set, code.py(), isa, self.word(isa, number)?);
        }
        Instruction::exactly(self.set, code.py(), self.one(code)?)
    }

    /// Parses an instruction from a line of assembly.
    ///
    /// Raises `AssembleError`, also for data such as `.word 0` that is not an instruction.
    fn parse(&self, py: Python<'_>, text: &str) -> PyResult<Instruction> {
        self.layouts(py)?;
        let bytes = self.set.parse_one(py, text)?;
        Instruction::exactly(self.set, py, bytes).map_err(|reason| {
            let message = format!("the text is data, not an instruction: {}", reason.value(py));
            error::not_one(py, &message, "`explain` explains any bits")
        })
    }

    /// Disassembles an `Instruction`, a word given as a number, or a program given as bytes. A program has an
    /// instruction per line, labels at branch targets, and raw words or bytes with the reason where it is not valid.
    ///
    /// The text assembles to the same bytes unless several encodings share a text, or the assembler refuses an
    /// instruction that breaks a limit of the set. With `exact`, such instructions are written in a form that assembles
    /// to the very same bytes, as by `isaforge dis --exact`.
    ///
    /// Raises `DecodeError` for a number that is not an instruction, and for an incomplete word at the end of bytes.
    ///
    /// >>> import isaforge
    /// >>> isa = isaforge.load("valhall")
    /// >>> isa.disassemble(0x00B2C00000808140)
    /// 'FMA.f32 r0, ^r0, u1, u0'
    /// >>> isa.disassemble(bytes.fromhex("0200000000c19100"))
    /// 'MOV.i32 r1, r2\n'
    #[pyo3(signature = (code, *, exact=false))]
    fn disassemble<'py>(&self, code: &Bound<'py, PyAny>, exact: bool) -> PyResult<Bound<'py, PyString>> {
        let py = code.py();
        let style = if exact { Style::Exact } else { Style::Customary };
        if let (Some(isa), Ok(number), false) = (self.set.words(), code.cast::<PyInt>(), exact) {
            let word = self.word(isa, number)?;
            let opcode = self.set.opcode(isa, word).ok_or_else(|| invalid(py, isa, word))?;
            let mut line = Line::new();
            print(isa, opcode, word, style, &mut line);
            return Ok(PyString::new(py, line.as_str()));
        }
        if code.is_instance_of::<Instruction>() || number(code).is_some() {
            return Ok(PyString::new(py, &self.decode(code)?.styled(style)));
        }
        let bytes = self.program_of(code)?;
        let rest = if self.set.words().is_some() { bytes.len() % self.unit() } else { 0 };
        if rest > 0 {
            let message =
                format!("{rest} of {} bytes are left over at the end: a word has {}", bytes.len(), self.unit());
            return Err(error::decode(py, &message, "", None));
        }
        let text =
            py.detach(|| listing(self.set, &bytes, style)).map_err(|reason| error::decode(py, &reason, "", None))?;
        Ok(PyString::new(py, &text))
    }

    /// Assembles the text of a program to bytes: an instruction per line, `label:`, comments from `//` or `;`.
    ///
    /// Raises `AssembleError` with every mistake.
    ///
    /// >>> import isaforge
    /// >>> isa = isaforge.load("valhall")
    /// >>> isa.assemble("MOV.i32 r1, r2").hex()
    /// '0200000000c19100'
    /// >>> isa.assemble("MOV.i32 r1, r2\nMOV.i32 r1, r99")
    /// Traceback (most recent call last):
    ///   ...
    /// isaforge.errors.AssembleError: 2:14: `99` is out of range for `index`: 0 to 63 is allowed
    fn assemble<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.set.assemble(text));
        Ok(PyBytes::new(py, &bytes.map_err(|errors| error::assemble(py, &errors))?))
    }

    /// Assembles the text of a program to words, as numbers.
    ///
    /// >>> import isaforge
    /// >>> [hex(word) for word in isaforge.load("valhall").assemble_words("MOV.i32 r1, r2")]
    /// ['0x91c10000000002']
    fn assemble_words(&self, py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
        if self.set.words().is_none() {
            return Err(error::plain(py, "instructions of this set are not words", "`assemble` gives bytes"));
        }
        let bytes = py.detach(|| self.set.assemble(text)).map_err(|errors| error::assemble(py, &errors))?;
        Ok(bytes.chunks(self.unit()).map(word_of).collect())
    }

    /// Reads a program from bytes or from its text.
    fn program(&self, code: &Bound<'_, PyAny>) -> PyResult<Program> {
        self.layouts(code.py())?;
        let bytes = self.program_of(code)?;
        Ok(code.py().detach(|| Program::new(self.set, bytes)))
    }

    /// Explains an instruction given as an `Instruction`, a number, bytes, a line of assembly, or its mnemonic alone.
    /// Bits that are not an instruction are explained, too.
    ///
    /// Raises `AssembleError` for a text, and `DecodeError` for bytes, of no instruction or of several.
    ///
    /// >>> import isaforge
    /// >>> isa = isaforge.load("valhall")
    /// >>> isa.explain("MOV.i32").text
    /// 'MOV.i32 r0, r2'
    /// >>> isa.explain(0).error
    /// 'NOP: reserved bits 47..0 must be 0xc00000000000, found 0x0'
    fn explain(&self, code: &Bound<'_, PyAny>) -> PyResult<Explanation> {
        let py = code.py();
        self.layouts(py)?;
        if let Ok(text) = code.cast::<PyString>() {
            let text = text.to_str()?.trim();
            let bytes = match form::example(self.set, text) {
                Some(bytes) => bytes,
                None => self.set.parse_one(py, text)?,
            };
            return Ok(Explanation::of_code(self.set, &bytes));
        }
        let bytes = self.one(code)?;
        // Bytes that do not decode are explained, too.
        let _ = one(self.set, py, &bytes)?;
        Ok(Explanation::of_code(self.set, &bytes))
    }

    /// The meaning of every bit of an instruction.
    ///
    /// >>> import isaforge
    /// >>> isaforge.load("valhall").annotate(0x0091C10000000002)[-1]
    /// <isaforge.Field 7..0: src0 = r2>
    fn annotate<'py>(&self, code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(code.py(), self.explain(code)?.all())
    }

    /// The instructions that have all of these words in their name, title or description, or among their unit,
    /// operands and fidelity: the same that `isaforge list` finds.
    ///
    /// >>> import isaforge
    /// >>> isaforge.load("valhall").list("fma.", "v2f16")
    /// (<isaforge.Form 168 'FMA.v2f16'>,)
    #[pyo3(signature = (*words))]
    fn list<'py>(&self, py: Python<'py>, words: Vec<String>) -> PyResult<Bound<'py, PyTuple>> {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        PyTuple::new(py, form::list(self.set, &words))
    }

    /// The opcodes of instructions as an Arrow array of `uint16`; null for invalid ones.
    ///
    /// Code is `bytes`, a buffer of bytes or words such as a numpy array, or an Arrow array of words. It is not copied,
    /// and an array must not be modified meanwhile.
    ///
    /// >>> import isaforge
    /// >>> isa = isaforge.load("valhall")
    /// >>> isa.opcodes(isa.assemble("MOV.i32 r1, r2\n.word 0")).to_list()[1] is None
    /// True
    fn opcodes(&self, code: &Bound<'_, PyAny>) -> PyResult<Array> {
        let (items, set) = (self.items(code)?, self.set);
        let column = code.py().detach(|| match set.tables() {
            Tables::Words(isa) => Ok(std::sync::Arc::new(batch::opcodes(set, isa, &items)) as arrow_array::ArrayRef),
            Tables::Groups(_) => Err("a group holds several operations and has no opcode".to_owned()),
            Tables::Streams(_) => batch::column(set, &items, "opcode"),
        });
        Ok(column.map_err(|reason| error::plain(code.py(), &reason, "`mnemonics` names them"))?.into())
    }

    /// The mnemonics of instructions as a dictionary-encoded Arrow array; null for invalid ones.
    fn mnemonics(&self, code: &Bound<'_, PyAny>) -> PyResult<Array> {
        let (items, set) = (self.items(code)?, self.set);
        let column = code.py().detach(|| match set.tables() {
            Tables::Words(isa) => {
                Ok(std::sync::Arc::new(batch::named(set, batch::opcodes(set, isa, &items))) as arrow_array::ArrayRef)
            }
            _ => batch::column(set, &items, "mnemonic"),
        });
        Ok(column.map_err(|reason| too_much(code.py(), &reason))?.into())
    }

    /// The texts of instructions as an Arrow array of `utf8`; null for invalid ones.
    fn texts(&self, code: &Bound<'_, PyAny>) -> PyResult<Array> {
        let (items, set) = (self.items(code)?, self.set);
        let column = code.py().detach(|| match set.tables() {
            Tables::Words(isa) => batch::texts(set, isa, &items)
                .map(|column| std::sync::Arc::new(column) as arrow_array::ArrayRef)
                .ok_or_else(|| "the texts have more than 2 GiB".to_owned()),
            _ => batch::column(set, &items, "text"),
        });
        Ok(column.map_err(|reason| too_much(code.py(), &reason))?.into())
    }

    /// Instructions as an Arrow record batch with one row each: `address`, `word` or `bytes`, `opcode`, `mnemonic`,
    /// `modifiers`, `flow`, `target`, `reads`, `writes`, `text`, and `error` for invalid ones.
    fn records(&self, code: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
        let (items, set) = (self.items(code)?, self.set);
        let rows = code.py().detach(|| batch::records(set, &items));
        Ok(rows.map_err(|reason| too_much(code.py(), &reason))?.into())
    }

    /// Runs a program, given as text, bytes, or a list of words, until it ends.
    ///
    /// On Valhall, a launch has `groups` of `local_size` threads. `uniforms` are its words: whole numbers, floats, or
    /// writable arrays, each of which is replaced by the two words of its address. `buffers` maps addresses to arrays.
    /// Arrays are buffers of bytes, whole numbers or floats.
    ///
    /// Other sets run on the machine that their specification describes: `registers` maps the names of registers and
    /// states to whole numbers or floats of their width, either one for all lanes or a list with one for each; `address`
    /// is the start of the program.
    ///
    /// The run ends after `budget` instructions, by default 100 billion on Valhall and ten billion elsewhere, or
    /// `time_limit` seconds. Ctrl-C ends it, too.
    ///
    /// Afterwards, the arrays contain what the program wrote. Raises `RunError` if it cannot continue.
    ///
    /// >>> import isaforge
    /// >>> out = bytearray(4)
    /// >>> program = "IADD_IMM.i32 r0, 0x0, #0x2a\nSTORE.i32.slot0.end @r0, u0, offset:0"
    /// >>> isaforge.load("valhall").run(program, uniforms=[out])
    /// <isaforge.Outcome of 2 instructions>
    /// >>> out[0]
    /// 42
    #[pyo3(signature = (program, *, groups=None, local_size=None, uniforms=None, shared_bytes=None, buffers=None, registers=None, address=None, budget=None, time_limit=None, engine=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run<'py>(
        &self,
        program: &Bound<'py, PyAny>,
        groups: Option<Bound<'py, PyAny>>,
        local_size: Option<Bound<'py, PyAny>>,
        uniforms: Option<Bound<'py, PyAny>>,
        shared_bytes: Option<Bound<'py, PyAny>>,
        buffers: Option<Bound<'py, PyMapping>>,
        registers: Option<Bound<'py, PyMapping>>,
        address: Option<Bound<'py, PyAny>>,
        budget: Option<Bound<'py, PyAny>>,
        time_limit: Option<f64>,
        engine: Option<String>,
    ) -> PyResult<Outcome> {
        let request = Request {
            groups,
            local_size,
            uniforms,
            shared_bytes,
            buffers,
            registers,
            address,
            budget,
            time_limit,
            engine,
        };
        run::run(self.set, self.program_of(program)?, &request, program.py())
    }

    /// Runs a program like `run`, on the reference engine, and returns an iterator of `Step` over the executed
    /// instructions.
    ///
    /// The program waits for the iterator, so the trace takes bounded memory. The arrays contain what the program wrote
    /// once the iterator is exhausted. Dropping the iterator stops the program.
    ///
    /// >>> import isaforge
    /// >>> for step in isaforge.load("valhall").trace("IADD_IMM.i32 r0, 0x0, #0x2a\nNOP.end"):
    /// ...     print(step)
    /// workgroup (0,0,0) warp 0    0 +xxxxxxxxxxxxxxx IADD_IMM.i32 r0, 0x0, #0x2A  | r0=0:0000002a
    /// workgroup (0,0,0) warp 0    1 +xxxxxxxxxxxxxxx NOP.end
    #[pyo3(signature = (program, *, groups=None, local_size=None, uniforms=None, shared_bytes=None, buffers=None, registers=None, address=None, budget=None, time_limit=None, engine=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn trace<'py>(
        &self,
        program: &Bound<'py, PyAny>,
        groups: Option<Bound<'py, PyAny>>,
        local_size: Option<Bound<'py, PyAny>>,
        uniforms: Option<Bound<'py, PyAny>>,
        shared_bytes: Option<Bound<'py, PyAny>>,
        buffers: Option<Bound<'py, PyMapping>>,
        registers: Option<Bound<'py, PyMapping>>,
        address: Option<Bound<'py, PyAny>>,
        budget: Option<Bound<'py, PyAny>>,
        time_limit: Option<f64>,
        engine: Option<String>,
    ) -> PyResult<Trace> {
        let request = Request {
            groups,
            local_size,
            uniforms,
            shared_bytes,
            buffers,
            registers,
            address,
            budget,
            time_limit,
            engine,
        };
        run::trace(self.set, self.program_of(program)?, &request, program.py())
    }

    /// Pickling: the other process loads the set again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, &Origin)> {
        Ok((py.import("isaforge")?.getattr("load")?, &self.set.origin))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Isa>().is_ok_and(|other| std::ptr::eq(self.set, other.get().set))
    }

    fn __hash__(&self) -> usize {
        std::ptr::from_ref(self.set).addr()
    }

    fn __repr__(&self) -> String {
        let count = arrow_array::Array::len(self.set.mnemonics.as_ref());
        let shape = match self.set.tables() {
            Tables::Words(isa) => format!("words of {} bits, {count} instructions", isa.word_bits),
            Tables::Groups(_) => format!("groups of bytes, {count} operations"),
            Tables::Streams(_) => format!("a stream of bytes, {count} instructions"),
        };
        format!("<isaforge.Isa '{}': {shape}>", self.set.name)
    }
}
