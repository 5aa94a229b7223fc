//! Reads and writes the fields of a single record.

use crate::bits::Bits;
use crate::group::table::{Choice, GroupIsa, Place, Record, Type};

/// How a record represents a field.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// In these bits.
    Bits(Bits),
    /// As a constant, without bits.
    Value(i64),
}

impl Place {
    /// Whether these bits are a valid value of the field.
    #[inline]
    pub fn allows(&self, stored: u64) -> bool {
        self.allowed == u64::MAX || stored < 64 && self.allowed >> stored & 1 != 0
    }

    /// Whether the field can hold this value here.
    pub fn holds(&self, choice: &Choice, value: i64) -> bool {
        let field = choice.fields.get(self.field as usize);
        field.and_then(|f| f.encoding.stored(value, self.bits.width())).is_some_and(|stored| self.allows(stored))
    }
}

/// A field that a record cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The field: index into [`Choice::fields`].
    pub field: u8,
    /// Its value.
    pub value: i64,
}

impl Record {
    /// How this record of `choice` represents a field.
    pub fn holds(&self, choice: &Choice, field: usize) -> Holds {
        if let Some(place) = self.places.iter().find(|p| p.field as usize == field) {
            return Holds::Bits(place.bits);
        }
        match self.implies.iter().find(|(f, _)| *f as usize == field) {
            Some((_, value)) => Holds::Value(*value),
            None => Holds::Value(choice.fields.get(field).map_or(0, |f| f.default)),
        }
    }

    /// Whether it has a field, in bits or as an implied value; otherwise the field has its default.
    pub fn has(&self, field: u8) -> bool {
        self.places.iter().any(|place| place.field == field)
            || self.implies.iter().any(|(implied, _)| *implied == field)
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

    /// Whether the constant bits match.
    #[inline]
    pub fn matches(&self, word: u64) -> bool {
        word & self.mask == self.value
    }

    /// The first field in a word of this record that has a reserved value, and its bits.
    #[inline]
    pub fn reserved(&self, word: u64) -> Option<(u8, u64)> {
        self.checks
            .iter()
            .map(|c| (c, c.bits.get(word, 0)))
            .find(|(c, v)| *v > 63 || c.allowed >> v & 1 == 0)
            .map(|(c, v)| (c.field, v))
    }

    /// The same as [`build`](Record::build), without the reason for a failure.
    #[inline]
    pub fn try_build(&self, choice: &Choice, values: &[i64], skip: u64) -> Option<u64> {
        let skipped = |field: u8| field < 64 && skip >> field & 1 != 0;
        for (field, needed) in self.needs {
            if values.get(*field as usize) != Some(needed) && !skipped(*field) {
                return None;
            }
        }
        let mut word = self.value;
        for place in self.places {
            if skipped(place.field) {
                continue;
            }
            let field = choice.fields.get(place.field as usize)?;
            let stored = field.encoding.stored(*values.get(place.field as usize)?, place.bits.width())?;
            if !place.allows(stored) {
                return None;
            }
            word = place.bits.set(word, 0, stored);
        }
        Some(word)
    }

    /// Encodes all fields of the choice, which have the given `values`, except those in the bit set `skip`.
    ///
    /// # Errors
    /// The first field that the record cannot hold.
    pub fn build(&self, choice: &Choice, values: &[i64], skip: u64) -> Result<u64, Misfit> {
        let skipped = |field: u8| field < 64 && skip >> field & 1 != 0;
        let value = |field: u8| values.get(field as usize).copied().unwrap_or(0);
        // Report the first field that does not fit.
        let mut misfit: Option<Misfit> = None;
        let mut worse = |field: u8, value: i64| {
            if misfit.is_none_or(|m| field < m.field) {
                misfit = Some(Misfit { field, value });
            }
        };
        for (field, needed) in self.needs {
            if value(*field) != *needed && !skipped(*field) {
                worse(*field, value(*field));
            }
        }
        let mut word = self.value;
        for place in self.places {
            if skipped(place.field) {
                continue;
            }
            let (width, wanted) = (place.bits.width(), value(place.field));
            let stored = choice.fields.get(place.field as usize).and_then(|f| f.encoding.stored(wanted, width));
            match stored.filter(|s| place.allows(*s)) {
                Some(stored) => word = place.bits.set(word, 0, stored),
                None => worse(place.field, wanted),
            }
        }
        match misfit {
            None => Ok(word),
            Some(misfit) => Err(misfit),
        }
    }
}

/// Whether some record can hold a value in a field.
pub(super) fn fits(isa: &GroupIsa, slot: usize, field: usize, value: i64) -> bool {
    let Some(choice) = isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize)) else { return false };
    let held = |r: &Record| {
        if r.says.iter().any(|f| *f as usize == field) {
            return true;
        }
        let mut places = r.places.iter().filter(|p| p.field as usize == field);
        places.any(|p| p.holds(choice, value))
    };
    isa.default_of(slot, field) == value || choice.records.iter().any(held)
}

/// The enum that names the values of a field; `None` when its type has none.
pub fn named(ty: Type) -> Option<u16> {
    match ty {
        Type::Enum(index) => Some(index),
        _ => None,
    }
}
