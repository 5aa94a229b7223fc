//! Prints units as text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::SequenceError;
use super::operands::Operands;
use super::symbols::{Facts, NumberType, Symbols};
use super::table::{Enumerant, ExtendedSet, Kind, Operation, Sequence};
use super::text::quoted;

struct Printer<'a> {
    sequence: &'a Sequence,
    units: &'a [u32],
    at: usize,
    symbols: &'a Symbols,
    facts: Facts,
    out: String,
    depth: u8,
}

impl Sequence {
    /// The operation with a code.
    pub(super) fn operation(operations: &[Operation], code: u32) -> Option<&Operation> {
        let at = operations.partition_point(|operation| operation.code < code);
        operations.get(at).filter(|operation| operation.code == code)
    }

    /// The imported set with a name.
    pub(super) fn set(&self, name: &str) -> Option<&ExtendedSet> {
        self.sets.iter().find(|known| known.name == name)
    }

    /// Whether all operands of the instructions of an imported set are identifiers, so that they need no table.
    pub(super) fn has_ids(&self, name: &str) -> bool {
        let starts = |known: &ExtendedSet| known.name.strip_suffix('*').is_some_and(|start| name.starts_with(start));
        self.sets.iter().any(starts)
    }

    /// Appends the text of the instruction at the start of `units`. Returns the number of units that it takes.
    ///
    /// # Errors
    /// Why there is no instruction.
    pub fn print(&self, units: &[u32], symbols: &mut Symbols, out: &mut String) -> Result<usize, SequenceError> {
        let first = *units.first().ok_or_else(|| SequenceError::new(0, "there is no instruction"))?;
        let (code, count) = (first & 0xffff, (first >> 16) as usize);
        let Some(operation) = Self::operation(self.operations, code) else {
            return Err(SequenceError::new(0, format!("no instruction has the code {code}")));
        };
        if count == 0 || count > units.len() {
            let message = format!("`{}` declares {count} units, but there are {}", operation.name, units.len());
            return Err(SequenceError::new(0, message));
        }
        let mut printer = Printer {
            sequence: self,
            units: &units[..count],
            at: 1,
            symbols,
            facts: Facts::default(),
            out: operation.name.to_string(),
            depth: 0,
        };
        printer.slots(operation.operands)?;
        if printer.at < count {
            let message = format!("`{}` has {} units more than operands", operation.name, count - printer.at);
            return Err(SequenceError::new(4 * printer.at, message));
        }
        let Printer { facts, out: text, .. } = printer;
        if let Some(result) = facts.result {
            out.push_str(&format!("%{result} = "));
        }
        out.push_str(&text);
        symbols.learn(operation.says, facts);
        Ok(count)
    }
}

impl Operands for Printer<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn depth(&mut self) -> &mut u8 {
        &mut self.depth
    }

    fn error(&self, message: &str) -> SequenceError {
        SequenceError::new(4 * self.at, message)
    }

    fn is_more(&self) -> bool {
        self.at < self.units.len()
    }

    fn operand(&mut self, kind: u16) -> Result<(), SequenceError> {
        let Some(kind) = self.sequence.kinds.get(usize::from(kind)) else { return Err(self.error("no such operand")) };
        if !matches!(kind, Kind::Pair(..)) {
            self.facts.firsts.push(self.units.get(self.at).copied().unwrap_or(0));
        }
        match kind {
            Kind::Result => self.facts.result = Some(self.id()?),
            Kind::ResultType => {
                let id = self.id()?;
                self.facts.result_type = Some(id);
                self.word(&format!("%{id}"));
            }
            Kind::Id => {
                let id = self.id()?;
                self.word(&format!("%{id}"));
            }
            Kind::Number => {
                let number = self.next()?;
                self.word(&number.to_string());
            }
            Kind::Text => self.text()?,
            Kind::Float => self.number(Some(NumberType::Float(32)))?,
            Kind::OfResult => {
                let ty = self.facts.result_type.and_then(|id| self.symbols.number_type(id));
                self.number(ty)?;
            }
            Kind::OfFirst => {
                let ty = self.facts.firsts.first().and_then(|id| self.symbols.type_of(*id));
                self.number(ty)?;
            }
            Kind::Value(values) => {
                let value = self.next()?;
                let Some(found) = values.iter().find(|known| known.value == value) else {
                    self.at -= 1;
                    return Err(self.error(&format!("the operand has the reserved value {value}")));
                };
                self.word(found.name);
                self.slots(found.parameters)?;
            }
            Kind::Bits(values) => self.bits(values)?,
            Kind::Pair(first, second) => {
                self.within(*first)?;
                self.within(*second)?;
            }
            Kind::Nested => {
                let code = self.next()?;
                let Some(found) = Sequence::operation(self.sequence.operations, code) else {
                    return Err(self.error(&format!("no instruction has the code {code}")));
                };
                self.word(found.short);
                self.nested(self.sequence, found)?;
            }
            Kind::Extended => {
                // The preceding operand is the set.
                let set = self.facts.firsts.iter().rev().nth(1).copied().unwrap_or(0);
                let Some(name) = self.symbols.import(set) else {
                    return Err(self.error(&format!("%{set} is not an imported instruction set")));
                };
                let known = self.sequence.set(name).map_or(&[][..], |known| known.operations);
                let has_ids = self.sequence.has_ids(name);
                let code = self.next()?;
                match Sequence::operation(known, code) {
                    Some(found) => {
                        self.word(found.name);
                        self.nested(self.sequence, found)?;
                    }
                    None => {
                        self.word(&code.to_string());
                        self.unknown(has_ids)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Printer<'_> {
    /// The rest of an instruction that is not in the tables: identifiers, or numbers.
    fn unknown(&mut self, has_ids: bool) -> Result<(), SequenceError> {
        while self.is_more() {
            let unit = self.next()?;
            // No identifier is 0.
            self.word(&if has_ids && unit != 0 { format!("%{unit}") } else { unit.to_string() });
        }
        Ok(())
    }

    fn next(&mut self) -> Result<u32, SequenceError> {
        let unit = self.units.get(self.at).copied().ok_or_else(|| self.error("an operand is missing"))?;
        self.at += 1;
        Ok(unit)
    }

    fn word(&mut self, text: &str) {
        self.out.push(' ');
        self.out.push_str(text);
    }

    fn id(&mut self) -> Result<u32, SequenceError> {
        match self.next()? {
            0 => {
                self.at -= 1;
                Err(self.error("identifiers begin with 1"))
            }
            id => Ok(id),
        }
    }

    fn number(&mut self, ty: Option<NumberType>) -> Result<(), SequenceError> {
        let Some((ty, count)) = ty.and_then(|ty| Some((ty, ty.units()?))) else {
            return Err(self.error("the number's type is not declared, so its width is unknown"));
        };
        let Some(units) = self.units.get(self.at..self.at + count) else {
            return Err(self.error("the number ends early"));
        };
        let Some(text) = ty.text(units) else { return Err(self.error("bits beyond the number's width are wrong")) };
        self.at += count;
        self.word(&text);
        Ok(())
    }

    fn text(&mut self) -> Result<(), SequenceError> {
        let start = self.at;
        let mut bytes = Vec::new();
        loop {
            let unit =
                self.next().map_err(|_| SequenceError::new(4 * start, "a text is not terminated"))?.to_le_bytes();
            match unit.iter().position(|byte| *byte == 0) {
                None => bytes.extend(unit),
                Some(end) if unit[end..].iter().all(|byte| *byte == 0) => {
                    bytes.extend(&unit[..end]);
                    break;
                }
                Some(_) => {
                    self.at -= 1;
                    return Err(self.error("bytes after the end of a text are not 0"));
                }
            }
        }
        self.word(&quoted(&bytes));
        self.facts.text = Some(String::from_utf8_lossy(&bytes).into_owned());
        Ok(())
    }

    fn bits(&mut self, values: &[Enumerant]) -> Result<(), SequenceError> {
        let value = self.next()?;
        let mut rest = value;
        let mut found: Vec<&Enumerant> = Vec::new();
        for bit in 0..32 {
            let one = 1 << bit;
            if rest & one != 0
                && let Some(known) = values.iter().find(|known| known.value == one)
            {
                found.push(known);
                rest &= !one;
            }
        }
        if value == 0 {
            found.extend(values.iter().find(|known| known.value == 0));
        }
        if rest != 0 {
            self.at -= 1;
            return Err(self.error(&format!("the operand has the reserved bits {rest:#x}")));
        }
        let names: Vec<&str> = found.iter().map(|known| known.name).collect();
        self.word(&names.join("|"));
        found.iter().try_for_each(|known| self.slots(known.parameters))
    }
}
