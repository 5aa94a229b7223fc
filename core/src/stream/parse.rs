//! From text to an instruction.
//!
//! The tokens that print a layout read it: each takes what it can at a place of the text and hands on, and where the rest
//! does not fit another way is tried. What was read are values of fields; [`solve`](super::solve) finds the bits. An
//! instruction is taken when its bits decode to the very layout that was read, so what a text means never depends
//! on the way it was found. All ways together may take [`STEPS`] steps, whatever the text.
//!
//! Blanks are forgiven where the text has none or some, and so are the case of hexadecimal digits, underscores in numbers and
//! their base.

use core::cell::Cell;

use super::decode::{Decoded, Engine, Scope};
use super::error::{ParseError, Reason};
use super::number::{read_float, read_number};
use super::solve::{Frame, solve};
use super::table::{Bank, Field, Layout, MAX_FIELDS, Notation, Role, Source, Token, Type};
use super::wide::Wide;
use crate::bits::{fits_signed, ones};
use crate::text::{Line, Word};

/// The most steps that reading one instruction may take.
pub const STEPS: u32 = 400_000;

/// Knows the labels of a program.
pub trait Labels {
    /// The address in bytes that a name marks.
    fn resolve(&self, name: &str) -> Option<u64>;
}

/// No labels: every name in the place of a branch target is an error.
#[derive(Clone, Copy, Debug)]
pub struct NoLabels;

impl Labels for NoLabels {
    fn resolve(&self, _: &str) -> Option<u64> {
        None
    }
}

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The instruction as it decodes.
    pub decoded: Decoded,
    /// The layout whose text it is: the same, or an alias of it.
    pub layout: u16,
}

impl Engine {
    /// Reads one instruction.
    ///
    /// # Errors
    /// Where the text stops being an instruction, and what was expected there.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        self.parse_at(text, 0, &NoLabels)
    }

    /// Reads one instruction of a program, which stands at an address in bytes.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_at(&self, text: &str, address: u64, labels: &dyn Labels) -> Result<Parsed, ParseError> {
        let reader = Reader {
            engine: *self,
            text,
            address,
            labels,
            steps: Cell::new(0),
            missed: Cell::new((0, Miss { at: 0, len: 0, reason: Reason::Unknown })),
        };
        let start = reader.blanks(0);
        let Some(set) = self.stream.sets.first() else { return Err(reader.error()) };
        let mut other = None;
        for (index, layout) in self.stream.layouts_of(0).iter().enumerate() {
            // Most layouts are ruled out by a word that they always have.
            if !layout.key.is_empty() && !text.contains(layout.key) || !self.has(layout) {
                continue;
            }
            let index = set.first + index as u16;
            match reader.instruction(index, layout, start) {
                Some((decoded, true)) => return Ok(Parsed { decoded, layout: index }),
                Some((decoded, false)) => other = other.or(Some(Parsed { decoded, layout: index })),
                None => {}
            }
            if reader.exhausted() {
                break;
            }
        }
        match other {
            Some(parsed) => Ok(parsed),
            None if reader.exhausted() => Err(reader.located(0, text.len(), Reason::Ambiguous)),
            None => Err(reader.error()),
        }
    }

    /// The instruction of a layout whose fields have these values; what they leave open has its default. Returns `None` if
    /// there is none: a value does not fit, or does not go with the others.
    pub fn build(&self, layout: u16, values: &[(u8, u64)]) -> Option<Decoded> {
        let found = self.stream.layouts.get(usize::from(layout))?;
        self.complete(layout, Frame::new(found), values)
    }

    /// The same instruction with another value of one field. Returns `None` if there is none.
    pub fn with(&self, decoded: &Decoded, field: u8, value: u64) -> Option<Decoded> {
        let scope = self.scope(decoded);
        let fields = scope.layout.fields;
        let leaves = fields.get(usize::from(field))?.leaves;
        let others =
            fields.iter().zip(0u8..).filter(|(f, i)| matches!(f.source, Source::Bits(_)) && leaves >> i & 1 == 0);
        let frame =
            others.fold(Frame::new(scope.layout), |frame, (_, i)| frame.with(i, scope.value(i)).unwrap_or(frame));
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
        let frame = values
            .iter()
            .try_fold(frame, |frame, (field, value)| frame.with(*field, *value).filter(|_| fits(*field, *value)))?;
        let mut found = None;
        solve(&reader, &frame, &mut |frame| {
            found = reader.settled(layout, frame);
            found.is_some()
        });
        found
    }

    fn has(&self, layout: &Layout) -> bool {
        (layout.since..=layout.until).contains(&self.generation)
    }
}

/// A way that did not lead on.
#[derive(Clone, Copy)]
struct Miss {
    at: usize,
    len: usize,
    reason: Reason,
}

pub(super) struct Reader<'t> {
    pub(super) engine: Engine,
    text: &'t str,
    address: u64,
    labels: &'t dyn Labels,
    steps: Cell<u32>,
    /// The one that came furthest, and how much it says: a wrong value is nearer to what was meant than a missing text.
    missed: Cell<(u8, Miss)>,
}

/// Tokens that are still to be read, those of the group at hand before those behind it.
struct Rest<'a> {
    tokens: &'static [Token],
    behind: Option<&'a Rest<'a>>,
}

/// Goes on behind what has been read; true when the whole text is an instruction.
type Then<'a> = &'a mut dyn FnMut(usize, &Frame) -> bool;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Reader<'_> {
    /// A reader of nothing, to solve for values that no text says.
    pub(super) fn silent(engine: Engine) -> Reader<'static> {
        let missed = Cell::new((0, Miss { at: 0, len: 0, reason: Reason::Unknown }));
        Reader { engine, text: "", address: 0, labels: &NoLabels, steps: Cell::new(0), missed }
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or_default()
    }

    fn blanks(&self, at: usize) -> usize {
        at + self.rest(at).bytes().take_while(u8::is_ascii_whitespace).count()
    }

    /// Counts a step; false when there have been too many.
    pub(super) fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.exhausted()
    }

    fn exhausted(&self) -> bool {
        self.steps.get() > STEPS
    }

    fn miss(&self, at: usize, len: usize, reason: Reason) {
        let weight = u8::from(!matches!(reason, Reason::Expected(_) | Reason::Unknown));
        let (known, miss) = self.missed.get();
        // Nothing can be said about a text of which nothing was understood.
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

    /// The whole text as an instruction of a layout, and whether that prints so. What prints as the text is what it means;
    /// where nothing does, the first way to read it.
    fn instruction(&self, index: u16, layout: &'static Layout, start: usize) -> Option<(Decoded, bool)> {
        let mut found: Option<(Decoded, bool)> = None;
        let rest = Rest { tokens: layout.text, behind: None };
        self.walk(&rest, start, &Frame::new(layout), &mut |at, frame| {
            let end = self.blanks(at);
            if end < self.text.len() {
                self.miss(end, 0, Reason::Trailing);
                return false;
            }
            solve(self, frame, &mut |frame| {
                let Some(decoded) = self.settled(index, frame) else { return false };
                let prints = self.prints(&decoded, layout);
                if prints || found.is_none() {
                    found = Some((decoded, prints));
                }
                prints
            })
        });
        found
    }

    /// Whether an instruction is written as the text at hand, blanks aside.
    fn prints(&self, decoded: &Decoded, layout: &'static Layout) -> bool {
        let mut line = Line::new();
        Scope { layout, ..self.engine.scope(decoded) }.print(&mut line);
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

    /// The instruction with these values, if it is the one that was read.
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

    fn length(&self, layout: &'static Layout, word: &Wide) -> Option<u8> {
        let scope = Scope { engine: self.engine, layout, word, len: (layout.bits / 8) as u8, outer: None };
        match layout.length {
            None => Some(scope.len),
            Some(length) => {
                u8::try_from(scope.expression(length)).ok().filter(|len| *len <= self.engine.stream.longest)
            }
        }
    }

    fn walk(&self, rest: &Rest<'_>, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        if !self.step() {
            return false;
        }
        let Some((token, tokens)) = rest.tokens.split_first() else {
            return match rest.behind {
                Some(behind) => self.walk(behind, at, frame, then),
                None => then(at, frame),
            };
        };
        let rest = Rest { tokens, behind: rest.behind };
        match token {
            Token::Text(text) => match self.literal(at, text.str) {
                Some(end) => self.walk(&rest, end, frame, then),
                None => false,
            },
            Token::Column(_) => self.walk(&rest, self.blanks(at), frame, then),
            Token::Field(index) => self.field(*index, at, frame, &mut |at, frame| self.walk(&rest, at, frame, then)),
            Token::If(condition, tokens) => {
                let inner = Rest { tokens, behind: Some(&rest) };
                frame.with_truth(*condition, true).is_some_and(|frame| self.walk(&inner, at, &frame, then))
                    || frame.with_truth(*condition, false).is_some_and(|frame| self.walk(&rest, at, &frame, then))
            }
        }
    }

    /// The end of a text that stands here, blanks aside.
    fn literal(&self, at: usize, text: &'static str) -> Option<usize> {
        let mut end = at;
        let mut bytes = text.bytes().peekable();
        let mut after_blank = false;
        while let Some(byte) = bytes.next() {
            if byte == b' ' {
                let next = self.blanks(end);
                // Between two words there must be a blank.
                let before = self.text.as_bytes().get(end.wrapping_sub(1)).copied().is_some_and(is_word);
                let behind = bytes.peek().map_or_else(|| self.text.as_bytes().get(next).copied(), |byte| Some(*byte));
                if next == end && before && behind.is_some_and(is_word) {
                    self.miss(end, 0, Reason::Expected(" "));
                    return None;
                }
                (end, after_blank) = (next, true);
                continue;
            }
            let skipped = self.blanks(end);
            let found = |at: usize| self.text.as_bytes().get(at) == Some(&byte);
            // Punctuation may have blanks around it.
            let place = if found(end) {
                end
            } else if !is_word(byte) && skipped > end && found(skipped) {
                skipped
            } else {
                self.miss(if after_blank { end } else { at }, 0, Reason::Expected(text));
                return None;
            };
            end = place + 1;
            if byte == b',' {
                end = self.blanks(end);
            }
            after_blank = false;
        }
        Some(end)
    }

    fn field(&self, index: u8, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let Some(field) = frame.layout.fields.get(usize::from(index)) else { return false };
        match field.ty {
            Type::Number(notation) => self.number(index, field, &notation, at, frame, then),
            Type::Enum(names, otherwise) => {
                let values = self.engine.stream.enums.get(usize::from(names)).map_or(&[][..], |e| e.values);
                let words = values.iter().map(|value| (value.text, value.bits));
                self.words(words, at, &mut |end, value| self.assign(index, value, at, end, frame, then))
                    || otherwise.is_some_and(|notation| self.number(index, field, &notation, at, frame, then))
                    || self.expected(at, field)
            }
            Type::Register(bank) => {
                let bank = self.engine.stream.banks.get(usize::from(bank));
                bank.is_some_and(|bank| self.register(bank, index, at, frame, then)) || self.expected(at, field)
            }
            Type::Float(width) => match read_float(self.rest(at), width) {
                Some((bits, len)) => self.assign(index, bits, at, at + len, frame, then),
                None => self.expected(at, field),
            },
            Type::Set(set, arguments) => {
                self.reading(usize::from(set), arguments, index, at, frame, then) || self.expected(at, field)
            }
        }
    }

    /// Says that a field was expected; false.
    fn expected(&self, at: usize, field: &Field) -> bool {
        self.miss(at, 0, Reason::Expected(field.name));
        false
    }

    /// Takes a value and goes on.
    fn assign(&self, index: u8, value: u64, at: usize, end: usize, frame: &Frame, then: Then<'_>) -> bool {
        match frame.with(index, value) {
            Some(frame) => then(end, &frame),
            None => {
                let name = frame.layout.fields.get(usize::from(index)).map_or("", |field| field.name);
                self.miss(at, end - at, Reason::Value(name));
                false
            }
        }
    }

    /// Tries the words that stand here, the longest first.
    fn words<'w>(
        &self,
        words: impl Iterator<Item = (&'w str, u64)> + Clone,
        at: usize,
        then: &mut dyn FnMut(usize, u64) -> bool,
    ) -> bool {
        let rest = self.rest(at);
        let here = words.filter(|(word, _)| rest.starts_with(word));
        let mut below = usize::MAX;
        while let Some(longest) = here.clone().map(|(word, _)| word.len()).filter(|len| *len < below).max() {
            for (word, value) in here.clone().filter(|(word, _)| word.len() == longest) {
                if self.step() && then(at + word.len(), value) {
                    return true;
                }
            }
            below = longest;
        }
        false
    }

    fn number(&self, index: u8, field: &Field, notation: &Notation, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let signed = matches!(self.text.as_bytes().get(at), Some(b'+' | b'-'));
        let found = read_number(self.rest(at), notation).filter(|_| signed || !notation.plus);
        if let Some((value, len)) = found {
            let width = u32::from(field.width);
            let fits = match field.signed {
                true => i64::try_from(value).is_ok_and(|value| fits_signed(value, width)),
                false => u64::try_from(value).is_ok_and(|value| value <= ones(width)),
            };
            if fits && self.assign(index, value as u64, at, at + len, frame, then) {
                return true;
            }
            if !fits {
                self.miss(at, len, Reason::Value(field.name));
            }
        } else if let Some(target) = notation.target {
            let rest = self.rest(at);
            let len = rest.bytes().take_while(|&b| is_word(b) || b == b'.' || b == b'$').count();
            let next = self.address.wrapping_add(u64::from(frame.layout.bits / 8));
            match self.labels.resolve(&rest[..len]).map(|label| target.number(label, self.address, next)) {
                Some(Some(number)) if self.assign(index, number as u64, at, at + len, frame, then) => return true,
                Some(Some(_)) => {}
                Some(None) => self.miss(at, len, Reason::Between),
                None if len > 0 => self.miss(at, len, Reason::UnknownLabel),
                None => {}
            }
        }
        if notation.quiet_zero && self.assign(index, 0, at, at, frame, then) {
            return true;
        }
        self.expected(at, field)
    }

    fn register(&self, bank: &Bank, index: u8, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let names = bank.names.iter().zip(0u64..).map(|(name, number)| (*name, number));
        let also = bank.also.iter().map(|(name, number)| (*name, u64::from(*number)));
        let named = names.chain(also).filter(|(name, _)| !name.is_empty());
        let whole = |end: usize| !self.text.as_bytes().get(end).copied().is_some_and(is_word);
        if self.words(named, at, &mut |end, value| whole(end) && self.assign(index, value, at, end, frame, then)) {
            return true;
        }
        let Some(digits) = self.rest(at).strip_prefix(bank.open) else { return false };
        let len = digits.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = digits[..len].parse::<u32>() else { return false };
        let end = at + bank.open.len() + len;
        if !self.rest(end).starts_with(bank.close) {
            return false;
        }
        let end = end + bank.close.len();
        if number >= bank.count {
            self.miss(at, end - at, Reason::Value(bank.name));
            return false;
        }
        self.assign(index, number.into(), at, end, frame, then)
    }

    /// Reads an operand as each layout of its set.
    fn reading(
        &self,
        set: usize,
        arguments: &'static [u8],
        index: u8,
        at: usize,
        frame: &Frame,
        then: Then<'_>,
    ) -> bool {
        let Some(first) = self.engine.stream.sets.get(set).map(|set| set.first) else { return false };
        let layouts = self.engine.stream.layouts_of(set).iter().zip(first..);
        for (layout, number) in layouts.filter(|(layout, _)| self.engine.has(layout)) {
            let mut inner = Frame::new(layout);
            for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
                if let Source::Outer(parameter) = field.source
                    && let Some(value) =
                        arguments.get(usize::from(parameter)).and_then(|outer| frame.known(self, *outer))
                {
                    inner = inner.with(i as u8, value).unwrap_or(inner);
                }
            }
            let rest = Rest { tokens: layout.text, behind: None };
            let read = self.walk(&rest, at, &inner, &mut |end, inner| {
                solve(self, inner, &mut |inner| {
                    let bits = inner.word();
                    let taken = frame.with_reading(index, bits.get(0, 64), layout, number);
                    let taken = taken.and_then(|frame| frame.with_demands(inner, arguments));
                    match taken {
                        Some(frame) => then(end, &frame),
                        None => {
                            self.miss(at, end - at, Reason::Value(inner.layout.name));
                            false
                        }
                    }
                })
            });
            if read || self.exhausted() {
                return read;
            }
        }
        false
    }
}
