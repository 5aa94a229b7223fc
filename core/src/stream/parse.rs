//! Parses instructions from text.
//!
//! The tokens that print a layout also parse it. Each token consumes what it can and calls the rest; if the rest fails,
//! the next possibility is tried. This yields values of fields, for which [`solve`](super::solve) finds the bits. An
//! instruction is accepted only if its bits decode to the same layout, so the meaning of a text does not depend on how
//! it was found. All attempts together are limited to [`STEPS`] steps.
//!
//! - `walk`: what each token consumes
//! - `diagnose`: better reasons for a text that is no instruction
//!
//! Differences in white space, the case of hexadecimal digits, underscores in numbers, and their base are accepted.

mod diagnose;
mod walk;

use core::cell::Cell;

pub use diagnose::Help;
use walk::Rest;

use super::decode::{Decoded, Engine, Scope};
use super::error::{ParseError, Reason};
use super::print::{Places, WORD};
use super::solve::{Frame, asked, solve};
use super::table::{Layout, MAX_ASIDES, Role, Source};
use super::wide::Wide;
use crate::bits::ones;
use crate::text::{Line, Word};

/// The maximum number of steps for parsing one instruction.
pub const STEPS: u32 = 400_000;

/// Resolves the labels of a program.
pub trait Labels {
    /// The address in bytes that the label `name` marks.
    fn resolve(&self, name: &str) -> Option<u64>;
}

/// No labels: every name in place of a branch target is an error.
#[derive(Clone, Copy, Debug)]
pub struct NoLabels;

impl Labels for NoLabels {
    fn resolve(&self, _: &str) -> Option<u64> {
        None
    }
}

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
        let start = reader.blanks(0);
        let Some(set) = self.stream.sets.first() else { return Err(reader.error()) };
        // Prefer the shortest instruction that prints as this text, then the first that the text can be read as.
        let (mut best, mut other): (Option<Parsed>, _) = (None, None);
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
            if reader.exhausted() {
                break;
            }
        }
        match best.or(other) {
            Some(parsed) => Ok(parsed),
            None if reader.exhausted() => Err(reader.located(0, text.len(), Reason::Ambiguous)),
            None => Err(reader.error()),
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

    /// Builds the instruction of a layout from values of its fields; other fields have their defaults. `None` when a
    /// value does not fit or conflicts with others.
    pub fn build(&self, layout: u16, values: &[(u8, u64)]) -> Option<Decoded> {
        let found = self.stream.layouts.get(usize::from(layout))?;
        self.complete(layout, Frame::new(found), values)
    }

    /// Changes the value of one field of an instruction. `None` when this is impossible.
    pub fn with(&self, decoded: &Decoded, field: u8, value: u64) -> Option<Decoded> {
        let scope = self.scope(decoded);
        let fields = scope.layout.fields;
        // Fields that the inverse depends on keep their values.
        let leaves = fields.get(usize::from(field))?.leaves & !asked(*self, scope.layout, field);
        let others =
            fields.iter().zip(0u8..).filter(|(f, i)| matches!(f.source, Source::Bits(_)) && leaves >> i & 1 == 0);
        let mut frame = Frame::new(scope.layout);
        others.for_each(|(_, i)| _ = frame.set(i, scope.value(i)));
        let made = self.complete(decoded.layout, frame, &[(field, value)])?;
        let kept = scope.layout.ignored;
        Some(Decoded { word: made.word & !kept | decoded.word & kept, ..made })
    }

    fn complete(&self, layout: u16, frame: Frame, values: &[(u8, u64)]) -> Option<Decoded> {
        let reader = Reader::silent(*self);
        let fits = |field: u8, value: u64| {
            let field = frame.layout.fields.get(usize::from(field));
            field.is_some_and(|field| field.extended(value & ones(field.width.into())) == value)
        };
        let mut frame = frame;
        if !values.iter().all(|(field, value)| fits(*field, *value) && frame.set(*field, *value)) {
            return None;
        }
        let mut found = None;
        solve(&reader, &frame, &mut |frame| {
            found = reader.settled(layout, frame);
            found.is_some()
        });
        found
    }
}

/// A failed attempt.
#[derive(Clone, Copy)]
struct Miss {
    at: usize,
    len: usize,
    reason: Reason,
}

/// The positions of the asides of an instruction, and their number.
#[derive(Clone, Copy, Default)]
struct Asides {
    places: [(usize, usize); MAX_ASIDES],
    count: usize,
}

/// The end of an instruction's own text, and the asides after it; see [`Token::Aside`](super::table::Token::Aside).
fn asides(text: &str) -> (usize, Asides) {
    let mut found = Asides::default();
    let Some(limit) = text.find("\t;") else { return (text.len(), found) };
    let mut at = limit + 2;
    for part in text.get(at..).unwrap_or_default().split(", ") {
        let from = at + (part.len() - part.trim_start().len());
        if let Some(place) = found.places.get_mut(found.count) {
            *place = (from, from + part.trim().len());
        }
        found.count += 1;
        at += part.len() + 2;
    }
    (limit, found)
}

pub(super) struct Reader<'t> {
    pub(super) engine: Engine,
    text: &'t str,
    /// The end of the instruction's own text.
    limit: usize,
    asides: Asides,
    /// The address of the instruction, and that of the next one according to the layout's length.
    address: u64,
    next: Cell<u64>,
    /// Whether a label was resolved relative to `next`.
    from_next: Cell<bool>,
    labels: &'t dyn Labels,
    /// The last label parsed: offset, length, address.
    label: Cell<Option<(usize, usize, u64)>>,
    steps: Cell<u32>,
    /// Whether numbers are accepted in place of enum names, and whether doing so would get further.
    numbers: Cell<bool>,
    unnamed: Cell<bool>,
    /// The attempt that got furthest, with its weight: a wrong value is a better explanation than missing text, and a
    /// condition that the values do not satisfy is a better one than a wrong value.
    missed: Cell<(u8, Miss)>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Prints an address that was parsed as a label as that label.
impl Places for Reader<'_> {
    fn write(&self, address: u64, _: bool, line: &mut Line) -> bool {
        let Some((at, len, _)) = self.label.get().filter(|(.., marked)| *marked == address) else { return false };
        line.push_str(self.text.get(at..at + len).unwrap_or_default());
        true
    }
}

impl<'t> Reader<'t> {
    fn new(engine: Engine, text: &'t str, address: u64, labels: &'t dyn Labels) -> Reader<'t> {
        let (limit, asides) = if engine.stream.asides { asides(text) } else { (text.len(), Asides::default()) };
        Reader {
            engine,
            text,
            limit,
            asides,
            address,
            next: Cell::new(0),
            from_next: Cell::new(false),
            labels,
            label: Cell::new(None),
            steps: Cell::new(0),
            numbers: Cell::new(false),
            unnamed: Cell::new(false),
            missed: Cell::new((0, Miss { at: 0, len: 0, reason: Reason::Unknown })),
        }
    }
}

impl Reader<'_> {
    /// A reader of an empty text, to solve for values that do not come from text.
    pub(super) fn silent(engine: Engine) -> Reader<'static> {
        Reader { numbers: Cell::new(true), ..Reader::new(engine, "", 0, &NoLabels) }
    }

    fn rest(&self, at: usize) -> &str {
        let end = if at <= self.limit { self.limit } else { self.text.len() };
        self.text.get(at..end).unwrap_or_default()
    }

    fn blanks(&self, at: usize) -> usize {
        at + self.rest(at).bytes().take_while(u8::is_ascii_whitespace).count()
    }

    /// Counts a step. `false` if the limit is exceeded.
    pub(super) fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.exhausted()
    }

    fn exhausted(&self) -> bool {
        self.steps.get() > STEPS
    }

    fn miss(&self, at: usize, len: usize, reason: Reason) {
        let weight = match reason {
            Reason::Expected(_) | Reason::Field(..) | Reason::Unknown => 0,
            Reason::Condition(..) | Reason::Follows(..) => 2,
            _ => 1,
        };
        let (known, miss) = self.missed.get();
        // A text that did not match at all gives no useful error.
        if (at + len, weight) > (miss.at + miss.len, known) {
            self.missed.set((weight, Miss { at, len, reason }));
        }
    }

    fn located(&self, at: usize, len: usize, reason: Reason) -> ParseError {
        let rest = self.rest(at);
        let word = rest.bytes().take_while(|byte| is_word(*byte) || *byte == b'.').count();
        let shown = if len > 0 { len } else { word.max(rest.chars().next().map_or(0, char::len_utf8)) };
        ParseError { at, len: shown, found: Word::new(rest.get(..shown).unwrap_or(rest)), reason }
    }

    fn error(&self) -> ParseError {
        let (_, Miss { at, len, reason }) = self.missed.get();
        let at = if len == 0 { self.blanks(at) } else { at };
        self.located(at, len, reason)
    }

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
            let printed = solve(self, frame, &mut |frame| {
                solved = true;
                let Some(decoded) = self.settled(index, frame) else { return false };
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

    /// Records why no instruction, or no operand, has the values that were read from its text.
    fn miss_values(&self, start: usize, end: usize, frame: &Frame) {
        let (weight, known) = self.missed.get();
        if (known.at + known.len, weight) >= (end, 2) {
            return;
        }
        if let Some(reason) = frame.violated(self) {
            self.miss(start, end - start, reason);
        }
    }

    /// Whether an instruction prints as the text, ignoring white space.
    fn prints(&self, decoded: &Decoded, layout: &'static Layout) -> bool {
        let mut line = Line::new();
        Scope { layout, ..self.engine.scope(decoded) }.print_at(self.address, self, &mut line);
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

    /// The instruction with these values, if it decodes to the layout that was read.
    fn settled(&self, index: u16, frame: &Frame) -> Option<Decoded> {
        let layout = frame.layout;
        let mut word = frame.word();
        let len = self.length(layout, &word)?;
        word = word & Wide::ones(8 * u32::from(len));
        let (own, own_len) = self.engine.find(&word).ok()?;
        let decoded = Decoded { layout: own, word, len };
        let scope = self.engine.scope(&decoded);
        let same = match layout.role {
            Role::Own => own == index,
            _ => scope.layout.opcode == layout.opcode,
        };
        let read = Scope { layout, ..scope };
        (same && own_len == len && read.fits() && frame.holds(&read) && scope.validate().is_ok()).then_some(decoded)
    }

    pub(super) fn length(&self, layout: &'static Layout, word: &Wide) -> Option<u8> {
        let scope = Scope { engine: self.engine, layout, word, len: (layout.bits / 8) as u8, outer: None };
        match layout.length {
            None => Some(scope.len),
            Some(length) => {
                u8::try_from(scope.expression(length)).ok().filter(|len| *len <= self.engine.stream.longest)
            }
        }
    }
}
