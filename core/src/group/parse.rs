//! Parses groups from text.
//!
//! The parts of a group are on separate lines in any order, or in one line separated by `|`. Each part is tried against
//! every operation; the first whose syntax matches and whose slot is free is taken. A register in a selector needs a
//! source: one that already holds the register, or else a free one. Sources are assigned after all parts have been
//! read.
//!
//! - `walk`: a part, token by token
//! - `help`: what to write instead of a text that is not a group

mod help;
mod walk;

pub use crate::group::error::{TextError, TextReason};
pub use crate::group::operation::mnemonic;
pub use help::{TextHelp, write_syntax};
pub use walk::Expected;

use walk::Parser;

use crate::group::encode::encode;
use crate::group::error::BuildError;
use crate::group::operand::Draft;
use crate::group::scan::{Scan, first_word};
use crate::group::table::{GroupIsa, MAX_BYTES, Operation, SLOTS, Slot, Token};
use crate::group::value::{Form, Group, Values};
use crate::text::Word;

/// A parsed group.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The meaning of the group.
    pub values: Values,
    /// The encoding choices made by marks.
    pub form: Form,
}

impl Assembled {
    /// Encodes the group.
    ///
    /// # Errors
    /// When it has no encoding, or one of its operations has no public encoding.
    pub fn encode(&self, isa: &GroupIsa) -> Result<Group, BuildError> {
        encode(isa, &self.values, &self.form)
    }
}

/// Parses a group.
///
/// # Errors
/// The first part that cannot be parsed.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::assemble;
/// use isaforge_usc::ISA;
///
/// let group = assemble(ISA, "byp.imm16 ft0, ft1, c0, 0x0 | byp ft2, _ | cbs ft3, _")?.encode(ISA)?;
/// assert_eq!(group.as_bytes(), [0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn assemble(isa: &GroupIsa, text: &str) -> Result<Assembled, TextError> {
    let mut draft = Draft::new(isa);
    let mut taken: Taken = [(0xff, ""); 24];
    let mut marks = None;
    let mut at = 0;
    for piece in text.split(['\n', '|']) {
        let start = at;
        at += piece.len() + 1;
        let (piece, skipped) = trim(piece);
        let start = start + skipped;
        if piece.is_empty() {
            continue;
        }
        if let Some(list) = after_word(piece, "with") {
            marks = Some((list, start + piece.len() - list.len()));
            continue;
        }
        if let Some(hex) = after_word(piece, "bytes") {
            return bytes(isa, hex).ok_or(error(TextReason::Bytes, piece, start));
        }
        part(isa, piece, start, &mut draft, &mut taken)?;
    }
    draft.settle(isa).map_err(|reason| error(reason, text.trim(), 0))?;
    draft.values.insert_fillers(isa);
    let mut read = Assembled { values: draft.values, form: Form::CANONICAL };
    if let Some((list, start)) = marks {
        let at = |mark: &str| start + (mark.as_ptr() as usize).saturating_sub(list.as_ptr() as usize);
        apply_marks(isa, list, &mut read).map_err(|mark| error(TextReason::Mark, mark, at(mark)))?;
    }
    Ok(read)
}

/// Strips the number, braces, comment and semicolon from a part. Returns it with the number of bytes removed before it.
fn trim(piece: &str) -> (&str, usize) {
    let code = piece.split('#').next().unwrap_or_default();
    let mut rest = code.trim_start();
    // `12 : …` starts with the number of a group.
    if let Some((number, after)) = rest.split_once(':')
        && !number.trim().is_empty()
        && number.trim().bytes().all(|b| b.is_ascii_digit())
    {
        rest = after;
    }
    let inner = rest.trim_start_matches(is_frame);
    let skipped = code.len() - inner.len();
    (inner.trim_end_matches(is_frame), skipped)
}

/// Whether a character may surround a part.
fn is_frame(c: char) -> bool {
    c.is_whitespace() || matches!(c, '{' | '}' | ';')
}

fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then_some(rest)
}

pub(super) fn error(reason: TextReason, found: &str, at: usize) -> TextError {
    TextError { at, len: found.len().max(1), reason, found: Word::new(found), nearest: None }
}

/// The slots filled so far, with the part of each.
type Taken = [(u8, &'static str); 24];

fn part(isa: &GroupIsa, piece: &str, start: usize, draft: &mut Draft, taken: &mut Taken) -> Result<(), TextError> {
    draft.start_part();
    let begin = draft.checkpoint();
    let initial = piece.bytes().next().map(|b| b.to_ascii_lowercase());
    let starts = |syntax: &[Token]| match syntax.first() {
        Some(Token::Text(text)) => text.bytes().next().map(|b| b.to_ascii_lowercase()) == initial,
        _ => true,
    };
    let mut in_the_way = false;
    // How far the best attempt got, and its operation.
    let mut best = (0, None);
    for (index, operation) in isa.operations.iter().enumerate() {
        if !starts(operation.syntax) && !operation.also.iter().any(|syntax| starts(syntax)) {
            continue;
        }
        for slot in (0..SLOTS).filter(|s| operation.slots >> s & 1 != 0) {
            for syntax in core::iter::once(&operation.syntax).chain(operation.also).filter(|syntax| starts(syntax)) {
                if let Some(Token::Text(text)) = syntax.first()
                    && Scan::new(piece).literal(text).is_none()
                {
                    continue;
                }
                draft.start_operation(operation.remark);
                set_own(isa, operation, slot, draft);
                let mut parser = Parser { isa, slot, draft, left: piece.len(), tell: None };
                if parser.all(piece, syntax, operation).is_none() {
                    let far = piece.len() - parser.left;
                    if best.1.is_none() || far > best.0 {
                        best = (far, Some((index as u16, slot as u8)));
                    }
                    draft.back_to(isa, begin);
                    continue;
                }
                let key = (slot as u8, operation.part);
                if !operation.remark {
                    if taken.contains(&key) {
                        in_the_way = true;
                        draft.back_to(isa, begin);
                        continue;
                    }
                    if let Some(free) = taken.iter_mut().find(|t| t.0 == 0xff) {
                        *free = key;
                    }
                    draft.values.insert(slot);
                }
                return Ok(());
            }
        }
    }
    let word = first_word(piece);
    let written = |o: &Operation| core::iter::once(&o.syntax).chain(o.also).any(|s| is_named(word, s));
    let filled = |o: &Operation| taken.iter().any(|t| t.0 < 32 && o.slots >> t.0 & 1 != 0 && t.1 == o.part);
    let named = || isa.operations.iter().position(written);
    in_the_way |= isa.operations.iter().any(|o| !o.remark && filled(o) && written(o));
    Err(match in_the_way {
        true => error(TextReason::Taken, word, start),
        false => match named() {
            Some(first) => {
                // Point at the text after the name where parsing stopped, or at the whole part if something is missing
                // at its end.
                let far = best.0.max(word.len()).min(piece.len());
                let rest = piece.get(far..).unwrap_or_default();
                let skipped = rest.len() - rest.trim_start().len();
                let rest = rest.trim_start();
                let len = rest.find([',', ' ']).filter(|len| *len > 0).unwrap_or(rest.len());
                let (at, len) = if rest.is_empty() { (0, piece.len()) } else { (far + skipped, len) };
                let slot = isa.operations.get(first).map_or(0, |o| o.slots.trailing_zeros() as u8);
                let nearest = best.1.or(Some((first as u16, slot)));
                TextError { at: start + at, len, nearest, ..error(TextReason::Operands, word, start) }
            }
            None => TextError { len: word.len().max(1), ..error(TextReason::Operation, piece, start) },
        },
    })
}

/// Tells what may follow a text in parts that start with it, with the operation; nothing if there are none. The same may
/// be told several times.
///
/// # Examples
///
/// ```
/// use core::cell::Cell;
/// use isaforge_core::group::parse::{Expected, expected};
/// use isaforge_usc::ISA;
///
/// let operands = Cell::new(0);
/// expected(ISA, "fadd ft0, ", &|_, next| operands.set(operands.get() + usize::from(matches!(next, Expected::Operand(_)))));
/// assert!(operands.get() > 0);
/// ```
pub fn expected(isa: &'static GroupIsa, text: &str, tell: &dyn Fn(&'static Operation, Expected)) {
    let piece = text.trim_start_matches(is_frame);
    let mut draft = Draft::new(isa);
    draft.start_part();
    let begin = draft.checkpoint();
    for operation in isa.operations {
        let tell = |next: Expected| tell(operation, next);
        for slot in (0..SLOTS).filter(|slot| operation.slots >> slot & 1 != 0) {
            for syntax in core::iter::once(&operation.syntax).chain(operation.also) {
                draft.start_operation(operation.remark);
                set_own(isa, operation, slot, &mut draft);
                let mut parser = Parser { isa, slot, draft: &mut draft, left: piece.len(), tell: Some(&tell) };
                if parser.all(piece, syntax, operation).is_some() {
                    tell(Expected::Nothing);
                }
                draft.back_to(isa, begin);
            }
        }
    }
}

/// Gives the fields of a slot the values that make it this operation.
fn set_own(isa: &GroupIsa, operation: &Operation, slot: usize, draft: &mut Draft) {
    for (at, field, allowed) in operation.is {
        if let (&Token::OWN, Some(value)) = (at, allowed.first()) {
            // A part may set this many fields, so this cannot fail.
            let _ = draft.set(isa, slot, *field, *value);
        }
    }
}

/// Whether a register (bank, number) can be an operand: an index into [`GroupIsa::operands`].
pub fn can_be(isa: &GroupIsa, operand: u16, bank: i64, number: i64) -> bool {
    crate::group::operand::can_be(isa, operand, bank, number, 8)
}

fn is_named(word: &str, syntax: &[Token]) -> bool {
    mnemonic(syntax).is_some_and(|name| name.eq_ignore_ascii_case(word))
}

fn bytes(isa: &GroupIsa, hex: &str) -> Option<Assembled> {
    let mut bytes = [0u8; MAX_BYTES];
    let mut len = 0;
    for pair in hex.split_whitespace() {
        *bytes.get_mut(len)? = u8::from_str_radix(pair, 16).ok()?;
        len += 1;
    }
    let group = crate::group::decode::decode(isa, bytes.get(..len)?).ok()?;
    (group.len() == len).then(|| Assembled { values: group.values(isa), form: group.form() })
}

/// Applies the marks `slot.field=value`, `slot:record`, `slot` and `length=…`. The error is the first mark that is
/// invalid.
fn apply_marks<'t>(isa: &GroupIsa, list: &'t str, read: &mut Assembled) -> Result<(), &'t str> {
    for mark in list.split(',').map(str::trim).filter(|m| !m.is_empty()) {
        apply_mark(isa, mark, read).ok_or(mark)?;
    }
    Ok(())
}

fn apply_mark(isa: &GroupIsa, mark: &str, read: &mut Assembled) -> Option<()> {
    let slot_of = |name: &str| isa.slots.iter().position(|s| s.name == name);
    if let Some(length) = mark.strip_prefix("length=") {
        read.form.length = length.parse().ok()?;
        return Some(());
    }
    if let Some((slot, record)) = mark.split_once(':') {
        let slot = slot_of(slot)?;
        let choice = isa.choices.get(isa.slots.get(slot)?.choice as usize)?;
        *read.form.records.get_mut(slot)? = choice.record(record)? as u8;
        return Some(());
    }
    let Some((name, value)) = mark.split_once('=') else {
        read.values.insert(slot_of(mark)?);
        return Some(());
    };
    let (slot, field) = name.split_once('.')?;
    let slot = slot_of(slot)?;
    let field = isa.choices.get(isa.slots.get(slot)?.choice as usize)?.field(field)?;
    let mut scan = Scan::new(value);
    let value = scan.value(isa, isa.type_of(slot, field))?;
    if !scan.at_end() || slot as u8 == Slot::NEVER {
        return None;
    }
    read.values.set(isa, slot, field, value);
    Some(())
}
