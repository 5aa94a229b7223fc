//! Translates instructions of one revision to another.
//!
//! [`translate`] takes a word apart by its names (mnemonic, modifiers, operands, alternatives, values) and assembles it
//! from the same names in the other revision. These count as the same:
//!
//! - **A name in both revisions**: instructions, modifiers, operands, alternatives and values of the same name mean the
//!   same, wherever their bits are. Numbers and registers keep their number, constants their value.
//! - **The same bits under another name**: an instruction with the same opcode bits and the same members; an operand, a
//!   modifier of the same type, a value or a special operand in the same bits of the same instruction; an alternative
//!   or a field of one, if all else about it is the same. The old name must be unknown to the new revision and the new
//!   name to the old one; otherwise the bits were reused for something else. Every member that a [diff](crate::diff)
//!   calls renamed is among these.
//! - **The same bits with the same text**: a modifier under another name that prints the same word.
//!
//! A branch target is an address: the number that encodes it is computed anew if the other revision counts from
//! elsewhere or its words have another length.
//!
//! Everything else is rejected, and the error names what the other revision cannot express. The result is verified by
//! decoding it.
//!
//! - here: words and programs, instructions and their modifiers
//! - `operands`: operands with their alternatives and fields
//! - `addresses`: where a word is in its program, and where its branches lead
//! - `error`: why a word has no translation
//! - [`streams`]: the same for streams
//!
//! The modifiers are set first, then the operands with their suffixes; then the word is complete.

mod addresses;
mod error;
mod fields;
mod operands;
pub mod streams;

use isaforge_core::bits::ones;
use isaforge_core::decode::{alternative_of, decode};
use isaforge_core::encode::Builder;
use isaforge_core::error::EncodeError;
use isaforge_core::parse::find_name;
use isaforge_core::program::{ProgramError, assemble};
use isaforge_core::table::{Enum, Form, Isa, Modifier, Operand, Shape, Type, Value};

use crate::diff::{modifier_text, renamed_modifiers, word_text};
use addresses::Addresses;

pub use error::TranslateError;

/// Returns the word of revision `to` that means the same as `word` in revision `from`, wherever it is in a program.
///
/// # Errors
/// Returns the first thing that the other revision cannot express, by name.
pub fn translate(from: &'static Isa, to: &'static Isa, word: u64) -> Result<u64, TranslateError> {
    translate_at(from, to, word, Addresses::unknown(from, to))
}

/// Translates the words of a program. Branches within it lead to the same instructions.
///
/// # Errors
/// Returns everything that cannot be translated, each with the index of its word.
pub fn translate_words(
    from: &'static Isa,
    to: &'static Isa,
    words: &[u64],
) -> Result<Vec<u64>, Vec<(usize, TranslateError)>> {
    let (mut translated, mut errors) = (Vec::with_capacity(words.len()), Vec::new());
    for (index, word) in words.iter().enumerate() {
        match translate_at(from, to, *word, Addresses::within(from, to, index, words.len())) {
            Ok(word) => translated.push(word),
            Err(error) => errors.push((index, error)),
        }
    }
    if errors.is_empty() { Ok(translated) } else { Err(errors) }
}

fn translate_at(from: &'static Isa, to: &'static Isa, word: u64, addresses: Addresses) -> Result<u64, TranslateError> {
    let opcode = decode(from, word).map_err(|error| TranslateError::Decode { isa: from.name, error })?;
    let form = &from.forms[opcode as usize];
    let target =
        counterpart(from, to, form).ok_or(TranslateError::Instruction { isa: to.name, name: form.name.str })?;
    let builder = Builder::new(to, target);
    let mut translation = Translation { from, to, form, target: &to.forms[target as usize], word, addresses, builder };
    translation.modifiers()?;
    translation.operands()?;
    translation.finish(opcode, target)
}

/// Translates a program in the text of revision `from`.
///
/// # Errors
/// Returns the mistakes in the text, or else everything that cannot be translated, each with its line.
pub fn translate_program(from: &'static Isa, to: &'static Isa, text: &str) -> Result<Vec<u64>, Vec<ProgramError>> {
    let words = assemble(from, text)?;
    // Labels are resolved in the whole program; here it matters only which lines produce a word.
    let has_word = |line: &&(usize, &str)| !matches!(assemble(from, line.1), Ok(words) if words.is_empty());
    translate_words(from, to, &words).map_err(|errors| {
        let lines: Vec<(usize, &str)> = text.lines().enumerate().filter(|line| has_word(&line)).collect();
        let located = |(index, error): (usize, TranslateError)| {
            let (number, line) = lines.get(index).copied().unwrap_or((0, ""));
            let column = line.len() - line.trim_start().len();
            let len = line.trim().chars().count().max(1);
            ProgramError { line: number + 1, column: column + 1, len, message: error.to_string(), help: String::new() }
        };
        errors.into_iter().map(located).collect()
    })
}

/// The corresponding instruction in the other revision: of the same name, or with the same opcode bits and members if
/// each name is unknown to the other revision.
fn counterpart(from: &'static Isa, to: &'static Isa, form: &'static Form) -> Option<u16> {
    find_name(to, form.name.str.as_bytes()).or_else(|| {
        let same_bits = |f: &Form| (f.match_mask, f.match_value) == (form.match_mask, form.match_value);
        let at = to.forms.iter().position(|f| same_bits(f) && find_name(from, f.name.str.as_bytes()).is_none())?;
        same_members(from, to, form, &to.forms[at]).then_some(at as u16)
    })
}

/// Whether two instructions have operands, modifiers and suffixes of the same names in the same bits.
fn same_members(from: &'static Isa, to: &'static Isa, a: &'static Form, b: &'static Form) -> bool {
    let is_shared = |m: &&Modifier| from.shared.iter().chain(to.shared).any(|s| s.printed && s.name == m.name);
    let list =
        |m: &'static [Modifier]| m.iter().filter(|m| !is_shared(m)).map(|m| (m.name, m.bits)).collect::<Vec<_>>();
    let operand = |(x, y): (&'static Operand, &'static Operand)| {
        x.name == y.name && x.access == y.access && x.size == y.size && list(x.suffixes) == list(y.suffixes)
    };
    list(a.modifiers) == list(b.modifiers)
        && a.operands.len() == b.operands.len()
        && a.operands.iter().zip(b.operands).all(operand)
}

struct Translation {
    from: &'static Isa,
    to: &'static Isa,
    form: &'static Form,
    target: &'static Form,
    word: u64,
    addresses: Addresses,
    builder: Builder,
}

impl Translation {
    fn modifiers(&mut self) -> Result<(), TranslateError> {
        let used = self.used_shared();
        for modifier in self.form.modifiers {
            let shared = self.from.shared.iter().position(|s| s.printed && s.name == modifier.name);
            // Operands that need the shared field determine it.
            let said = shared.is_some_and(|s| used & 1 << s != 0)
                && !self.target.modifiers.iter().any(|m| m.name == modifier.name);
            if !said {
                self.modifier("", modifier, self.form.modifiers, self.target.modifiers)?;
            }
        }
        self.complete("", self.form.modifiers, self.target.modifiers)
    }

    /// The shared fields that operands use.
    fn used_shared(&self) -> u32 {
        let readings = self.form.operands.iter().filter_map(|o| match o.shape {
            Shape::One { kind, at } => {
                alternative_of(self.from, self.from.kinds[kind as usize].alternatives, at, self.word)
            }
            _ => None,
        });
        readings.fold(0, |set, a| set | a.uses)
    }

    /// Translates a modifier or suffix.
    fn modifier(
        &mut self,
        owner: &'static str,
        modifier: &'static Modifier,
        own: &'static [Modifier],
        targets: &'static [Modifier],
    ) -> Result<(), TranslateError> {
        let raw = modifier.bits.get(self.word, 0);
        let name = if owner.is_empty() { modifier.name.to_owned() } else { format!("{owner}.{}", modifier.name) };
        let text = match modifier.ty {
            Type::Enum(e) => self.from.enums[e as usize].value(raw).map_or("", |v| v.text),
            _ => modifier_text(self.from, modifier, self.word).trim_start_matches('.'),
        };
        let same_place = |m: &&Modifier| m.bits == modifier.bits && !self.named(owner, m.name);
        // Otherwise, another modifier that prints the same word for the same bits.
        let own_text = modifier_text(self.from, modifier, self.word);
        let same_text = |m: &&'static Modifier| {
            !own_text.is_empty() && !self.named(owner, m.name) && modifier_text(self.to, m, self.word) == own_text
        };
        let renamed = renamed_modifiers(self.from, self.to, own, targets);
        let renamed = renamed.iter().find(|(old, _)| old.name == modifier.name).map(|(_, new)| *new);
        let found = targets.iter().find(|m| m.name == modifier.name).or(renamed);
        let found = found.or_else(|| targets.iter().find(same_text)).or_else(|| targets.iter().find(same_place));
        let no_modifier = |name: String| {
            let value = if text.is_empty() { raw.to_string() } else { text.to_owned() };
            TranslateError::Modifier { isa: self.to.name, name: self.form.name.str, modifier: name, value }
        };
        let Some(target) = found else {
            return if modifier.default == Some(raw) { Ok(()) } else { Err(no_modifier(name)) };
        };
        let same_name = modifier.name == target.name || renamed.is_some();
        if !same_name && modifier.default == Some(raw) && target.default.is_some() {
            return Ok(());
        }
        let value = match (modifier.ty, target.ty) {
            (Type::Enum(e), Type::Enum(f)) => self.value(e, f, raw, same_name && modifier.bits == target.bits),
            (Type::Flag, Type::Flag) if same_name || same_text(&target) => Some(raw),
            _ => None,
        };
        match value.filter(|v| *v <= ones(target.bits.width())) {
            Some(value) => {
                self.builder.set_bits(target.bits, value);
                Ok(())
            }
            None if same_name => Err(self.no_value(name, text)),
            None => Err(no_modifier(name)),
        }
    }

    fn no_value(&self, field: String, text: &str) -> TranslateError {
        TranslateError::Value { isa: self.to.name, name: self.form.name.str, field, value: text.to_owned() }
    }

    /// Whether the instruction itself has a modifier (or suffix of an operand) of this name.
    fn named(&self, owner: &str, name: &str) -> bool {
        let own = self.form.operands.iter().find(|o| o.name == owner).map(|o| o.suffixes);
        own.unwrap_or(self.form.modifiers).iter().any(|m| m.name == name)
    }

    /// The corresponding value of another enum: of the same name or spelling, or with the same bits if each name is
    /// unknown to the other enum.
    fn value(&self, from: u16, to: u16, raw: u64, same_place: bool) -> Option<u64> {
        let (from, to) = (&self.from.enums[from as usize], &self.to.enums[to as usize]);
        let known = |v: &Value, e: &Enum| e.values.iter().any(|w| w.name == v.name || w.text == v.text);
        let mut own = from.values.iter().filter(|v| v.bits == raw).peekable();
        own.peek()?;
        let alike = |v: &Value| to.values.iter().find(|w| w.name == v.name || w.text == v.text);
        if let Some(named) = own.find_map(alike) {
            return Some(named.bits);
        }
        to.value(raw).filter(|v| same_place && !known(v, from)).map(|renamed| renamed.bits)
    }

    fn encode(&self, error: EncodeError) -> TranslateError {
        TranslateError::Encode { isa: self.to.name, name: self.form.name.str, error }
    }

    fn missing(&self, member: String) -> TranslateError {
        TranslateError::Missing { isa: self.to.name, name: self.form.name.str, member }
    }

    /// Checks that modifiers that only the other revision has have a default.
    fn complete(
        &self,
        owner: &str,
        own: &'static [Modifier],
        targets: &'static [Modifier],
    ) -> Result<(), TranslateError> {
        let said = |t: &Modifier| own.iter().any(|m| m.name == t.name || m.bits == t.bits);
        match targets.iter().find(|t| t.default.is_none() && !said(t)) {
            Some(t) if owner.is_empty() => Err(self.missing(t.name.to_owned())),
            Some(t) => Err(self.missing(format!("{owner}.{}", t.name))),
            None => Ok(()),
        }
    }

    fn finish(self, opcode: u16, target: u16) -> Result<u64, TranslateError> {
        // A word that already violates limits in its own revision may violate them here.
        if Builder::replacing(self.from, opcode, self.word, usize::MAX).check_limits().is_ok() {
            self.builder.check_limits().map_err(|e| self.encode(e))?;
        }
        let mut word = self.builder.word();
        if self.form.ignored == self.target.ignored {
            word |= self.word & self.form.ignored;
        }
        let failure = |error| TranslateError::Result { isa: self.to.name, name: self.form.name.str, error };
        match decode(self.to, word) {
            Ok(opcode) if opcode == target => Ok(word),
            Ok(opcode) => Err(failure(format!("it would be `{}`", word_text(self.to, opcode, word)))),
            Err(error) => Err(failure(error.to_string())),
        }
    }
}
