//! Parses instructions from text.
//!
//! The tokens that print a layout also parse it. Each token consumes what it can and calls the rest; if the rest fails,
//! the next possibility is tried. This yields values of fields, for which [`solve`](super::solve) finds the bits. An
//! instruction is accepted only if its bits decode to the same layout, so the meaning of a text does not depend on how
//! it was found. All attempts together are limited to [`STEPS`](super::solve::STEPS) steps.
//!
//! - `reader`: the text, and the attempt that got furthest
//! - `walk`: what each token consumes
//! - `diagnose`: better reasons for a text that is no instruction
//!
//! Differences in white space, the case of hexadecimal digits, underscores in numbers, and their base are accepted. A
//! label may lack the prefix of numbers where the text has no other reading.

mod diagnose;
mod reader;
mod walk;

pub use diagnose::Help;
pub(super) use diagnose::mnemonic;
pub use reader::{Expected, Labels, NoLabels};

use reader::Reader;
use walk::Rest;

use super::decode::{Decoded, Engine, Scope};
use super::error::{ParseError, Reason};
use super::print::WORD;
use super::solve::{Frame, solve};
use super::table::Layout;
use super::target::target;
use super::wide::Wide;
use crate::text::Line;

/// The characters after which the prefix of a number may begin, such as `#`. A label may lack the prefix.
pub const BEFORE_PREFIX: [char; 5] = [' ', ',', '[', '(', '{'];

/// Splits an exact text into the text of the instruction and the digits of its word.
pub(super) fn exact(text: &str) -> Option<(&str, &str)> {
    let digits = |(_, digits): &(&str, &str)| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    text.trim_end().rsplit_once(WORD).filter(digits)
}

/// A parsed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The instruction, decoded.
    pub decoded: Decoded,
    /// The layout that the text matched: that of the instruction, or an alias.
    pub layout: u16,
}

impl Engine {
    /// Parses one instruction.
    ///
    /// # Errors
    /// The position at which the text stops being an instruction, and what was expected there.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        self.parse_at(text, 0, 0, &NoLabels).map_err(|error| self.diagnose(text, &NoLabels, error))
    }

    /// Parses an instruction of a program at an address in bytes. It is at least `least` bytes long.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn parse_at(&self, text: &str, address: u64, least: u8, labels: &dyn Labels) -> Result<Parsed, ParseError> {
        let Some((own, digits)) = exact(text) else { return self.parse_alone(text, address, least, labels) };
        match self.word_of(digits) {
            Some(decoded) if self.reads_as(own, address, labels, &decoded) => {
                Ok(Parsed { decoded, layout: decoded.layout })
            }
            _ => self.parse_alone(text, address, least, labels).map_err(|error| {
                match self.parse_alone(own, address, 0, labels) {
                    Ok(_) => Reader::new(*self, text, address, labels).located(
                        own.len() + 1,
                        1 + digits.len(),
                        Reason::OtherWord,
                    ),
                    Err(_) => error,
                }
            }),
        }
    }

    /// The instruction whose bytes are these hexadecimal digits, if they are valid.
    fn word_of(&self, digits: &str) -> Option<Decoded> {
        let (mut bytes, count) = ([0; Wide::BYTES], digits.len() / 2);
        for (index, byte) in bytes.get_mut(..count)?.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        let decoded = self.decode(bytes.get(..count)?).ok()?;
        (digits.len() == 2 * usize::from(decoded.len)).then_some(decoded)
    }

    /// Whether a text can be read as an instruction that prints like `wanted`.
    fn reads_as(&self, text: &str, address: u64, labels: &dyn Labels, wanted: &Decoded) -> bool {
        let mut written = Line::new();
        self.print(wanted, &mut written);
        let reader = Reader::new(*self, text, address, labels);
        let (start, first) = (reader.blanks(0), self.stream.sets.first().map_or(0, |set| set.first));
        let opcode = self.scope(wanted).layout.opcode;
        let mut own = (first..).zip(self.stream.layouts_of(0)).filter(|(_, l)| l.opcode == opcode && self.has(l));
        own.any(|(index, layout)| {
            reader.named_or_not(index, layout, start).is_some_and(|(decoded, _)| {
                let mut line = Line::new();
                self.print(&decoded, &mut line);
                line.as_str() == written.as_str()
            })
        })
    }

    /// Does the same for a text without the word of an exact text.
    fn parse_alone(&self, text: &str, address: u64, least: u8, labels: &dyn Labels) -> Result<Parsed, ParseError> {
        let reader = Reader::new(*self, text, address, labels);
        let mut readings = self.readings(&reader, least);
        if let (None, None) = readings {
            // Every other reading comes first.
            reader.bare.set(true);
            readings = self.readings(&reader, least);
        }
        let found = match readings {
            (Some(best), _) => Some(best),
            (None, Some(other)) => self.respelled(&reader, other, least).or(Some(other)),
            (None, None) => None,
        };
        match found {
            Some(parsed) => Ok(parsed),
            None if reader.steps.exhausted() => Err(reader.located(0, text.len(), Reason::Ambiguous)),
            None => Err(reader.error()),
        }
    }

    /// The shortest instruction that prints as `read` does, which was read from another spelling of that text: other
    /// names of registers or other digits do not make an instruction longer.
    fn respelled(&self, reader: &Reader<'_>, read: Parsed, least: u8) -> Option<Parsed> {
        let mut line = Line::new();
        reader.print(&read.decoded, self.stream.layouts.get(usize::from(read.layout))?, &mut line);
        let printed = Reader::new(*self, line.as_str(), reader.address, reader.labels);
        let target = |of: &Parsed| target(*self, &of.decoded, reader.address);
        let same_target = |found: &Parsed| reader.label.get().is_none() || target(found) == target(&read);
        self.readings(&printed, least).0.filter(same_target)
    }

    /// The shortest instruction that prints as a text, and the first that the text can be read as.
    fn readings(&self, reader: &Reader<'_>, least: u8) -> (Option<Parsed>, Option<Parsed>) {
        let (text, start) = (reader.text, reader.blanks(0));
        let (mut best, mut other): (Option<Parsed>, _) = (None, None);
        let Some(set) = self.stream.sets.first() else { return (best, other) };
        for (index, layout) in self.stream.layouts_of(0).iter().enumerate() {
            // Most layouts are ruled out by a word that their text always contains.
            if !layout.key.is_empty() && !text.contains(layout.key) || !self.has(layout) {
                continue;
            }
            let index = set.first + index as u16;
            match reader.named_or_not(index, layout, start) {
                Some((decoded, _)) if decoded.len < least => {}
                Some((decoded, true)) => {
                    if best.is_none_or(|best| decoded.len < best.decoded.len) {
                        best = Some(Parsed { decoded, layout: index });
                    }
                    if decoded.len <= self.stream.unit.max(least) {
                        break;
                    }
                }
                Some((decoded, false)) => other = other.or(Some(Parsed { decoded, layout: index })),
                None => {}
            }
            if reader.steps.exhausted() {
                break;
            }
        }
        (best, other)
    }

    /// Tells what may follow a text in instructions that start with it; nothing if there are none. The same may be told
    /// several times.
    pub fn expected(&self, text: &str, labels: &dyn Labels, tell: &dyn Fn(Expected)) {
        let Some(set) = self.stream.sets.first() else { return };
        let own = (set.first..).zip(self.stream.layouts_of(0)).filter(|(_, layout)| self.has(layout));
        for (index, layout) in own {
            // Each layout has its own limit on steps: a text that is only begun fits many.
            let reader = Reader { tell: Some(tell), ..Reader::new(*self, text, 0, labels) };
            if reader.named_or_not(index, layout, reader.blanks(0)).is_some() {
                tell(Expected::Nothing);
            }
        }
    }

    /// Parses a text as the instruction with this opcode, if one of its words has this text.
    pub fn parse_as(&self, opcode: u16, text: &str) -> Option<Decoded> {
        let reader = Reader::new(*self, text, 0, &NoLabels);
        let (start, first) = (reader.blanks(0), self.stream.sets.first()?.first);
        let own = (first..).zip(self.stream.layouts_of(0)).filter(|(_, l)| l.opcode == opcode && self.has(l));
        let mut read = own.filter_map(|(index, layout)| reader.named_or_not(index, layout, start));
        read.find_map(|(decoded, prints)| prints.then_some(decoded))
    }
}

impl Reader<'_> {
    /// Parses the whole text as an instruction of a layout, and tells whether that instruction prints as the text.
    /// Numbers in place of enum names are accepted only if no other reading of the layout matches.
    fn named_or_not(&self, index: u16, layout: &'static Layout, start: usize) -> Option<(Decoded, bool)> {
        self.numbers.set(false);
        self.unnamed.set(false);
        let named = self.instruction(index, layout, start);
        if matches!(named, Some((_, true))) || !self.unnamed.get() {
            return named;
        }
        self.numbers.set(true);
        let numbered = self.instruction(index, layout, start);
        numbered.filter(|(_, prints)| *prints).or(named).or(numbered)
    }

    /// Does the same for one setting of whether numbers may replace names.
    fn instruction(&self, index: u16, layout: &'static Layout, start: usize) -> Option<(Decoded, bool)> {
        let mut len = (layout.bits / 8) as u8;
        // If the length depends on the bits, a label relative to the next instruction needs the final length.
        for _ in 0..3 {
            self.next.set(self.address.wrapping_add(len.into()));
            self.from_next.set(false);
            match self.instruction_before(index, layout, start) {
                Some((decoded, _)) if decoded.len != len && self.from_next.get() => len = decoded.len,
                found => return found,
            }
        }
        None
    }

    /// Does the same for a known address of the next instruction. Prefers a reading that prints as the text; if there
    /// is none, returns the first one.
    fn instruction_before(&self, index: u16, layout: &'static Layout, start: usize) -> Option<(Decoded, bool)> {
        let mut found: Option<(Decoded, bool)> = None;
        let rest = Rest { tokens: layout.text, after: None };
        self.walk(&rest, start, &Frame::new(layout), &mut |at, frame| {
            let end = self.blanks(at);
            if end < self.limit {
                self.miss(end, 0, Reason::Trailing);
                return false;
            }
            let (told, read) = (self.asides.count, usize::from(frame.asides));
            if told != read {
                let (from, to) = self.asides.places.get(read).copied().unwrap_or((self.limit, self.text.len()));
                self.miss(from, to - from, Reason::Trailing);
                return false;
            }
            let mut solved = false;
            let printed = solve(self.engine, &self.steps, frame, &mut |frame| {
                solved = true;
                let Some(decoded) = frame.settled(self.engine, index) else { return false };
                let prints = self.prints(&decoded, layout);
                if prints || found.is_none() {
                    found = Some((decoded, prints));
                }
                prints
            });
            if !solved {
                self.miss_values(start, end, frame);
            }
            printed
        });
        found
    }

    /// Prints an instruction by a layout, with the labels of the text.
    fn print(&self, decoded: &Decoded, layout: &'static Layout, line: &mut Line) {
        Scope { layout, ..self.engine.scope(decoded) }.print_at(self.address, self, line);
    }

    /// Whether an instruction prints as the text, ignoring white space.
    fn prints(&self, decoded: &Decoded, layout: &'static Layout) -> bool {
        let mut line = Line::new();
        self.print(decoded, layout, &mut line);
        let plain = |text: &str, other: &str| {
            let (mut a, mut b) =
                (text.bytes().filter(|b| !b.is_ascii_whitespace()), other.bytes().filter(|b| !b.is_ascii_whitespace()));
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return true,
                    (a, b) if a == b => {}
                    _ => return false,
                }
            }
        };
        plain(line.as_str(), self.text)
    }
}
