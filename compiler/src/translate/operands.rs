//! Operands: the same alternative with the same values, by name or by bits.

use isaforge_core::bits::{ones, sign_extend};
use isaforge_core::decode::{alternative_of, list_len};
use isaforge_core::encode::number_range;
use isaforge_core::error::EncodeError;
use isaforge_core::parse::MAX_FIELDS;
use isaforge_core::table::{Alternative, Field, Isa, Operand, Shape, Type};

use super::{TranslateError, Translation};
use crate::diff::{leads, operand_text, renamed_alternative, renamed_fields, renamed_operands};

impl Translation {
    pub(super) fn operands(&mut self) -> Result<(), TranslateError> {
        let renamed = renamed_operands(self.from, self.to, self.form, self.target);
        for operand in self.form.operands {
            let name = renamed.iter().find(|(o, _)| o.name == operand.name).map_or(operand.name, |(_, new)| new.name);
            let found = self.target.operands.iter().position(|o| o.name == name);
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
                (Shape::Number { bits, ty, .. }, Shape::Number { bits: b, ty: t, .. }) => {
                    let raw = bits.get(self.word, 0);
                    if bits.width() == 64 && b.width() == 64 && ty == t && leads(operand) == leads(target) {
                        self.builder.set_whole(index, raw).map_err(|e| self.encode(e))?;
                    } else {
                        let no_value =
                            || self.no_value(operand.name.to_owned(), &operand_text(self.from, operand, self.word));
                        let value = match ty {
                            Type::Signed => sign_extend(raw, bits.width()),
                            _ => i64::try_from(raw).map_err(|_| no_value())?,
                        };
                        let value = match (leads(operand), leads(target)) {
                            (Some(counts), Some(other)) => {
                                let address = self.addresses.address(counts, value);
                                let (name, operand) = (self.form.name.str, operand.name);
                                let branch = TranslateError::Branch { name, operand, address };
                                let moved = self.addresses.moved(address).ok_or(branch)?;
                                // The address of the word matters if only one of them counts from it.
                                self.addresses.number(counts, other, moved).ok_or_else(no_value)?
                            }
                            _ => value,
                        };
                        let (least, greatest) = number_range(*t, b.width());
                        if !(least..=greatest).contains(&value) {
                            return Err(no_value());
                        }
                        self.builder.set_number(index, value).map_err(|e| self.encode(e))?;
                    }
                }
                _ => return Err(no_operand),
            }
            for suffix in operand.suffixes {
                self.modifier(operand.name, suffix, operand.suffixes, target.suffixes)?;
            }
            self.complete(operand.name, operand.suffixes, target.suffixes)?;
        }
        let given = |o: &Operand| {
            self.form.operands.iter().chain(renamed.iter().map(|(_, new)| *new)).any(|p| p.name == o.name)
        };
        let missing = self.target.operands.iter().find(|o| !given(o));
        match missing {
            Some(o) => Err(self.missing(o.name.to_owned())),
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
        let named = named.or_else(|| renamed_alternative((self.from, kind), (self.to, target_kind), own));
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
    fn fields(&self, own: &'static Alternative, at: u8, target: &'static Alternative) -> Option<[u64; MAX_FIELDS]> {
        let mut values = [0; MAX_FIELDS];
        if own.fields.len() != target.fields.len() {
            return None;
        }
        let alone = own.fields.len() == 1;
        let renamed = renamed_fields(self.from, self.to, own, target);
        for (slot, field) in values.iter_mut().zip(target.fields) {
            let is_old = |f: &&Field| f.name == field.name || alone || renamed.contains(&(f.name, field.name));
            let source = own.fields.iter().find(is_old)?;
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
}

/// The names of the value that an alternative holds, if it holds a named value.
fn value_names(
    isa: &'static Isa,
    alternative: &'static Alternative,
    word: u64,
    at: u8,
) -> impl Iterator<Item = &'static str> {
    let named = alternative.fields.iter().find_map(|f| Some((isa.enum_of(f.ty)?, f.bits.get(word, at))));
    named.into_iter().flat_map(|(e, bits)| e.values.iter().filter(move |v| v.bits == bits).map(|v| v.text))
}

/// Whether some alternative can hold a value of this name.
fn knows(isa: &'static Isa, alternatives: &[Alternative], name: &str) -> bool {
    let enums = alternatives.iter().flat_map(|a| a.fields).filter_map(|f| isa.enum_of(f.ty));
    enums.flat_map(|e| e.values).any(|v| v.text == name || v.name == name)
}
