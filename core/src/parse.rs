//! Parses instructions from text.
//!
//! The syntax tables that print an instruction also parse it. Differences without significance to the hardware are
//! accepted: spaces, the case of hexadecimal digits, underscores in numbers, the order of modifiers. Everything else is
//! an error with a position and, where possible, a suggestion.

use crate::bits::{Bits, fits_signed, ones, sign_extend};
use crate::encode::{Builder, greatest, list_lengths_in, number_range, place};
use crate::error::{EncodeError, ParseError, ParseReason, modifier_words};
use crate::scan;
use crate::table::{Alternative, Decoder, Field, Isa, Modifier, Operand, Shape, Target, Token, Type, hash_name};
use crate::text::Word;

/// Resolves the label names of a program to word indices.
pub trait Labels {
    /// Whether names can be labels at all.
    fn are_there(&self) -> bool {
        true
    }
    /// The index of the word that the label `name` marks.
    fn resolve(&self, name: &str) -> Option<u64>;
}

/// No labels: every name in place of a branch target is an error.
#[derive(Clone, Copy, Debug)]
pub struct NoLabels;

impl Labels for NoLabels {
    fn are_there(&self) -> bool {
        false
    }
    fn resolve(&self, _: &str) -> Option<u64> {
        None
    }
}

/// Parses one instruction. Returns its opcode and word.
///
/// # Errors
/// The position at which the text stops being an instruction, what was expected there, and a suggestion.
///
/// # Examples
///
/// ```
/// use isaforge_core::parse::parse;
/// use isaforge_vpu::ISA;
///
/// let (opcode, word) = parse(ISA, "MultiplyHiInt16u r0.x?y?z?w?, r2.xxxx, r4.xxxx")?;
/// assert_eq!((ISA.forms[usize::from(opcode)].name.str, word), ("MultiplyHiInt16u", 0x2a00004000800000));
/// // Errors have a position and, where possible, a suggestion.
/// assert!(parse(ISA, "MultiplyHiInt16 r0, r99.xxxx, r4.xxxx").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse(isa: &'static Isa, line: &str) -> Result<(u16, u64), ParseError> {
    parse_at(isa, line, 0, &NoLabels)
}

/// Parses the instruction that becomes the `index`-th word of a program.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_at(isa: &'static Isa, line: &str, index: u64, labels: &dyn Labels) -> Result<(u16, u64), ParseError> {
    match scan::instruction(isa, line.as_bytes(), 0) {
        Some((opcode, word, end)) if end == line.len() => Ok((opcode, word)),
        _ => parse_slowly(isa, line, index, labels),
    }
}

/// Parses text that is not written exactly as it prints.
#[inline(never)]
fn parse_slowly(isa: &'static Isa, line: &str, index: u64, labels: &dyn Labels) -> Result<(u16, u64), ParseError> {
    let mut cursor = Cursor { isa, line, at: 0 };
    cursor.spaces();
    let opcode = cursor.mnemonic()?;
    let mut parser = Parser { cursor, opcode, builder: Builder::new(isa, opcode), chosen: 0, said: 0, index, labels };
    let form = parser.builder.form();
    let after_name = parser.cursor.at;
    for token in form.syntax {
        match token {
            Token::Mnemonic | Token::Field(_) => {}
            Token::Text(text) => parser.cursor.text(text.str)?,
            Token::Modifiers => {
                parser.modifiers(!form.placed)?;
                parser.builder.pin_printed();
            }
            Token::Modifier(i) => parser.modifiers(1 << i)?,
            Token::Operand(i) => parser.operand(*i)?,
        }
    }
    parser.cursor.spaces();
    if form.ignored != 0 && parser.cursor.byte() == Some(b'~') {
        parser.ignored()?;
    }
    if !parser.cursor.rest().is_empty() {
        return Err(parser.cursor.error_word(ParseReason::Trailing));
    }
    for (i, modifier) in form.modifiers.iter().enumerate() {
        if modifier.default.is_none() && parser.chosen & 1 << i == 0 {
            let reason = ParseReason::MissingModifier(opcode, modifier.name);
            return Err(parser.cursor.error_span(after_name, after_name, reason));
        }
    }
    let error = |e| parser.cursor.error_span(after_name, line.len(), ParseReason::Encode(e));
    parser.builder.check_pins().and_then(|()| parser.builder.check_limits()).map_err(error)?;
    Ok((opcode, parser.builder.word()))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

struct Cursor<'a> {
    isa: &'static Isa,
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn error_span(&self, start: usize, end: usize, reason: ParseReason) -> ParseError {
        let found = Word::new(self.line.get(start..end).unwrap_or_default());
        ParseError { at: start, len: (end - start).max(1), reason, found, isa: self.isa }
    }

    /// An error about the word at the current position.
    fn error_word(&self, reason: ParseReason) -> ParseError {
        let rest = self.rest();
        let len = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
        let len = if len == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { len };
        self.error_span(self.at, self.at + len, reason)
    }

    fn mnemonic(&mut self) -> Result<u16, ParseError> {
        let rest = self.rest().as_bytes();
        let head = rest.iter().position(|&b| !is_word(b) && b != b'.').unwrap_or(rest.len());
        // Find the longest name that ends at a dot or at the end of the head.
        let mut ends = [0usize; 16];
        let mut n = 0;
        for (i, &b) in rest[..head].iter().enumerate() {
            if b == b'.' && n <= self.isa.names.dots as usize && n < ends.len() - 1 {
                ends[n] = i;
                n += 1;
            }
        }
        if n <= self.isa.names.dots as usize {
            ends[n] = head;
            n += 1;
        }
        for &end in ends[..n].iter().rev() {
            if let Some(opcode) = find_name(self.isa, &rest[..end]) {
                self.at += end;
                return Ok(opcode);
            }
        }
        Err(self.error_span(self.at, self.at + head, ParseReason::UnknownMnemonic))
    }

    /// Expects a fixed text. Any white space is accepted around it, or none.
    fn text(&mut self, text: &'static str) -> Result<(), ParseError> {
        self.spaces();
        let wanted = text.trim();
        if !self.rest().starts_with(wanted) {
            return Err(self.error_word(ParseReason::Expected(wanted)));
        }
        self.at += wanted.len();
        if text.ends_with(|c: char| c.is_whitespace()) {
            self.spaces();
        }
        Ok(())
    }

    /// Returns the longest of `words` at the current position that ends at a word boundary.
    fn longest(&self, words: impl Iterator<Item = &'static str>) -> Option<&'static str> {
        let rest = self.rest().as_bytes();
        let first = rest.first();
        let mut best: Option<&'static str> = None;
        for word in words {
            // Most words differ in their first byte.
            if word.as_bytes().first() == first
                && rest.starts_with(word.as_bytes())
                && !rest.get(word.len()).is_some_and(|&b| is_word(b))
                && best.is_none_or(|b| b.len() < word.len())
            {
                best = Some(word);
            }
        }
        best
    }

    /// Reads a number: decimal, or with the prefix `0x`, `0o` or `0b`; underscores are allowed. `None` when there is
    /// none here.
    fn number(&mut self) -> Option<Result<i128, ParseError>> {
        let start = self.at;
        let rest = self.rest();
        let (negative, digits) = match rest.as_bytes().first()? {
            b'-' => (true, &rest[1..]),
            b'+' => (false, &rest[1..]),
            _ => (false, rest),
        };
        let (radix, digits) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
            [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
            [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
            _ => (10, digits),
        };
        let len = digits.bytes().take_while(|&b| is_word(b)).count();
        if !digits.bytes().next().is_some_and(|b| b.is_ascii_hexdigit())
            || (radix == 10 && !digits.as_bytes()[0].is_ascii_digit())
        {
            return None;
        }
        let end = start + (rest.len() - digits.len()) + len;
        let mut value: i128 = 0;
        for c in digits[..len].chars().filter(|&c| c != '_') {
            match c.to_digit(radix) {
                Some(digit) if value < 1 << 64 => value = value * radix as i128 + digit as i128,
                Some(_) => {}
                None => return Some(Err(self.error_span(start, end, ParseReason::Expected("a number")))),
            }
        }
        self.at = end;
        Some(Ok(if negative { -value } else { value }))
    }
}

/// Finds the form with this name.
pub fn find_name(isa: &'static Isa, name: &[u8]) -> Option<u16> {
    let slots = isa.names.slots;
    let mut slot = hash_name(name) as usize;
    for _ in 0..slots.len() {
        match slots[slot & (slots.len() - 1)] {
            Decoder::NONE => return None,
            opcode if isa.forms[opcode as usize].name.str.as_bytes() == name => return Some(opcode),
            _ => slot += 1,
        }
    }
    None
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    opcode: u16,
    builder: Builder,
    /// Modifiers read so far.
    chosen: u32,
    /// Shared fields whose values were written as modifiers.
    said: u32,
    index: u64,
    labels: &'a dyn Labels,
}

/// The value that `word` gives a modifier; `None` when it is not one of its spellings.
fn modifier_value(isa: &'static Isa, modifier: &'static Modifier, word: &str) -> Option<u64> {
    match modifier.ty {
        Type::Enum(e) => isa.enums[e as usize].values.iter().find(|v| v.text == word).map(|v| v.bits),
        _ => (modifier.flag.str.strip_prefix('.') == Some(word) || !modifier.also.is_empty() && modifier.also == word)
            .then_some(1),
    }
}

impl Parser<'_> {
    /// Reads `~` and a number: the values of the ignored bits, at their positions in the word.
    fn ignored(&mut self) -> Result<(), ParseError> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let value = self.cursor.number().transpose()?.and_then(|v| u64::try_from(v).ok());
        let ignored = self.builder.form().ignored;
        match value.filter(|v| v & !ignored == 0) {
            Some(value) => {
                let word = self.builder.word() & !ignored | value;
                self.builder.set_bits(Bits::new(0, 64), word);
                self.cursor.spaces();
                Ok(())
            }
            None => {
                self.cursor.at = start;
                Err(self.cursor.error_word(ParseReason::Expected("bits that the instruction ignores")))
            }
        }
    }

    /// Reads a sequence of `.word` modifiers from the set `allowed`.
    fn modifiers(&mut self, allowed: u32) -> Result<(), ParseError> {
        let form = self.builder.form();
        while self.cursor.byte() == Some(b'.') {
            self.cursor.at += 1;
            let Some((i, value)) = self.one_of(form.modifiers, allowed, self.chosen)? else {
                self.shared_word()?;
                continue;
            };
            self.chosen |= 1 << i;
            self.builder.set_bits(form.modifiers[i].bits, value);
        }
        Ok(())
    }

    /// Reads a modifier that sets a shared field.
    fn shared_word(&mut self) -> Result<(), ParseError> {
        let shared = self.cursor.isa.shared;
        let unknown = self.dot_word(ParseReason::UnknownModifier(self.opcode));
        let Some(word) = self.cursor.longest(shared.iter().flat_map(|s| s.words).map(|(word, _)| *word)) else {
            return Err(unknown);
        };
        for (i, field) in shared.iter().enumerate() {
            if let Some((_, value)) = field.words.iter().find(|(known, _)| *known == word) {
                self.builder.pin(i, *value).map_err(|e| self.dot_word(ParseReason::Encode(e)))?;
                self.said |= 1 << i;
            }
        }
        self.cursor.at += word.len();
        Ok(())
    }

    /// Reads a modifier. If several share the spelling, takes the first one not yet chosen.
    fn one_of(
        &mut self,
        modifiers: &'static [Modifier],
        allowed: u32,
        chosen: u32,
    ) -> Result<Option<(usize, u64)>, ParseError> {
        let isa = self.cursor.isa;
        let open = |i: usize| allowed & 1 << i != 0;
        let words = modifiers.iter().enumerate().filter(|(i, _)| open(*i)).flat_map(|(_, m)| modifier_words(isa, m));
        let Some(word) = self.cursor.longest(words) else { return Ok(None) };
        let mut taken = None;
        for (i, modifier) in modifiers.iter().enumerate().filter(|(i, _)| open(*i)) {
            if let Some(value) = modifier_value(isa, modifier, word) {
                if chosen & 1 << i == 0 {
                    self.cursor.at += word.len();
                    return Ok(Some((i, value)));
                }
                taken = Some(modifier.name);
            }
        }
        match taken {
            Some(name) => Err(self.dot_word(ParseReason::RepeatedModifier(name))),
            None => Ok(None),
        }
    }

    /// An error about the word after a dot.
    fn dot_word(&self, reason: ParseReason) -> ParseError {
        let len = self.cursor.rest().bytes().take_while(|&b| is_word(b)).count();
        self.cursor.error_span(self.cursor.at, self.cursor.at + len, reason)
    }

    fn operand(&mut self, index: u8) -> Result<(), ParseError> {
        let operand = &self.builder.form().operands[index as usize];
        self.cursor.spaces();
        let start = self.cursor.at;
        match &operand.shape {
            Shape::One { kind, .. } => {
                let alternatives = self.cursor.isa.kinds[*kind as usize].alternatives;
                let (end, alternative, values) = self.alternative(index, alternatives)?;
                self.cursor.at = end;
                self.builder
                    .set_operand(index as usize, alternative, &values)
                    .map_err(|e| self.cursor.error_span(start, end, ParseReason::Encode(e)))?;
            }
            Shape::List { .. } => self.list(index, operand)?,
            Shape::Number { .. } => self.number(index, operand)?,
        }
        self.suffixes(index, operand)
    }

    /// Parses the alternative that matches the longest text from here: its end, its index, its fields.
    fn alternative(
        &self,
        index: u8,
        alternatives: &'static [Alternative],
    ) -> Result<(usize, usize, [u64; MAX_FIELDS]), ParseError> {
        // If all alternatives fail, the error furthest into the text is closest to what was intended.
        let mut worst = None;
        let mut reached = self.cursor.at;
        let best = longest(&self.cursor, alternatives, self.said, |at, error| {
            if at > reached {
                (reached, worst) = (at, Some(error));
            }
        });
        best.ok_or_else(|| worst.unwrap_or_else(|| self.cursor.error_word(ParseReason::Operand(self.opcode, index))))
    }

    fn list(&mut self, index: u8, operand: &'static Operand) -> Result<(), ParseError> {
        let Shape::List { kind, open, separator, .. } = &operand.shape else { return Ok(()) };
        let isa = self.cursor.isa;
        let alternatives = isa.kinds[*kind as usize].alternatives;
        let start = self.cursor.at;
        if !self.cursor.rest().starts_with(open) {
            return Err(self.cursor.error_word(ParseReason::Operand(self.opcode, index)));
        }
        self.cursor.at += open.len();
        let (mut first, mut count) = (0, 0);
        if self.cursor.byte().is_some_and(is_word) {
            loop {
                let (end, _, values) = self.alternative(index, alternatives)?;
                if count == 0 {
                    first = values[0];
                } else if values[0] != first + count {
                    return Err(self.cursor.error_span(self.cursor.at, end, ParseReason::NotConsecutive));
                }
                count += 1;
                self.cursor.at = end;
                if !self.cursor.rest().starts_with(separator) || count > 255 {
                    break;
                }
                self.cursor.at += separator.len();
            }
        }
        let (least, most) = list_lengths_in(operand, self.builder.word());
        let reason = |e| match e {
            _ if count < least as u64 || count > most as u64 => ParseReason::ListLength(least, most),
            e => ParseReason::Encode(e),
        };
        self.builder
            .set_list(index as usize, first, count)
            .map_err(|e| self.cursor.error_span(start, self.cursor.at, reason(e)))
    }

    fn number(&mut self, index: u8, operand: &'static Operand) -> Result<(), ParseError> {
        let Shape::Number { bits, ty, prefix, target } = &operand.shape else { return Ok(()) };
        if self.cursor.rest().starts_with(prefix.trim_end()) {
            self.cursor.at += prefix.trim_end().len();
            self.cursor.spaces();
        } else {
            // A label replaces the whole operand, including the prefix of its number.
            let is_name = self.cursor.byte().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.'));
            if target.is_none() || !is_name || !self.labels.are_there() {
                return Err(self.cursor.error_word(ParseReason::Operand(self.opcode, index)));
            }
        }
        let start = self.cursor.at;
        let value = match self.cursor.number() {
            Some(value) => value?,
            None => match target {
                Some(target) => self.label(*target)? as i128,
                None => return Err(self.cursor.error_word(ParseReason::Operand(self.opcode, index))),
            },
        };
        let end = self.cursor.at;
        let width = bits.width();
        // A 64-bit field holds values that an `i64` cannot express; for them, the bits matter and not the sign.
        let word = match i64::try_from(value) {
            Ok(value) => Some(value),
            Err(_) if width == 64 && *ty != Type::Signed => u64::try_from(value).ok().map(|v| v as i64),
            Err(_) => None,
        };
        let (least, most) = number_range(*ty, width);
        let fits = word.is_some_and(|v| match ty {
            Type::Signed => fits_signed(v, width),
            _ => width == 64 && value >= 0 || v >= 0 && v as u64 <= ones(width),
        });
        match word {
            Some(word) if fits => {
                self.builder.set_bits(*bits, word as u64);
                Ok(())
            }
            _ => Err(self.cursor.error_span(start, end, ParseReason::Range(operand.name, least, most))),
        }
    }

    fn label(&mut self, target: Target) -> Result<i64, ParseError> {
        let start = self.cursor.at;
        let rest = self.cursor.rest();
        let len = rest.bytes().take_while(|&b| is_word(b) || b == b'.' || b == b'$').count();
        self.cursor.at += len;
        match self.labels.resolve(&rest[..len]) {
            Some(at) => {
                let bytes = u64::from(self.cursor.isa.word_bits / 8);
                let address = |index: u64| index.wrapping_mul(bytes);
                let number = target.number(address(at), address(self.index), address(self.index.wrapping_add(1)));
                number.ok_or_else(|| {
                    self.cursor.error_span(
                        start,
                        start + len,
                        ParseReason::Expected("a label at a multiple of the unit"),
                    )
                })
            }
            None => Err(self.cursor.error_span(start, start + len, ParseReason::UnknownLabel)),
        }
    }

    fn suffixes(&mut self, index: u8, operand: &'static Operand) -> Result<(), ParseError> {
        let mut chosen = 0;
        while self.cursor.byte() == Some(b'.') {
            self.cursor.at += 1;
            match self.one_of(operand.suffixes, u32::MAX, chosen)? {
                Some((i, value)) => {
                    chosen |= 1 << i;
                    self.builder.set_bits(operand.suffixes[i].bits, value);
                }
                None => return Err(self.dot_word(ParseReason::UnknownSuffix(self.opcode, index))),
            }
        }
        for (i, suffix) in operand.suffixes.iter().enumerate() {
            if suffix.default.is_none() && chosen & 1 << i == 0 {
                return Err(self.cursor.error_word(ParseReason::MissingSuffix(self.opcode, index, suffix.name)));
            }
        }
        Ok(())
    }
}

/// Finds the alternative that matches the longest text: its end, its index, its fields. `missed` is called for
/// alternatives that fail, with the position. If the instruction sets the shared fields `said` by modifiers, readings
/// that depend on them are matched by their other spellings only.
fn longest(
    cursor: &Cursor<'_>,
    alternatives: &'static [Alternative],
    said: u32,
    mut missed: impl FnMut(usize, ParseError),
) -> Option<(usize, usize, [u64; MAX_FIELDS])> {
    let mut best: Option<(usize, usize, [u64; MAX_FIELDS])> = None;
    let texts = |a: &'static Alternative| {
        let also = a.also.iter().map(|spelling| (spelling.text, spelling.with));
        core::iter::once((a.text, &[][..])).chain(also).map(|(text, with)| (a.fields, text, with))
    };
    let other = |a: &Alternative| !a.also.is_empty() && a.when.iter().any(|(shared, _)| said & 1 << shared != 0);
    let all = alternatives.iter().enumerate();
    let all = all.flat_map(|(i, a)| texts(a).skip(usize::from(other(a))).map(move |text| (i, text)));
    for (i, (fields, text, with)) in all {
        let mut cursor = Cursor { ..*cursor };
        let mut values = [0; MAX_FIELDS];
        for (field, value) in with {
            values[usize::from(*field) % MAX_FIELDS] = *value;
        }
        match read_text(&mut cursor, fields, text, &mut values) {
            Ok(()) if cursor.byte().is_some_and(is_word) => {}
            Ok(()) => {
                if best.is_none_or(|(end, ..)| end < cursor.at) {
                    best = Some((cursor.at, i, values));
                }
                // No alternative can extend beyond the end of the line.
                if cursor.byte().is_none() {
                    break;
                }
            }
            Err(Some(error)) => missed(cursor.at, error),
            Err(None) => {}
        }
    }
    best
}

/// Parses the whole of `text` as an operand of a kind, at bit `at` of a word in which only the shared fields are set,
/// to their defaults.
pub fn parse_kind(isa: &'static Isa, kind: usize, at: u8, text: &str) -> Option<u64> {
    let alternatives = isa.kinds.get(kind)?.alternatives;
    let cursor = Cursor { isa, line: text, at: 0 };
    let (end, alternative, values) = longest(&cursor, alternatives, 0, |_, _| {})?;
    if end != text.len() {
        return None;
    }
    place(isa, &alternatives[alternative], at, isa.usual_value, &values).ok()
}

/// The maximum number of fields in an alternative, which the compiler enforces.
pub const MAX_FIELDS: usize = 12;

fn read_text(
    cursor: &mut Cursor<'_>,
    fields: &'static [Field],
    text: &'static [Token],
    values: &mut [u64; MAX_FIELDS],
) -> Result<(), Option<ParseError>> {
    for token in text {
        match token {
            Token::Text(text) => {
                if !cursor.rest().starts_with(text.str) {
                    return Err(None);
                }
                cursor.at += text.str.len();
            }
            Token::Field(i) => {
                let field = &fields[*i as usize];
                let value = read_field(cursor, field.name, field.ty, field.bits.width())?;
                if let Some(slot) = values.get_mut(*i as usize) {
                    *slot = value;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_field(cursor: &mut Cursor<'_>, name: &'static str, ty: Type, width: u32) -> Result<u64, Option<ParseError>> {
    let start = cursor.at;
    let isa = cursor.isa;
    match ty {
        Type::Enum(e) => {
            let values = isa.enums[e as usize].values;
            let rest = cursor.rest().as_bytes();
            let here = |text: &str| text.as_bytes().first() == rest.first() && rest.starts_with(text.as_bytes());
            let value = values.iter().filter(|v| here(v.text)).max_by_key(|v| v.text.len()).ok_or(None)?;
            cursor.at += value.text.len();
            Ok(value.bits)
        }
        Type::Constant(c) => {
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            let values = isa.constants[c as usize].values;
            if cursor.byte() == Some(b'[') {
                return read_index(cursor, values.len() as u64);
            }
            let index = values.iter().position(|v| v.value as i128 == value);
            index.map(|i| i as u64).ok_or(Some(cursor.error_span(start, cursor.at, ParseReason::Constant(c))))
        }
        Type::Register(_) | Type::Decimal | Type::Hex | Type::Flag => {
            if !cursor.byte().is_some_and(|b| b.is_ascii_digit()) {
                return Err(None);
            }
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            let most = greatest(isa, ty, width);
            if value < 0 || value > most as i128 {
                return Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range(name, 0, most as i64))));
            }
            Ok(value as u64)
        }
        Type::Signed => {
            let value = cursor.number().ok_or(None)?.map_err(Some)?;
            match i64::try_from(value) {
                Ok(value) if sign_extend(value as u64, width) == value => Ok(value as u64 & ones(width)),
                _ => {
                    let (least, most) = number_range(ty, width);
                    Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range(name, least, most))))
                }
            }
        }
    }
}

/// Reads the index, such as `[21]`, after a constant that occurs in its table more than once.
fn read_index(cursor: &mut Cursor<'_>, count: u64) -> Result<u64, Option<ParseError>> {
    cursor.at += 1;
    let start = cursor.at;
    let value = cursor.number().ok_or(None)?.map_err(Some)?;
    if value < 0 || value >= count as i128 {
        let most = count as i64 - 1;
        return Err(Some(cursor.error_span(start, cursor.at, ParseReason::Range("index", 0, most))));
    }
    if cursor.byte() != Some(b']') {
        return Err(Some(cursor.error_word(ParseReason::Expected("]"))));
    }
    cursor.at += 1;
    Ok(value as u64)
}

impl From<EncodeError> for ParseReason {
    fn from(error: EncodeError) -> Self {
        ParseReason::Encode(error)
    }
}
