//! One record: reading and writing its fields.

use crate::bits::{Bits, ones};
use crate::group::table::{Choice, Record, Type};

/// What a record can do for a field.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// It has bits for it.
    Bits(Bits),
    /// It says its value without bits.
    Value(i64),
}

/// Why a record cannot say what is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The field, an index into [`Choice::fields`].
    pub field: u8,
    /// Its value.
    pub value: i64,
}

impl Record {
    /// What this record of `choice` holds of a field.
    pub fn holds(&self, choice: &Choice, field: usize) -> Holds {
        if let Some(place) = self.places.iter().find(|p| p.field as usize == field) {
            return Holds::Bits(place.bits);
        }
        match self.implies.iter().find(|(f, _)| *f as usize == field) {
            Some((_, value)) => Holds::Value(*value),
            None => Holds::Value(choice.fields.get(field).map_or(0, |f| f.default)),
        }
    }

    /// The value of a field in a `word` of this record.
    pub fn get(&self, choice: &Choice, field: usize, word: u64) -> i64 {
        match self.holds(choice, field) {
            Holds::Value(value) => value,
            Holds::Bits(bits) => match choice.fields.get(field) {
                Some(f) => f.encoding.value(bits.get(word, 0), bits.width()),
                None => 0,
            },
        }
    }

    /// True when the constant bits are there.
    #[inline]
    pub fn matches(&self, word: u64) -> bool {
        word & self.mask == self.value
    }

    /// The first field of a word of this record that holds a reserved value, with the bits it holds.
    #[inline]
    pub fn reserved(&self, word: u64) -> Option<(u8, u64)> {
        self.checks
            .iter()
            .map(|c| (c, c.bits.get(word, 0)))
            .find(|(c, v)| *v > 63 || c.allowed >> v & 1 == 0)
            .map(|(c, v)| (c.field, v))
    }

    /// The bits of a field with this value; `None` when the record cannot hold it there.
    pub fn stored(&self, choice: &Choice, field: usize, bits: &Bits, value: i64) -> Option<u64> {
        let f = choice.fields.get(field)?;
        let stored = f.encoding.stored(value, bits.width())?;
        let allowed = self.checks.iter().find(|c| c.field as usize == field);
        allowed.is_none_or(|c| stored < 64 && c.allowed >> stored & 1 != 0).then_some(stored)
    }

    /// Writes all fields of the choice, whose values are `values`, except those in the bit set `skip`.
    ///
    /// # Errors
    /// The first field that the record cannot say.
    pub fn build(&self, choice: &Choice, values: &[i64], skip: u64) -> Result<u64, Misfit> {
        let mut word = self.value;
        for (field, f) in choice.fields.iter().enumerate() {
            if skip >> field & 1 != 0 {
                continue;
            }
            let value = values.get(field).copied().unwrap_or(f.default);
            let fits = match self.holds(choice, field) {
                Holds::Value(known) => known == value || f.form || self.says.contains(&(field as u8)),
                Holds::Bits(bits) => match self.stored(choice, field, &bits, value) {
                    Some(stored) => {
                        word = bits.set(word, 0, stored);
                        true
                    }
                    None => false,
                },
            };
            if !fits {
                return Err(Misfit { field: field as u8, value });
            }
        }
        Ok(word)
    }

    /// All bits of the record.
    pub fn all_bits(&self) -> u64 {
        ones(u32::from(self.bytes) * 8)
    }
}

/// The values that a field may have, as far as its type says: `None` for any.
pub fn named(ty: Type) -> Option<u16> {
    match ty {
        Type::Enum(index) => Some(index),
        _ => None,
    }
}
