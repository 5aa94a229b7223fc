//! Parses text token by token: what each token may consume, and the values of fields that it gives.

use super::BEFORE_PREFIX;
use super::reader::{Expected, Miss, Reader, is_word};
use crate::bits::{fits_signed, ones};
use crate::stream::error::{Reason, Wanted};
use crate::stream::number::{float_value, overflows, read_float, read_number, write_float};
use crate::stream::piece::extract;
use crate::stream::solve::{Frame, Reading, solve};
use crate::stream::table::{Bank, Field, Layout, MAX_ASIDES, MAX_FIELDS, Notation, Source, Token, Type};
use crate::stream::wide::Wide;
use crate::table::{Base, Target};
use crate::text::Line;

/// Tokens still to be parsed: those of the current group, then those that follow it.
pub(super) struct Rest<'a> {
    pub(super) tokens: &'static [Token],
    pub(super) after: Option<&'a Rest<'a>>,
}

/// The continuation after a token; `true` if the whole text is an instruction.
pub(super) type Then<'a> = &'a mut dyn FnMut(usize, &Frame) -> bool;

/// Whether a field can hold a number.
fn fits(field: &Field, number: i128) -> bool {
    let width = u32::from(field.width);
    match field.signed {
        true => i64::try_from(number).is_ok_and(|number| fits_signed(number, width)),
        false => u64::try_from(number).is_ok_and(|number| number <= ones(width)),
    }
}

/// The number that is meant where a negative one may be written as unsigned.
fn unwrapped(field: &Field, notation: &Notation, number: i128) -> i128 {
    let most = i128::from(ones(field.width.into()));
    let wraps = notation.wraps && field.signed && number > most >> 1 && number <= most;
    if wraps { number - most - 1 } else { number }
}

/// The least and the greatest number that a field can hold, as it is written.
fn range(field: &Field, notation: &Notation) -> (i64, u64) {
    let most = ones(field.width.into());
    if field.signed && notation.wraps {
        (-((most >> 1) as i64) - 1, most)
    } else if field.signed {
        (-((most >> 1) as i64) - 1, most >> 1)
    } else {
        (0, most)
    }
}

/// Floats close to a given one, with fewer and fewer significant bits: a field may not have room for all bits, and the
/// text does not distinguish these values.
fn coarser(width: u8, bits: u64) -> impl Iterator<Item = u64> {
    let fraction = match width {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    // All NaNs are written alike, and infinities need no approximation.
    let fraction = if float_value(width, bits).is_finite() { fraction } else { 0 };
    (1..=fraction).flat_map(move |low| {
        let down = bits & !ones(low);
        // If the bit is already clear, this value has been tried.
        let below = (bits >> (low - 1) & 1 != 0).then_some(down);
        below.into_iter().chain(Some(down + (1 << low)))
    })
}

/// Whether a float prints as this text.
fn writes(width: u8, bits: u64, text: &str) -> bool {
    let mut line = Line::new();
    write_float(width, bits, &mut line);
    line.as_str() == text
}

impl Reader<'_> {
    /// Parses the tokens, and calls `then` at their end.
    pub(super) fn walk(&self, rest: &Rest<'_>, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        if !self.steps.step() {
            return false;
        }
        let Some((token, tokens)) = rest.tokens.split_first() else {
            return match rest.after {
                Some(after) => self.walk(after, at, frame, then),
                None => then(at, frame),
            };
        };
        let rest = Rest { tokens, after: rest.after };
        match token {
            Token::Text(text) => match self.literal(at, text.str) {
                Some(end) => self.walk(&rest, end, frame, then),
                None => self.bare.get() && self.bare_label(text.str, &rest, at, frame, then),
            },
            Token::Column(_) => self.walk(&rest, self.blanks(at), frame, then),
            Token::Field(index) => self.field(*index, at, frame, &mut |at, frame| self.walk(&rest, at, frame, then)),
            Token::If(condition, tokens) => {
                let inner = Rest { tokens, after: Some(&rest) };
                let mut there = *frame;
                if there.assume(self.engine, *condition, true) && self.walk(&inner, at, &there, then) {
                    return true;
                }
                let mut left_out = *frame;
                left_out.assume(self.engine, *condition, false) && self.walk(&rest, at, &left_out, then)
            }
            Token::Bits(index, notation) => {
                let text = self.rest(at);
                let digits = usize::from(notation.digits);
                let text = if digits > 1 { text.get(..digits).unwrap_or(text) } else { text };
                match read_number(text, notation) {
                    Some((value, len)) if value >= 0 => {
                        self.assign(*index, value as u64, at, at + len, frame, &mut |at, frame| {
                            self.walk(&rest, at, frame, then)
                        })
                    }
                    _ => false,
                }
            }
            Token::Aside(tokens) => self.aside(tokens, &rest, at, frame, then),
        }
    }

    /// Parses a label where the text before it ends with the prefix of a number, such as `#`, which is left out.
    fn bare_label(&self, text: &'static str, rest: &Rest<'_>, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let Some((Token::Field(index), tokens)) = rest.tokens.split_first() else { return false };
        let Some(field) = frame.layout.fields.get(usize::from(*index)) else { return false };
        let Type::Number(Notation { target: Some(target), .. }) = field.ty else { return false };
        let end = match text.rfind(BEFORE_PREFIX) {
            Some(last) => self.literal(at, text.get(..=last).unwrap_or(text)),
            None => Some(at).filter(|at| self.text.get(..*at).is_some_and(|before| before.ends_with(BEFORE_PREFIX))),
        };
        let rest = Rest { tokens, after: rest.after };
        end.is_some_and(|end| {
            self.label(*index, field, target, end, frame, &mut |at, frame| self.walk(&rest, at, frame, then))
        })
    }

    /// Parses the next aside of the instruction, then continues.
    fn aside(&self, tokens: &'static [Token], rest: &Rest<'_>, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let number = usize::from(frame.asides);
        if number >= MAX_ASIDES {
            // The aside exists but is not printed.
            return self.walk(rest, at, frame, then);
        }
        let Some(&(from, to)) = self.asides.places.get(number).filter(|_| number < self.asides.count) else {
            return false;
        };
        let mut read = *frame;
        read.asides += 1;
        let inner = Rest { tokens, after: None };
        self.walk(&inner, from, &read, &mut |end, frame| end == to && self.walk(rest, at, frame, then))
    }

    /// The end of a fixed text at this position, ignoring white space.
    fn literal(&self, at: usize, text: &'static str) -> Option<usize> {
        let mut end = at;
        let mut bytes = text.bytes().enumerate().peekable();
        // Whether what was found so far ends with a blank or a sign, so that the rest alone is missing.
        let mut apart = false;
        while let Some((index, byte)) = bytes.next() {
            if byte == b' ' {
                let next = self.blanks(end);
                // Two words must be separated by a blank.
                let before = self.text.as_bytes().get(end.wrapping_sub(1)).copied().is_some_and(is_word);
                let after =
                    bytes.peek().map_or_else(|| self.text.as_bytes().get(next).copied(), |(_, byte)| Some(*byte));
                if next == end && before && after.is_some_and(is_word) {
                    self.miss(end, 0, Reason::Expected(" "));
                    return None;
                }
                (end, apart) = (next, true);
                continue;
            }
            let skipped = self.blanks(end);
            let found = |at: usize| self.text.as_bytes().get(at) == Some(&byte);
            // Punctuation may be surrounded by blanks.
            let place = if found(end) {
                end
            } else if !is_word(byte) && skipped > end && found(skipped) {
                skipped
            } else {
                let (place, missing) = if apart { (end, text.get(index..).unwrap_or(text)) } else { (at, text) };
                self.could_follow(end, Expected::Text(text.get(index..).unwrap_or_default()));
                self.miss(place, 0, Reason::Expected(missing));
                return None;
            };
            end = place + 1;
            if matches!(byte, b',' | b'[' | b'(' | b'{') {
                end = self.blanks(end);
            }
            apart = !is_word(byte);
        }
        Some(end)
    }

    fn field(&self, index: u8, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let Some(field) = frame.layout.fields.get(usize::from(index)) else { return false };
        if !matches!(field.ty, Type::Set(..)) {
            self.could_follow(at, Expected::Value(field.ty));
        }
        match field.ty {
            Type::Number(notation) => self.number(index, field, &notation, at, frame, then),
            Type::Enum(names, otherwise) => {
                let values = self.engine.stream.enums.get(usize::from(names)).map_or(&[][..], |e| e.values);
                let words = values.iter().map(|value| (value.text, value.bits));
                self.words(words, at, &mut |end, value| self.assign(index, value, at, end, frame, then))
                    || otherwise.is_some_and(|notation| self.unnamed(index, field, &notation, at, frame, then))
                    || self.expected(at, field)
            }
            Type::Register(bank) => {
                let bank = self.engine.stream.banks.get(usize::from(bank));
                // What fails after a register is not its fault.
                let read = bank.and_then(|bank| self.register(bank, index, at, frame, then));
                read.unwrap_or_else(|| self.expected(at, field))
            }
            Type::Float(width) => match read_float(self.rest(at), width) {
                Some((bits, len)) if overflows(width, bits, self.rest(at).get(..len).unwrap_or_default()) => {
                    self.miss(at, len, Reason::Overflow(field.name, width));
                    false
                }
                Some((bits, len)) => {
                    self.assign(index, bits, at, at + len, frame, then)
                        || coarser(width, bits).any(|other| {
                            let same = writes(width, other, self.rest(at).get(..len).unwrap_or_default());
                            same && self.steps.step() && self.assign(index, other, at, at + len, frame, then)
                        })
                }
                None => self.expected(at, field),
            },
            Type::Set(set, arguments) => {
                self.reading(usize::from(set), arguments, index, at, frame, then) || self.expected(at, field)
            }
        }
    }

    /// Parses a number in place of an enum name.
    fn unnamed(&self, index: u8, field: &Field, notation: &Notation, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        if !self.numbers.get() {
            self.unnamed.set(self.unnamed.get() || read_number(self.rest(at), notation).is_some());
            return false;
        }
        self.number(index, field, notation, at, frame, then)
    }

    /// Reports that a field was expected, and returns `false`.
    fn expected(&self, at: usize, field: &Field) -> bool {
        let reason = Reason::Field(field.name, Wanted::of(&field.ty));
        let (_, miss) = self.missed.get();
        // What the text calls an operand is a better name than that of its first field.
        if matches!(field.ty, Type::Set(..))
            && (miss.at, miss.len) == (at, 0)
            && matches!(miss.reason, Reason::Field(..) | Reason::Expected(_))
        {
            self.missed.set((0, Miss { reason, ..miss }));
        }
        self.miss(at, 0, reason);
        false
    }

    /// Sets the value of a field and continues.
    fn assign(&self, index: u8, value: u64, at: usize, end: usize, frame: &Frame, then: Then<'_>) -> bool {
        let mut given = *frame;
        if given.set(index, value) {
            return then(end, &given);
        }
        let name = frame.layout.fields.get(usize::from(index)).map_or("", |field| field.name);
        self.miss(at, end - at, Reason::Value(name));
        false
    }

    /// Tries the words at this position, longest first.
    fn words<'w>(
        &self,
        words: impl Iterator<Item = (&'w str, u64)> + Clone,
        at: usize,
        then: &mut dyn FnMut(usize, u64) -> bool,
    ) -> bool {
        let rest = self.rest(at).as_bytes();
        // Most words are ruled out by their first letter, and most registers by their last.
        let stands = |word: &str| match word.as_bytes() {
            [] => true,
            word @ [.., last] => rest.get(word.len() - 1) == Some(last) && rest[0] == word[0] && rest.starts_with(word),
        };
        let mut below = usize::MAX;
        loop {
            let (mut longest, mut value, mut several) = (None, 0, false);
            for (word, of) in words.clone().filter(|(word, _)| word.len() < below && stands(word)) {
                match longest {
                    Some(len) if len > word.len() => {}
                    Some(len) if len == word.len() => several = true,
                    _ => (longest, value, several) = (Some(word.len()), of, false),
                }
            }
            let Some(longest) = longest else { return false };
            if self.steps.step() && then(at + longest, value) {
                return true;
            }
            if several {
                let same = words.clone().filter(|(word, _)| word.len() == longest && stands(word));
                for (_, value) in same.skip(1) {
                    if self.steps.step() && then(at + longest, value) {
                        return true;
                    }
                }
            }
            below = longest;
        }
    }

    fn number(&self, index: u8, field: &Field, notation: &Notation, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        if let Some(target) = notation.target
            && self.label(index, field, target, at, frame, then)
        {
            return true;
        }
        let signed = matches!(self.text.as_bytes().get(at), Some(b'+' | b'-'));
        let found = read_number(self.rest(at), notation).filter(|_| signed || !notation.plus);
        if let Some((_, whole)) = found {
            // If another number follows directly, the digits of both form one run. Only sets that describe an existing
            // decoder allow this; the first number takes as many digits as possible.
            let mut room = whole;
            while let Some((value, len)) = self.rest(at).get(..room).and_then(|text| read_number(text, notation)) {
                let value = unwrapped(field, notation, value);
                let fits = fits(field, value);
                if fits && self.assign(index, value as u64, at, at + len, frame, then) {
                    return true;
                }
                // Bit fields may hold any number, but some values of computed fields may be impossible.
                let computed = matches!(field.source, Source::Computed { .. });
                if len == whole && (!fits || computed) {
                    let (least, greatest) = range(field, notation);
                    let reason = Reason::Range(field.name, least, greatest);
                    self.miss(at, len, if computed { Reason::Value(field.name) } else { reason });
                }
                if !self.engine.stream.exclusive {
                    break;
                }
                room = len - 1;
            }
        }
        if notation.quiet_zero && self.assign(index, 0, at, at, frame, then) {
            return true;
        }
        self.expected(at, field)
    }

    /// Parses a label in place of a number.
    fn label(&self, index: u8, field: &Field, target: Target, at: usize, frame: &Frame, then: Then<'_>) -> bool {
        let rest = self.rest(at);
        let len = rest.bytes().take_while(|&b| is_word(b) || b == b'.' || b == b'$').count();
        let name = &rest[..len];
        // A dot directly after a word begins a modifier.
        let modifier =
            name.starts_with('.') && self.text.as_bytes().get(at.wrapping_sub(1)).copied().is_some_and(is_word);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || modifier {
            return false;
        }
        let Some(address) = self.labels.resolve(name) else {
            self.miss(at, len, Reason::UnknownLabel);
            return false;
        };
        self.from_next.set(self.from_next.get() || target.base == Base::Next);
        match target.number(address, self.address, self.next.get()) {
            Some(number) if !fits(field, number.into()) => {
                self.miss(at, len, Reason::TooFar(field.name));
                false
            }
            Some(number) => {
                let before = self.label.replace(Some((at, len, address)));
                let read = self.assign(index, number as u64, at, at + len, frame, then);
                self.label.set(before);
                read
            }
            None => {
                self.miss(at, len, Reason::Between);
                false
            }
        }
    }

    /// Parses a register. `None` if there is none of the bank.
    fn register(&self, bank: &Bank, index: u8, at: usize, frame: &Frame, then: Then<'_>) -> Option<bool> {
        let names = bank.names.iter().zip(0u64..).map(|(name, number)| (*name, number));
        let also = bank.also.iter().map(|(name, number)| (*name, u64::from(*number)));
        let named = names.chain(also).filter(|(name, _)| !name.is_empty());
        let whole = |end: usize| !self.text.as_bytes().get(end).copied().is_some_and(is_word);
        let mut is_named = false;
        let mut assign = |end: usize, value: u64| {
            is_named |= whole(end);
            whole(end) && self.assign(index, value, at, end, frame, then)
        };
        if self.words(named, at, &mut assign) {
            return Some(true);
        }
        self.numbered(bank, index, at, frame, then).or(is_named.then_some(false))
    }

    /// Parses a register that is written with its number. `None` if there is none.
    fn numbered(&self, bank: &Bank, index: u8, at: usize, frame: &Frame, then: Then<'_>) -> Option<bool> {
        let digits = self.rest(at).strip_prefix(bank.open)?;
        let len = digits.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits[..len].parse::<u32>().ok()?;
        let end = at + bank.open.len() + len;
        if !self.rest(end).starts_with(bank.close) {
            return None;
        }
        let end = end + bank.close.len();
        if number >= bank.count {
            self.miss(at, end - at, Reason::Register(bank.name, bank.count));
            return Some(false);
        }
        Some(self.assign(index, number.into(), at, end, frame, then))
    }

    /// Parses an operand as each layout of its set.
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
        // Try unconditional layouts that are the fallback for conditional ones first.
        let plain = |layout: &Layout| layout.conditions.is_empty() && !layout.otherwise.is_empty();
        let layouts = || self.engine.stream.layouts_of(set).iter().zip(first..);
        let layouts = layouts().filter(|(l, _)| plain(l)).chain(layouts().filter(|(l, _)| !plain(l)));
        for (layout, number) in layouts.filter(|(layout, _)| self.engine.has(layout)) {
            let mut inner = frame.operand(layout);
            // The layout must match the bits of the operand that are already known.
            if let Some(value) = frame.known(self.engine, index) {
                let word = Wide::new(value).low(layout.bits.into());
                if !word.matches(&layout.mask, &layout.value) {
                    continue;
                }
                for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
                    if let Source::Bits(pieces) = field.source {
                        inner.set(i as u8, extract(&word, pieces));
                    }
                }
            }
            for (i, field) in layout.fields.iter().enumerate().take(MAX_FIELDS) {
                if let Source::Outer(parameter) = field.source
                    && let Some(value) =
                        arguments.get(usize::from(parameter)).and_then(|outer| frame.known(self.engine, *outer))
                {
                    inner.set(i as u8, value);
                }
            }
            let rest = Rest { tokens: layout.text, after: None };
            let read = self.walk(&rest, at, &inner, &mut |end, inner| {
                let mut solved = false;
                let read = solve(self.engine, &self.steps, inner, &mut |inner| {
                    solved = true;
                    let mut goes_on = |bits: Option<u64>| {
                        let reading = Reading { inner, bits, index: number, arguments };
                        match frame.with_reading(index, &reading) {
                            Some(frame) => then(end, &frame),
                            None => {
                                self.miss(at, end - at, Reason::Value(inner.layout.name));
                                false
                            }
                        }
                    };
                    goes_on(Some(inner.word().get(0, 64)))
                        // If the text determines no bits of the operand, other parts of the text may require different
                        // bits.
                        || inner.says_nothing() && goes_on(None)
                });
                if !solved {
                    self.miss_values(at, end, inner);
                }
                read
            });
            if read || self.steps.exhausted() {
                return read;
            }
        }
        false
    }
}
