//! Parses instructions from text.
//!
//! The syntax tables that print an instruction also parse it. Differences without significance to the hardware are
//! accepted: spaces, the case of hexadecimal digits, underscores in numbers, the order of modifiers. Everything else is
//! an error with a position and, where possible, a suggestion.
//!
//! - `cursor`: a position in the text, and what can be read there
//! - `alternative`: operands of a kind

mod alternative;
mod cursor;

pub use crate::table::find_name;
pub use alternative::{MAX_FIELDS, parse_kind};

use alternative::longest;
use cursor::{Cursor, is_word};

use crate::bits::{Bits, fits_signed, ones};
use crate::encode::{Builder, list_lengths_in, number_range};
use crate::error::{EncodeError, ParseError, ParseReason, modifier_words};
use crate::scan;
use crate::table::{Alternative, Isa, Modifier, Operand, Shape, Target, Token, Type};

/// Resolves the label names of a program to word indices.
pub trait Labels {
    /// Whether names can be labels at all.
    fn supported(&self) -> bool {
        true
    }
    /// The address in bytes of the first word of the program.
    fn base(&self) -> u64 {
        0
    }
    /// The index of the word that the label `name` marks.
    fn resolve(&self, name: &str) -> Option<u64>;
}

/// No labels: every name in place of a branch target is an error.
#[derive(Clone, Copy, Debug)]
pub struct NoLabels;

impl Labels for NoLabels {
    fn supported(&self) -> bool {
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
                Err(self.cursor.error_word(ParseReason::Wanted("bits that the instruction ignores")))
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
        let parsed = self.shape(index, operand, start).and_then(|()| self.suffixes(index, operand));
        parsed.map_err(|error| self.float_at(start, index, operand).unwrap_or(error))
    }

    /// The error about a float where an operand may be a constant.
    fn float_at(&self, start: usize, index: u8, operand: &'static Operand) -> Option<ParseError> {
        let Shape::One { kind, .. } = operand.shape else { return None };
        let text = self.cursor.line.get(start..)?;
        let len = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
        if !text[..len].contains('.') || text[..len].parse::<f32>().is_err() {
            return None;
        }
        let mut fields = self.cursor.isa.kinds[usize::from(kind)].alternatives.iter().flat_map(|one| one.fields);
        let table = fields.find_map(|field| match field.ty {
            Type::Constant(table) => Some(table),
            _ => None,
        })?;
        let reason = ParseReason::FloatConstant(self.opcode, index, table);
        Some(self.cursor.error_span(start, start + len, reason))
    }

    fn shape(&mut self, index: u8, operand: &'static Operand, start: usize) -> Result<(), ParseError> {
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
        Ok(())
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
            if target.is_none() || !is_name || !self.labels.supported() {
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
        let fraction = self.cursor.rest().strip_prefix('.').and_then(|rest| rest.bytes().next());
        if operand.suffixes.is_empty() && fraction.is_some_and(|byte| byte.is_ascii_digit()) {
            self.cursor.at = start;
            return Err(self.cursor.error_word(ParseReason::Float(operand.name, prefix, width)));
        }
        // The bits of a negative integer, where a field has as many as integers usually have.
        let value = match ty {
            Type::Signed => value,
            _ if width == 32
                && target.is_none()
                && fits_signed(value.clamp(i64::MIN.into(), 0) as i64, 32)
                && value < 0 =>
            {
                value + (1 << 32)
            }
            _ => value,
        };
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
                let address = |index: u64| self.labels.base().wrapping_add(index.wrapping_mul(bytes));
                let number = target.number(address(at), address(self.index), address(self.index.wrapping_add(1)));
                number.ok_or_else(|| {
                    self.cursor.error_span(start, start + len, ParseReason::Wanted("a label at a multiple of the unit"))
                })
            }
            None if len == 0 => {
                self.cursor.at = start;
                Err(self.cursor.error_word(ParseReason::Wanted("a label or a number")))
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

impl From<EncodeError> for ParseReason {
    fn from(error: EncodeError) -> Self {
        ParseReason::Encode(error)
    }
}
