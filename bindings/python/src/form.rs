//! The list of a set's instructions.

use isaforge_core::semantics::Semantics;
use isaforge_core::table::Access;
use isaforge_core::{Tables, explain, group};
use pyo3::prelude::*;

use crate::set::Set;

/// An entry of `Isa.list()`: an instruction, or an operation of a set whose instructions are groups.
#[pyclass(frozen, get_all, module = "isaforge")]
pub struct Form {
    /// Its index, which is the `opcode` of its instructions.
    opcode: usize,
    /// Its mnemonic.
    mnemonic: &'static str,
    /// A short description.
    title: &'static str,
    /// The description in the specification.
    doc: &'static str,
    /// The unit that executes it, or the part of a group that it is in.
    unit: &'static str,
    /// The operands that it reads.
    reads: Vec<&'static str>,
    /// The operands that it writes.
    writes: Vec<&'static str>,
    /// Its meaning in the language of specifications; empty if it is not defined.
    does: &'static str,
    /// File and line of its definition.
    source: &'static str,
}

#[pymethods]
impl Form {
    fn __repr__(&self) -> String {
        format!("<isaforge.Form {} '{}'>", self.opcode, self.mnemonic)
    }
}

impl Form {
    /// Whether its name, title or description contains all of these words, given in lower case.
    pub fn has(&self, words: &[String]) -> bool {
        let text = format!("{} {} {}", self.mnemonic, self.title, self.doc).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// The instructions of a set.
pub fn list(set: &'static Set) -> Vec<Form> {
    let does = |index: usize| {
        let known: Option<&'static Semantics> = set.analysis.semantics;
        known.and_then(|known| known.operations.get(index)).map_or("", |operation| operation.text)
    };
    let matches = |access: Access, wanted: Access| access == wanted || access == Access::ReadWrite;
    match set.tables() {
        Tables::Words(isa) => {
            let form = |(opcode, form): (usize, &'static isaforge_core::table::Form)| {
                let operands = |wanted| {
                    let used = form.operands.iter().filter(move |operand| matches(operand.access, wanted));
                    used.map(|operand| operand.name).collect()
                };
                Form {
                    opcode,
                    mnemonic: form.name.str,
                    title: form.title,
                    doc: form.doc,
                    unit: form.unit,
                    reads: operands(Access::Read),
                    writes: operands(Access::Write),
                    does: does(opcode),
                    source: form.source,
                }
            };
            isa.forms.iter().enumerate().map(form).collect()
        }
        Tables::Groups(isa) => {
            let form = |(opcode, operation): (usize, &'static group::table::Operation)| Form {
                opcode,
                mnemonic: operation.name,
                title: "",
                doc: operation.doc,
                unit: operation.part,
                reads: Vec::new(),
                writes: Vec::new(),
                does: does(opcode),
                source: operation.source,
            };
            isa.operations.iter().enumerate().map(form).collect()
        }
        Tables::Streams(engine) => {
            let layouts = engine.stream.layouts_of(0);
            let form = |(opcode, known): (usize, &'static isaforge_core::stream::Instruction)| {
                let own = layouts.iter().find(|layout| usize::from(layout.opcode) == opcode);
                let operands = |wanted| {
                    let all = own.into_iter().flat_map(|layout| layout.operands.iter().map(move |o| (layout, o)));
                    let used = all.filter(|(_, operand)| matches(operand.access, wanted));
                    used.filter_map(|(layout, o)| Some(layout.fields.get(usize::from(o.field))?.name)).collect()
                };
                Form {
                    opcode,
                    mnemonic: known.name,
                    title: known.title,
                    doc: known.doc,
                    unit: known.unit,
                    reads: operands(Access::Read),
                    writes: operands(Access::Write),
                    does: does(opcode),
                    source: known.source,
                }
            };
            engine.stream.instructions.iter().enumerate().map(form).collect()
        }
    }
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
