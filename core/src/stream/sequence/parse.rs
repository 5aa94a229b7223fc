//! Parses text to units.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::SequenceError;
use super::number::integer;
use super::operands::Operands;
use super::symbols::{Facts, NumberType, Symbols};
use super::table::{Enumerant, Kind, Operation, Sequence, Slot};
use super::text::unquoted;

/// The name of lines that are units and no instruction.
pub(super) const UNITS: &str = ".word";

/// The lines of a text with their offsets, without comments and blank lines. A quoted string may span lines.
pub(super) fn statements(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut start, mut quoted, mut escaped, mut end) = (0, false, false, None);
    let mut push = |from: usize, to: usize| {
        let line = &text[from..to];
        if !line.trim().is_empty() {
            found.push((from, line));
        }
    };
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if end.is_none() => quoted = !quoted,
            ';' if !quoted && end.is_none() => end = Some(at),
            '\n' if !quoted => {
                push(start, end.take().unwrap_or(at));
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, end.unwrap_or(text.len()));
    found
}

/// The words of a line with their offsets. A quoted string is one word.
fn words(line: &str) -> Result<Vec<(usize, &str)>, SequenceError> {
    let mut found = Vec::new();
    let (mut start, mut quoted, mut escaped) = (None, false, false);
    for (at, c) in line.char_indices() {
        if quoted {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
        } else if c.is_whitespace() {
            if let Some(from) = start.take() {
                found.push((from, &line[from..at]));
            }
        } else {
            quoted = c == '"';
            start = start.or(Some(at));
        }
    }
    if quoted {
        return Err(SequenceError::new(start.unwrap_or(0), "a text has no closing quote"));
    }
    found.extend(start.map(|from| (from, &line[from..])));
    Ok(found)
}

struct Parser<'a> {
    sequence: &'a Sequence,
    words: &'a [(usize, &'a str)],
    at: usize,
    end: usize,
    symbols: &'a Symbols,
    facts: Facts,
    units: Vec<u32>,
    depth: u8,
}

impl Sequence {
    /// Parses an instruction to its units.
    ///
    /// # Errors
    /// The position at which the text stops being one.
    pub fn parse(&self, line: &str, symbols: &mut Symbols) -> Result<Vec<u32>, SequenceError> {
        let all = words(line)?;
        let (result, words) = match &all[..] {
            [id, (_, "="), rest @ ..] => (Some(*id), rest),
            rest => (None, rest),
        };
        let Some(((at, name), rest)) = words.split_first() else {
            return Err(SequenceError::new(0, "there is no instruction"));
        };
        if *name == UNITS && result.is_none() {
            if rest.is_empty() {
                return Err(SequenceError::new(line.len(), format!("`{UNITS}` needs a number")));
            }
            return rest.iter().map(|(at, word)| unit(*at, word.trim_end_matches(','))).collect();
        }
        let Some(operation) =
            self.operations.iter().find(|operation| operation.name == *name || operation.also.contains(name))
        else {
            return Err(SequenceError::new(*at, format!("there is no instruction `{name}`")));
        };
        let mut parser = Parser {
            sequence: self,
            words: rest,
            at: 0,
            end: line.len(),
            symbols,
            facts: Facts::default(),
            units: alloc::vec![0],
            depth: 0,
        };
        if let Some((at, word)) = result {
            parser.facts.result = Some(id(at, word)?);
        }
        let defines = |slot: &Slot| matches!(self.kinds.get(usize::from(slot.kind)), Some(Kind::Result));
        if result.is_some() != operation.operands.iter().any(defines) {
            let message = match result {
                Some(_) => format!("`{name}` defines nothing"),
                None => format!("`{name}` defines something: write `%1 = {name} …`"),
            };
            return Err(SequenceError::new(*at, message));
        }
        parser.slots(operation.operands)?;
        if let Some((at, word)) = parser.words.get(parser.at) {
            return Err(SequenceError::new(*at, format!("`{name}` has no operand for `{word}`")));
        }
        let Parser { facts, mut units, .. } = parser;
        let count = u16::try_from(units.len()).map_err(|_| SequenceError::new(0, "the instruction is too long"))?;
        units[0] = u32::from(count) << 16 | operation.code;
        symbols.learn(operation.says, facts);
        Ok(units)
    }
}

fn id(at: usize, word: &str) -> Result<u32, SequenceError> {
    let number = word.strip_prefix('%').and_then(|digits| digits.parse().ok()).filter(|number| *number != 0);
    number.ok_or_else(|| SequenceError::new(at, format!("expected an identifier such as `%1`, found `{word}`")))
}

fn unit(at: usize, word: &str) -> Result<u32, SequenceError> {
    let number = integer(word).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| SequenceError::new(at, format!("`{word}` is not a 32-bit number")))
}

impl Operands for Parser<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn depth(&mut self) -> &mut u8 {
        &mut self.depth
    }

    fn error(&self, message: &str) -> SequenceError {
        SequenceError::new(self.words.get(self.at).map_or(self.end, |(at, _)| *at), message)
    }

    fn is_more(&self) -> bool {
        self.at < self.words.len()
    }

    fn operand(&mut self, kind: u16) -> Result<(), SequenceError> {
        let Some(kind) = self.sequence.kinds.get(usize::from(kind)) else {
            return Err(SequenceError::new(self.end, "no such operand"));
        };
        if let Kind::Pair(first, second) = kind {
            self.within(*first)?;
            return self.within(*second);
        }
        let place = self.units.len();
        if place > usize::from(u16::MAX) {
            return Err(self.error("the instruction is too long"));
        }
        let known = self.facts.firsts.len();
        self.facts.firsts.push(0);
        match kind {
            Kind::Result => {
                let id = self.facts.result.unwrap_or(0);
                self.facts.greatest = self.facts.greatest.max(id);
                self.units.push(id);
            }
            Kind::ResultType | Kind::Id => {
                let (at, word) = self.next()?;
                let id = id(at, word)?;
                self.facts.greatest = self.facts.greatest.max(id);
                if matches!(kind, Kind::ResultType) {
                    self.facts.result_type = Some(id);
                }
                self.units.push(id);
            }
            Kind::Number => {
                let (at, word) = self.next()?;
                self.units.push(unit(at, word)?);
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
                let (at, word) = self.next()?;
                let Some(found) = named(values, word) else {
                    return Err(SequenceError::new(at, format!("no value named `{word}` here")));
                };
                self.units.push(found.value);
                self.facts.firsts[known] = found.value;
                self.slots(found.parameters)?;
            }
            Kind::Bits(values) => self.bits(values)?,
            Kind::Nested => {
                let (at, word) = self.next()?;
                let Some(found) = self.sequence.operations.iter().find(|operation| operation.short == word) else {
                    return Err(SequenceError::new(at, format!("there is no instruction `{word}`")));
                };
                self.units.push(found.code);
                self.nested(self.sequence, found)?;
            }
            Kind::Extended => {
                let set = self.facts.firsts.iter().rev().nth(1).copied().unwrap_or(0);
                let (at, word) = self.next()?;
                let Some(name) = self.symbols.import(set) else {
                    return Err(SequenceError::new(at, format!("%{set} is not an imported instruction set")));
                };
                let code = word.parse().ok();
                let known = self.sequence.set(name).map_or(&[][..], |known| known.operations);
                let is_it = |operation: &&Operation| operation.name == word || Some(operation.code) == code;
                match (known.iter().find(is_it), code) {
                    (Some(found), _) => {
                        self.units.push(found.code);
                        self.nested(self.sequence, found)?;
                    }
                    (None, Some(code)) => {
                        self.units.push(code);
                        self.unknown()?;
                    }
                    (None, None) => {
                        let message = format!("`{name}` has no known instruction `{word}`: a code is a number");
                        return Err(SequenceError::new(at, message));
                    }
                }
            }
            Kind::Pair(..) => {}
        }
        self.facts.firsts[known] = self.units.get(place).copied().unwrap_or(0);
        Ok(())
    }
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Result<(usize, &'a str), SequenceError> {
        let found = self.words.get(self.at).copied();
        self.at += 1;
        found.ok_or_else(|| SequenceError::new(self.end, "an operand is missing"))
    }

    /// The rest of an instruction that is not in the tables.
    fn unknown(&mut self) -> Result<(), SequenceError> {
        while self.is_more() {
            if self.units.len() > usize::from(u16::MAX) {
                return Err(self.error("the instruction is too long"));
            }
            let (at, word) = self.next()?;
            let unit = if word.starts_with('%') { id(at, word)? } else { unit(at, word)? };
            if word.starts_with('%') {
                self.facts.greatest = self.facts.greatest.max(unit);
            }
            self.units.push(unit);
        }
        Ok(())
    }

    fn number(&mut self, ty: Option<NumberType>) -> Result<(), SequenceError> {
        let (at, word) = self.next()?;
        let ty = ty.filter(|ty| ty.units().is_some());
        let ty =
            ty.ok_or_else(|| SequenceError::new(at, "the number's type is not declared, so its width is unknown"))?;
        let units = ty.read(word);
        let units = units.ok_or_else(|| SequenceError::new(at, format!("`{word}` is not a number of this type")))?;
        self.units.extend(units);
        Ok(())
    }

    fn text(&mut self) -> Result<(), SequenceError> {
        let (at, word) = self.next()?;
        let inner = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| word.len() > 1);
        let inner =
            inner.ok_or_else(|| SequenceError::new(at, format!("expected a text in quotes, found `{word}`")))?;
        let mut bytes = unquoted(inner);
        if bytes.contains(&0) {
            return Err(SequenceError::new(at, "a text cannot contain a zero byte"));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let unit = |bytes: &[u8]| bytes.iter().rev().fold(0, |unit, byte| unit << 8 | u32::from(*byte));
        self.units.extend(bytes.chunks(4).map(unit));
        self.facts.text = Some(text);
        Ok(())
    }

    fn bits(&mut self, values: &[Enumerant]) -> Result<(), SequenceError> {
        // Zero is written as nothing, unless a name stands for it.
        let begins = |word: &str| named(values, word.split('|').next().unwrap_or_default()).is_some();
        let nothing = values.iter().all(|known| known.value != 0);
        if nothing && !self.words.get(self.at).is_some_and(|(_, word)| begins(word)) {
            self.units.push(0);
            return Ok(());
        }
        let (at, word) = self.next()?;
        let mut found: Vec<&Enumerant> = Vec::new();
        for name in word.split('|') {
            let Some(known) = named(values, name) else {
                return Err(SequenceError::new(at, format!("no bit named `{name}` here")));
            };
            found.push(known);
        }
        found.sort_by_key(|known| known.value);
        found.dedup_by_key(|known| known.value);
        self.units.push(found.iter().fold(0, |all, known| all | known.value));
        found.iter().try_for_each(|known| self.slots(known.parameters))
    }
}

fn named<'v>(values: &'v [Enumerant], name: &str) -> Option<&'v Enumerant> {
    values.iter().find(|known| known.name == name || known.also.contains(&name))
}
