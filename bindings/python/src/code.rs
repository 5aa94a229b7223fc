//! Code as users give it: numbers, bytes, buffers, arrays, lists, texts, and objects of this package.

use isaforge_core::stream::Wide;
use isaforge_core::{Isa as WordIsa, Tables};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};

use crate::error;
use crate::input::{Items, number};
use crate::instruction::Instruction;
use crate::program::{Invalid, Program};
use crate::set::Isa;

impl Isa {
    /// Rejects operations on the bits of instructions for sets without layouts.
    pub fn layouts(&self, py: Python<'_>) -> PyResult<()> {
        if self.set.has_layouts() {
            return Ok(());
        }
        let message = format!("the instructions of `{}` are sequences of operands", self.set.name);
        Err(error::plain(py, &message, "`disassemble` and `assemble` read and write them"))
    }

    /// The bytes of one instruction, given as a number, bytes, an `Instruction`, or the `Invalid` of a program.
    pub fn one(&self, code: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = code.py();
        self.layouts(py)?;
        if let Ok(found) = code.cast::<Instruction>() {
            let found = found.get();
            if !std::ptr::eq(found.set, self.set) {
                let (its, own) = (&found.set.name, &self.set.name);
                let message = match found.set.origin == self.set.origin {
                    true => format!("the instruction is one of `{its}` before it changed and was loaded again"),
                    false => format!("the instruction is one of `{its}`, not of `{own}`"),
                };
                return Err(error::decode(py, &message, "its `bytes` can be decoded as another set's", None));
            }
            return Ok(found.raw());
        }
        if let Ok(invalid) = code.cast::<Invalid>() {
            return Ok(invalid.get().raw.clone());
        }
        let tables = self.set.tables();
        let Some(code) = &number(code) else { return Ok(Items::code(code, self.word_size(), "a number, ")?.to_vec()) };
        match tables {
            Tables::Words(isa) => Ok(self.word(isa, code)?.to_le_bytes()[..tables.unit().min(8)].to_vec()),
            Tables::Groups(_) => Err(PyTypeError::new_err("groups are bytes in the order of memory, not a number")),
            Tables::Streams(engine) => {
                let wide = code.call_method1("to_bytes", (Wide::BYTES, "little"));
                let message = || format!("an instruction is a number of at most {} bits, not {code}", 8 * Wide::BYTES);
                let wide = wide.map_err(|_| error::decode(py, &message(), "", None))?;
                let wide = Wide::from_bytes(wide.cast::<PyBytes>()?.as_bytes());
                let bytes = engine.store(wide);
                let decoded = engine.decode(&bytes).map_err(|e| error::decode(py, &e.to_string(), "", None))?;
                let len = usize::from(decoded.len);
                if bytes[len..].iter().any(|byte| *byte != 0) {
                    let message = format!("the instruction has {} bits, but the number has more", 8 * len);
                    return Err(error::decode(py, &message, "", None));
                }
                Ok(bytes[..len].to_vec())
            }
        }
    }

    /// A word given as a number.
    pub fn word(&self, isa: &'static WordIsa, code: &Bound<'_, PyInt>) -> PyResult<u64> {
        self.fitting(isa, code).map_err(|message| error::decode(code.py(), &message, "", None))
    }

    /// A word given as a number, or the reason why it is none.
    fn fitting(&self, isa: &'static WordIsa, code: &Bound<'_, PyInt>) -> Result<u64, String> {
        let word: Option<u64> = code.extract().ok();
        let word = word.filter(|word| isa.word_bits >= 64 || word >> isa.word_bits == 0);
        word.ok_or_else(|| format!("a word of {} is a number of {} bits, not {code}", self.set.name, isa.word_bits))
    }

    /// The size of a word in bytes, if instructions are words.
    fn word_size(&self) -> Option<usize> {
        self.set.words().map(|_| self.set.tables().unit())
    }

    /// The program that an object is, if it is one.
    pub fn own<'a>(&self, code: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a Program>> {
        let Ok(program) = code.cast::<Program>() else { return Ok(None) };
        let program = program.get();
        if !std::ptr::eq(program.set, self.set) {
            let message = format!("the program is one of `{}`, not of `{}`", program.set.name, self.set.name);
            return Err(error::plain(code.py(), &message, "its `bytes` can be read as another set's"));
        }
        Ok(Some(program))
    }

    /// The words if instructions are words, else the bytes of a program.
    pub fn items(&self, code: &Bound<'_, PyAny>) -> PyResult<Items> {
        self.layouts(code.py())?;
        let bytes = self.own(code)?.map(|program| PyBytes::new(code.py(), program.code()));
        let code = bytes.as_ref().map_or(code, |bytes| bytes.as_any());
        match self.word_size() {
            Some(size) => Items::words(code, size),
            None => Items::code(code, None, ""),
        }
    }

    /// The bytes of a program given as text, bytes, or words.
    pub fn program_of(&self, code: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        if let Ok(text) = code.cast::<PyString>() {
            let text = text.to_str()?;
            return code.py().detach(|| self.set.assemble(text)).map_err(|errors| error::assemble(code.py(), &errors));
        }
        if let Some(program) = self.own(code)? {
            return Ok(program.code().to_vec());
        }
        let is_list = code.is_instance_of::<PyList>() || code.is_instance_of::<PyTuple>();
        if let Some(isa) = self.set.words().filter(|_| is_list) {
            let size = self.set.tables().unit().min(8);
            let mut bytes = Vec::with_capacity(code.len()? * size);
            for (index, word) in code.try_iter()?.enumerate() {
                let word = word?;
                let Some(number) = number(&word) else {
                    let kind = word.get_type().name()?;
                    let message = format!("a program is a list of whole numbers, and [{index}] is of the type {kind}");
                    return Err(PyTypeError::new_err(message));
                };
                let word = self.fitting(isa, &number);
                let word = word.map_err(|why| error::decode(code.py(), &format!("[{index}]: {why}"), "", None))?;
                bytes.extend_from_slice(&word.to_le_bytes()[..size]);
            }
            return Ok(bytes);
        }
        let also = if self.set.words().is_some() { "text, a list of words, " } else { "text, " };
        Ok(Items::code(code, self.word_size(), also)?.to_vec())
    }
}
