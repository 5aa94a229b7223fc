//! Whole modules: a header, then instructions.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::SequenceError;
use super::parse::{UNITS, statements};
use super::symbols::Symbols;
use super::table::{HeaderUnit, Sequence};

/// The text of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// A line per instruction.
    pub text: String,
    /// Why the first of the parts that are no instructions is none.
    pub error: Option<SequenceError>,
    /// The number of these parts.
    pub invalid: usize,
}

/// The maximum number of units on a line that is no instruction.
const UNITS_PER_LINE: usize = 8;

impl Listing {
    /// Adds units that are no instruction.
    fn add(&mut self, units: &[u32], error: SequenceError) {
        for (line, units) in units.chunks(UNITS_PER_LINE).enumerate() {
            self.text.push_str(UNITS);
            for unit in units {
                let _ = write!(self.text, " {unit:#010x}");
            }
            if line == 0 {
                let _ = write!(self.text, " ; {error}");
            }
            self.text.push('\n');
        }
        self.invalid += 1;
        self.error.get_or_insert(error);
    }
}

impl Sequence {
    /// Disassembles an instruction or a module. A module starts with its magic number.
    ///
    /// # Errors
    /// Why the bytes are neither.
    pub fn disassemble(&self, bytes: &[u8]) -> Result<String, SequenceError> {
        if self.is_module(bytes) {
            let listing = self.list(bytes)?;
            return listing.error.map_or(Ok(listing.text), Err);
        }
        let units = units(bytes)?;
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

    /// Whether bytes begin with the magic number of a module, in either byte order.
    pub fn is_module(&self, bytes: &[u8]) -> bool {
        self.is_swapped(bytes).is_some()
    }

    /// Whether the bytes of each unit of a module are in the other order; `None` if they are no module.
    fn is_swapped(&self, bytes: &[u8]) -> Option<bool> {
        let (Some(HeaderUnit::Is(mark)), Some(first)) = (self.header.first(), bytes.first_chunk()) else { return None };
        let first = u32::from_le_bytes(*first);
        (first == *mark || first.swap_bytes() == *mark).then_some(first != *mark)
    }

    /// Lists a module, one instruction per line. What is no instruction becomes lines of `.word`, which assemble to the
    /// same units.
    ///
    /// # Errors
    /// Why the bytes do not begin with a header.
    pub fn list(&self, bytes: &[u8]) -> Result<Listing, SequenceError> {
        let mut units = units(bytes)?;
        if self.is_swapped(bytes) == Some(true) {
            units.iter_mut().for_each(|unit| *unit = unit.swap_bytes());
        }
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
        let (mut symbols, mut found) = (Symbols::default(), Listing::default());
        while let Some(rest @ [first, ..]) = units.get(at..) {
            match self.print(rest, &mut symbols, &mut found.text) {
                Ok(taken) => {
                    at += taken;
                    found.text.push('\n');
                }
                Err(error) => {
                    let taken = Some((first >> 16) as usize).filter(|count| (1..=rest.len()).contains(count));
                    let taken = taken.unwrap_or(rest.len());
                    found.add(&rest[..taken], error.moved(4 * at));
                    at += taken;
                }
            }
        }
        Ok(found)
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
