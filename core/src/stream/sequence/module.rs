//! Whole modules: a header, then instructions.

use alloc::string::String;
use alloc::vec::Vec;

use super::SequenceError;
use super::parse::statements;
use super::symbols::Symbols;
use super::table::{HeaderUnit, Sequence};

impl Sequence {
    /// Disassembles an instruction or a module. A module starts with its magic number.
    ///
    /// # Errors
    /// Why the bytes are neither.
    pub fn disassemble(&self, bytes: &[u8]) -> Result<String, SequenceError> {
        let units = units(bytes)?;
        if let (Some(HeaderUnit::Is(mark)), Some(first)) = (self.header.first(), units.first())
            && mark == first
        {
            return self.module(&units);
        }
        let mut text = String::new();
        let taken = self.print(&units, &mut Symbols::default(), &mut text)?;
        if taken != units.len() {
            let message = alloc::format!("the instruction has {} bytes, but there are {}", 4 * taken, bytes.len());
            return Err(SequenceError::new(4 * taken, message));
        }
        Ok(text)
    }

    /// Assembles an instruction, or a module if the text has more than one line.
    ///
    /// # Errors
    /// The position at which the text stops being either.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, SequenceError> {
        let lines = statements(text);
        let units = match &lines[..] {
            [] => return Err(SequenceError::new(0, "there is no instruction")),
            [(at, line)] => self.parse(line, &mut Symbols::default()).map_err(|e| e.moved(*at))?,
            lines => self.assemble_module(lines)?,
        };
        Ok(units.iter().flat_map(|unit| unit.to_le_bytes()).collect())
    }

    /// Lists a module, one instruction per line.
    pub(super) fn module(&self, units: &[u32]) -> Result<String, SequenceError> {
        for (at, (unit, wanted)) in units.iter().zip(self.header).enumerate() {
            if let HeaderUnit::Is(wanted) = wanted
                && unit != wanted
            {
                let message = alloc::format!("this must be {wanted:#x}, found {unit:#x}");
                return Err(SequenceError::new(4 * at, message));
            }
        }
        let mut at = self.header.len();
        if units.len() < at {
            return Err(SequenceError::new(4 * units.len(), "the module ends within its header"));
        }
        let (mut symbols, mut out) = (Symbols::default(), String::new());
        while at < units.len() {
            at += self.print(&units[at..], &mut symbols, &mut out).map_err(|error| error.moved(4 * at))?;
            out.push('\n');
        }
        Ok(out)
    }

    /// Assembles the lines of a module.
    pub(super) fn assemble_module(&self, lines: &[(usize, &str)]) -> Result<Vec<u32>, SequenceError> {
        let mut symbols = Symbols::default();
        let mut body = Vec::new();
        for (at, line) in lines {
            let units = self.parse(line, &mut symbols).map_err(|error| error.moved(*at))?;
            body.extend(units);
        }
        let header = self.header.iter().map(|unit| match unit {
            HeaderUnit::Is(value) | HeaderUnit::Any(value) => *value,
            HeaderUnit::Bound => symbols.greatest.saturating_add(1),
        });
        Ok(header.chain(body).collect())
    }
}

fn units(bytes: &[u8]) -> Result<Vec<u32>, SequenceError> {
    if !bytes.len().is_multiple_of(4) {
        let message = alloc::format!("{} bytes are not a multiple of 4", bytes.len());
        return Err(SequenceError::new(bytes.len() / 4 * 4, message));
    }
    let unit = |bytes: &[u8]| bytes.iter().rev().fold(0, |unit, byte| unit << 8 | u32::from(*byte));
    Ok(bytes.chunks(4).map(unit).collect())
}
