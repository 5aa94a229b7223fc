//! Assembles programs of every kind of instruction set.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Tables;
use crate::assembly::{Assembly, Label, Placed};
use crate::group::listing::read_program;
use crate::program::{Part, ProgramError, read};
use crate::semantics::Semantics;
use crate::stream;

impl Tables {
    /// Assembles a program of the instruction set, in the syntax of its listings. If there are no errors, the bytes are
    /// the program.
    ///
    /// # Examples
    ///
    /// ```
    /// use isaforge_core::Tables;
    ///
    /// let text = "start: // a label\nMultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx\nMultiplyHiInt16v r0";
    /// let read = Tables::Words(isaforge_vpu::ISA).assemble(text);
    /// let one = read.placed[0];
    /// assert_eq!((one.line, &read.bytes[one.at..][..one.len]), (1, &0x2a00004000800000_u64.to_le_bytes()[..]));
    /// assert_eq!((read.labels[0].name.as_str(), read.errors[0].line), ("start", 3));
    /// ```
    pub fn assemble(&self, text: &str) -> Assembly {
        self.assemble_at(text, 0)
    }

    /// Assembles a program whose first byte has this address, which matters to branches with absolute targets. Offsets
    /// in the result count from the first byte.
    pub fn assemble_at(&self, text: &str, base: u64) -> Assembly {
        self.assemble_with(text, base, None)
    }

    /// Assembles a program at an address. With the semantics of the set, the error about a float names the constant
    /// that its operand reads as that float.
    pub fn assemble_with(&self, text: &str, base: u64, semantics: Option<&'static Semantics>) -> Assembly {
        match self {
            Tables::Words(isa) => {
                let (mut placed, mut labels) = (Vec::new(), Vec::new());
                let len = usize::from(isa.word_bits).div_ceil(8).max(1);
                let (words, errors) = read(isa, text, base, semantics, |part| match part {
                    Part::Label { line, full, name } => labels.push(Label::new(full, line, name)),
                    Part::Word { line } => placed.push(Placed { line, at: placed.len() * len, len }),
                });
                let wrong = |one: &Placed| errors.binary_search_by_key(&(one.line + 1), |error| error.line).is_ok();
                placed.retain(|one| !wrong(one));
                let bytes = words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(len)).collect();
                Assembly { bytes, placed, labels, errors }
            }
            Tables::Groups(isa) => read_program(isa, text, base),
            Tables::Streams(engine) => match engine.stream.sequence {
                Some(sequence) => match sequence.assemble(text) {
                    Ok(bytes) => Assembly { bytes, ..Assembly::default() },
                    Err(error) => {
                        let before = text.get(..error.at).unwrap_or(text);
                        let line = before.matches('\n').count() + 1;
                        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                        let error = ProgramError { line, column, len: 1, message: error.message, help: String::new() };
                        Assembly { errors: alloc::vec![error], ..Assembly::default() }
                    }
                },
                None => stream::program::read(*engine, text, base),
            },
        }
    }
}
