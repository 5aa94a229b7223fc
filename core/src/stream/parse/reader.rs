//! A text that is being read, and the attempt to read it that got furthest.

use core::cell::Cell;

use crate::stream::decode::Engine;
use crate::stream::error::{ParseError, Reason};
use crate::stream::print::Places;
use crate::stream::solve::{Frame, Steps};
use crate::stream::table::{MAX_ASIDES, Type};
use crate::text::{Line, Word};

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

/// A failed attempt.
#[derive(Clone, Copy)]
pub(super) struct Miss {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) reason: Reason,
}

/// The positions of the asides of an instruction, and their number.
#[derive(Clone, Copy, Default)]
pub(super) struct Asides {
    pub(super) places: [(usize, usize); MAX_ASIDES],
    pub(super) count: usize,
}

/// The end of an instruction's own text, and the asides after it; see
/// [`Token::Aside`](crate::stream::table::Token::Aside).
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
    pub(super) text: &'t str,
    /// The end of the instruction's own text.
    pub(super) limit: usize,
    pub(super) asides: Asides,
    /// The address of the instruction, and that of the next one according to the layout's length.
    pub(super) address: u64,
    pub(super) next: Cell<u64>,
    /// Whether a label was resolved relative to `next`.
    pub(super) from_next: Cell<bool>,
    pub(super) labels: &'t dyn Labels,
    /// The last label parsed: offset, length, address.
    pub(super) label: Cell<Option<(usize, usize, u64)>>,
    pub(super) steps: Steps,
    /// Whether numbers are accepted in place of enum names, and whether doing so would get further.
    pub(super) numbers: Cell<bool>,
    pub(super) unnamed: Cell<bool>,
    /// Whether a label may stand without the prefix of its number.
    pub(super) bare: Cell<bool>,
    /// The attempt that got furthest, with its weight: a wrong value is a better explanation than missing text, and a
    /// condition that the values do not satisfy is a better one than a wrong value.
    pub(super) missed: Cell<(u8, Miss)>,
    /// Is told what could continue the text at its end; see [`Engine::expected`].
    pub(super) tell: Option<&'t dyn Fn(Expected)>,
}

/// What may follow a text that is the beginning of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// A fixed text.
    Text(&'static str),
    /// A value of this type.
    Value(Type),
    /// Nothing: the text is a whole instruction.
    Nothing,
}

pub(super) fn is_word(byte: u8) -> bool {
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
    pub(super) fn new(engine: Engine, text: &'t str, address: u64, labels: &'t dyn Labels) -> Reader<'t> {
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
            steps: Steps::default(),
            numbers: Cell::new(false),
            unnamed: Cell::new(false),
            bare: Cell::new(false),
            missed: Cell::new((0, Miss { at: 0, len: 0, reason: Reason::Unknown })),
            tell: None,
        }
    }
}

impl Reader<'_> {
    pub(super) fn rest(&self, at: usize) -> &str {
        let end = if at <= self.limit { self.limit } else { self.text.len() };
        self.text.get(at..end).unwrap_or_default()
    }

    pub(super) fn blanks(&self, at: usize) -> usize {
        at + self.rest(at).bytes().take_while(u8::is_ascii_whitespace).count()
    }

    pub(super) fn miss(&self, at: usize, len: usize, reason: Reason) {
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

    /// Reports what could follow if the text ends here.
    pub(super) fn could_follow(&self, at: usize, expected: Expected) {
        if let Some(tell) = self.tell.filter(|_| self.blanks(at) >= self.limit) {
            tell(expected);
        }
    }

    pub(super) fn located(&self, at: usize, len: usize, reason: Reason) -> ParseError {
        let rest = self.rest(at);
        let word = rest.bytes().take_while(|byte| is_word(*byte) || *byte == b'.').count();
        let shown = if len > 0 { len } else { word.max(rest.chars().next().map_or(0, char::len_utf8)) };
        ParseError { at, len: shown, found: Word::new(rest.get(..shown).unwrap_or(rest)), reason }
    }

    pub(super) fn error(&self) -> ParseError {
        let (_, Miss { at, len, reason }) = self.missed.get();
        let at = if len == 0 { self.blanks(at) } else { at };
        self.located(at, len, reason)
    }

    /// Records why no instruction, or no operand, has the values that were read from its text.
    pub(super) fn miss_values(&self, start: usize, end: usize, frame: &Frame) {
        let (weight, known) = self.missed.get();
        if (known.at + known.len, weight) >= (end, 2) {
            return;
        }
        if let Some(reason) = frame.violated(self.engine) {
            self.miss(start, end - start, reason);
        }
    }
}
