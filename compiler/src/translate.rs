//! Translates instructions of one revision to another.
//!
//! [`translate`] takes a word apart by its names (mnemonic, modifiers, operands, alternatives, values) and assembles it
//! from the same names in the other revision. These count as the same:
//!
//! - **A name in both revisions**: instructions, modifiers, operands, alternatives and values of the same name mean the
//!   same, wherever their bits are. Numbers and registers keep their number, constants their value.
//! - **The same bits under another name**: an instruction with the same opcode bits and the same members; a value or a
//!   special operand in the same bits of the same instruction. The old name must be unknown to the new revision and the
//!   new name to the old one; otherwise the bits were reused for something else.
//! - **The same bits with the same text**: a modifier under another name that prints the same word.
//!
//! Everything else is rejected, and the error names what the other revision cannot express. The result is verified by
//! decoding it.

pub mod streams;

use isaforge_core::bits::{ones, sign_extend};
use isaforge_core::decode::{alternative_of, decode, list_len};
use isaforge_core::encode::{Builder, number_range};
use isaforge_core::error::{DecodeError, EncodeError};
use isaforge_core::parse::{MAX_FIELDS, find_name};
use isaforge_core::program::{ProgramError, assemble};
use isaforge_core::table::{Alternative, Enum, Field, Form, Isa, Modifier, Operand, Shape, Type, Value};

use crate::diff::{modifier_text, operand_text, word_text};

/// Why a word has no translation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// The word is not an instruction of the source revision.
    #[error("not an instruction of {isa}: {error}")]
    Decode {
        /// The revision.
        isa: &'static str,
        /// What is wrong with the word.
        error: DecodeError,
    },
    /// The other revision has no such instruction.
    #[error("{isa} has no instruction `{name}`")]
    Instruction {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
    },
    /// The other revision's instruction has no such modifier, and it is not at its default.
    #[error("{isa} has no modifier `{modifier}` for `{name}`, which is `{value}` here")]
    Modifier {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier; for one of an operand, `operand.modifier`.
        modifier: String,
        /// Its value.
        value: String,
    },
    /// The other revision has the modifier or field, but no such value of it.
    #[error("{isa} has no value `{value}` for `{field}` of `{name}`")]
    Value {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier, or `operand.field`.
        field: String,
        /// The value.
        value: String,
    },
    /// The other revision's instruction has no such operand, or one of another type.
    #[error("{isa} has no such operand `{operand}` for `{name}`")]
    Operand {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The operand.
        operand: &'static str,
    },
    /// The operand has no such alternative in the other revision.
    #[error("{isa} has no `{text}` ({reading}) for the operand `{operand}` of `{name}`")]
    Reading {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The operand.
        operand: &'static str,
        /// The alternative.
        reading: &'static str,
        /// The operand as written in the source revision.
        text: String,
    },
    /// The other revision's instruction requires a member that the source instruction does not have.
    #[error("{isa} needs `{member}` for `{name}`, which is not given here")]
    Missing {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// The modifier or operand.
        member: String,
    },
    /// All parts can be expressed, but not in combination.
    #[error("{isa} cannot have all of this in one `{name}`: {error}")]
    Encode {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// Which parts cannot be combined.
        error: EncodeError,
    },
    /// The resulting word does not decode to the expected instruction.
    #[error("{isa} cannot have all of this in one `{name}`: {error}")]
    Result {
        /// The other revision.
        isa: &'static str,
        /// The mnemonic.
        name: &'static str,
        /// What is wrong.
        error: String,
    },
}

/// Returns the word of revision `to` that means the same as `word` in revision `from`.
///
/// # Errors
/// Returns the first thing that the other revision cannot express, by name.
pub fn translate(from: &'static Isa, to: &'static Isa, word: u64) -> Result<u64, TranslateError> {
    let opcode = decode(from, word).map_err(|error| TranslateError::Decode { isa: from.name, error })?;
    let form = &from.forms[opcode as usize];
    let target =
        counterpart(from, to, form).ok_or(TranslateError::Instruction { isa: to.name, name: form.name.str })?;
    let mut translation =
        Translation { from, to, form, target: &to.forms[target as usize], word, builder: Builder::new(to, target) };
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
    let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let mut lines = lines.iter().filter(has_word);
    let mut errors = Vec::new();
    let mut translated = Vec::with_capacity(words.len());
    for word in words {
        let (number, line) = lines.next().copied().unwrap_or((0, ""));
        match translate(from, to, word) {
            Ok(word) => translated.push(word),
            Err(error) => {
                let column = line.len() - line.trim_start().len();
                let len = line.trim().chars().count().max(1);
                let message = error.to_string();
                errors.push(ProgramError { line: number + 1, column: column + 1, len, message, help: String::new() });
            }
        }
    }
    if errors.is_empty() { Ok(translated) } else { Err(errors) }
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
                self.modifier("", modifier, self.target.modifiers)?;
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
        let found = targets.iter().find(|m| m.name == modifier.name);
        let found = found.or_else(|| targets.iter().find(same_text)).or_else(|| targets.iter().find(same_place));
        let Some(target) = found else {
            if modifier.default == Some(raw) {
                return Ok(());
            }
            let value = if text.is_empty() { raw.to_string() } else { text.to_owned() };
            return Err(TranslateError::Modifier {
                isa: self.to.name,
                name: self.form.name.str,
                modifier: name,
                value,
            });
        };
        let same_name = modifier.name == target.name;
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
            None => Err(self.no_value(name, text)),
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

    fn operands(&mut self) -> Result<(), TranslateError> {
        for operand in self.form.operands {
            let found = self.target.operands.iter().position(|o| o.name == operand.name);
            let no_operand =
                TranslateError::Operand { isa: self.to.name, name: self.form.name.str, operand: operand.name };
            let Some(index) = found else { return Err(no_operand) };
            let target = &self.target.operands[index];
            match (&operand.shape, &target.shape) {
                (Shape::One { kind, at }, Shape::One { kind: k, at: a }) => {
                    self.reading(operand, (*kind, *at), index, (*k, *a))?
                }
                (Shape::List { kind, at, count, .. }, Shape::List { .. }) => {
                    let first = self.from.kinds[*kind as usize].alternatives.first().and_then(|a| a.fields.first());
                    let first = first.map_or(0, |f| f.bits.get(self.word, *at));
                    let count = u64::from(list_len(count, self.word));
                    self.builder.set_list(index, first, count).map_err(|e| self.encode(e))?;
                }
                (Shape::Number { bits, ty, target: counts, .. }, Shape::Number { bits: b, ty: t, target: c, .. }) => {
                    if counts != c {
                        return Err(no_operand);
                    }
                    let raw = bits.get(self.word, 0);
                    if bits.width() == 64 && b.width() == 64 && ty == t {
                        self.builder.set_whole(index, raw).map_err(|e| self.encode(e))?;
                    } else {
                        let value = if *ty == Type::Signed {
                            sign_extend(raw, bits.width())
                        } else {
                            i64::try_from(raw).unwrap_or(-1)
                        };
                        let (least, greatest) = number_range(*t, b.width());
                        if !(least..=greatest).contains(&value) {
                            return Err(
                                self.no_value(operand.name.to_owned(), &operand_text(self.from, operand, self.word))
                            );
                        }
                        self.builder.set_number(index, value).map_err(|e| self.encode(e))?;
                    }
                }
                _ => return Err(no_operand),
            }
            for suffix in operand.suffixes {
                self.modifier(operand.name, suffix, target.suffixes)?;
            }
            self.complete(operand.name, operand.suffixes, target.suffixes)?;
        }
        let missing = self.target.operands.iter().find(|o| self.form.operands.iter().all(|p| p.name != o.name));
        match missing {
            Some(o) => Err(self.missing(o.name.to_owned())),
            None => Ok(()),
        }
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

    fn reading(
        &mut self,
        operand: &'static Operand,
        (kind, at): (u16, u8),
        index: usize,
        (target_kind, target_at): (u16, u8),
    ) -> Result<(), TranslateError> {
        let (kind, target_kind) = (&self.from.kinds[kind as usize], &self.to.kinds[target_kind as usize]);
        let text = operand_text(self.from, operand, self.word);
        let refused = |reading| {
            let (isa, name, operand) = (self.to.name, self.form.name.str, operand.name);
            TranslateError::Reading { isa, name, operand, reading, text: text.clone() }
        };
        let Some(own) = alternative_of(self.from, kind.alternatives, at, self.word) else { return Err(refused("")) };
        let single = kind.alternatives.len() == 1 && target_kind.alternatives.len() == 1;
        let named = target_kind.alternatives.iter().position(|a| a.name == own.name || single);
        let by_name = named.and_then(|i| Some((i, self.fields(own, at, &target_kind.alternatives[i])?)));
        let found = by_name.or_else(|| {
            let here = (kind.alternatives, own, at);
            if at == target_at { self.same_bits(here, target_kind.alternatives) } else { None }
        });
        let Some((alternative, values)) = found else { return Err(refused(own.name)) };
        self.builder.set_operand(index, alternative, &values).map_err(|e| match e {
            EncodeError::OutOfRange { .. } => refused(own.name),
            other => self.encode(other),
        })
    }

    /// The values of an alternative's fields, for the alternative of the same name.
    fn fields(&self, own: &Alternative, at: u8, target: &Alternative) -> Option<[u64; MAX_FIELDS]> {
        let mut values = [0; MAX_FIELDS];
        if own.fields.len() != target.fields.len() {
            return None;
        }
        let alone = own.fields.len() == 1;
        for (slot, field) in values.iter_mut().zip(target.fields) {
            let source = own.fields.iter().find(|f| f.name == field.name || alone)?;
            *slot = self.field(source, source.bits.get(self.word, at), field)?;
        }
        Some(values)
    }

    fn field(&self, source: &Field, raw: u64, target: &Field) -> Option<u64> {
        match (source.ty, target.ty) {
            (Type::Enum(e), Type::Enum(f)) => self.value(e, f, raw, false),
            (Type::Constant(c), Type::Constant(d)) => {
                let value = self.from.constants[c as usize].values.get(raw as usize)?.value;
                let others = self.to.constants[d as usize].values;
                // Prefers the same index in the table if it holds the same value, so that duplicates stay distinct.
                let same = others.get(raw as usize).filter(|c| c.value == value).map(|_| raw);
                same.or_else(|| others.iter().position(|c| c.value == value).map(|i| i as u64))
            }
            (Type::Signed, Type::Signed) => {
                let value = sign_extend(raw, source.bits.width());
                (sign_extend(value as u64, target.bits.width()) == value)
                    .then_some(value as u64 & ones(target.bits.width()))
            }
            (Type::Signed, _) | (_, Type::Signed) => None,
            (Type::Enum(_) | Type::Constant(_), _) | (_, Type::Enum(_) | Type::Constant(_)) => None,
            (Type::Register(_), Type::Register(_))
            | (Type::Decimal | Type::Hex | Type::Flag, Type::Decimal | Type::Hex | Type::Flag) => {
                (raw <= ones(target.bits.width())).then_some(raw)
            }
            _ => None,
        }
    }

    /// The alternative with the same bits, if both have a named value, and the names agree or each is unknown to the
    /// other revision.
    fn same_bits(
        &self,
        (alternatives, own, at): (&'static [Alternative], &'static Alternative, u8),
        targets: &'static [Alternative],
    ) -> Option<(usize, [u64; MAX_FIELDS])> {
        let other = alternative_of(self.to, targets, at, self.word)?;
        let names: Vec<_> = value_names(self.from, own, self.word, at).collect();
        let others: Vec<_> = value_names(self.to, other, self.word, at).collect();
        // A word of a pair may be part of the name in one revision, and a field in the other.
        let agree = names.iter().any(|name| others.contains(name));
        let (name, other_name) = (names.first()?, others.first()?);
        let renamed = !knows(self.to, targets, name) && !knows(self.from, alternatives, other_name);
        if !agree && !renamed {
            return None;
        }
        let index = targets.iter().position(|a| std::ptr::eq(a, other))?;
        let mut values = [0; MAX_FIELDS];
        for (slot, field) in values.iter_mut().zip(other.fields) {
            *slot = field.bits.get(self.word, at);
        }
        Some((index, values))
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

/// The names of the value that an alternative holds, if it holds a named value.
fn value_names(
    isa: &'static Isa,
    alternative: &'static Alternative,
    word: u64,
    at: u8,
) -> impl Iterator<Item = &'static str> {
    let named = alternative.fields.iter().find_map(|f| match f.ty {
        Type::Enum(e) => Some((&isa.enums[e as usize], f.bits.get(word, at))),
        _ => None,
    });
    named.into_iter().flat_map(|(e, bits)| e.values.iter().filter(move |v| v.bits == bits).map(|v| v.text))
}

/// Whether some alternative can hold a value of this name.
fn knows(isa: &'static Isa, alternatives: &[Alternative], name: &str) -> bool {
    let enums = alternatives.iter().flat_map(|a| a.fields).filter_map(|f| match f.ty {
        Type::Enum(e) => Some(&isa.enums[e as usize]),
        _ => None,
    });
    enums.flat_map(|e| e.values).any(|v| v.text == name || v.name == name)
}
