//! A group as bytes with known parts, and as values.

use core::fmt;

use crate::group::table::{FIELDS, GroupIsa, MAX_BYTES, Operation, Record, RegisterPlace, SLOTS, Slot, Token};

/// A valid group: its bytes and the positions of its parts.
#[derive(Clone, Copy)]
pub struct Group {
    // Eight bytes more than the longest group, so that the word of a record can be loaded at any offset.
    pub(super) bytes: [u8; MAX_BYTES + 8],
    pub(super) len: u8,
    pub(super) present: u32,
    pub(super) records: [u8; SLOTS],
    pub(super) starts: [u8; SLOTS],
}

impl Group {
    pub(super) const fn empty() -> Self {
        Group { bytes: [0; MAX_BYTES + 8], len: 0, present: 0, records: [0; SLOTS], starts: [0; SLOTS] }
    }

    /// Its bytes, including padding.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len as usize).unwrap_or_default()
    }

    /// Its length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Always false: a group has at least a header.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slots that are present, as a bit set.
    #[inline]
    pub fn present(&self) -> u32 {
        self.present
    }

    /// Whether a slot is present.
    #[inline]
    pub fn has(&self, slot: usize) -> bool {
        slot < SLOTS && self.present >> slot & 1 != 0
    }

    /// The index of the record in a slot; 0 if the slot is absent.
    #[inline]
    pub fn record_index(&self, slot: usize) -> usize {
        self.records.get(slot).copied().unwrap_or(0) as usize
    }

    /// The record in a slot.
    pub fn record<'i>(&self, isa: &'i GroupIsa, slot: usize) -> Option<&'i Record> {
        let choice = isa.choices.get(isa.slots.get(slot)?.choice as usize)?;
        if self.has(slot) { choice.records.get(self.record_index(slot)) } else { None }
    }

    /// The offset of a slot; 0 if it is absent.
    pub fn start(&self, slot: usize) -> usize {
        self.starts.get(slot).copied().unwrap_or(0) as usize
    }

    /// The record in a slot as a little-endian number; higher bits hold the bytes that follow it.
    #[inline]
    pub fn word(&self, slot: usize) -> u64 {
        self.word_at(self.start(slot))
    }

    #[inline]
    pub(super) fn word_at(&self, at: usize) -> u64 {
        match self.bytes.get(at..at + 8) {
            Some(&[a, b, c, d, e, f, g, h]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }

    /// The value of a field of a slot; the field's default if the slot is absent.
    pub fn get(&self, isa: &GroupIsa, slot: usize, field: usize) -> i64 {
        let Some(choice) = isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize)) else { return 0 };
        match self.record(isa, slot) {
            Some(record) => record.get(choice, field, self.word(slot)),
            None => choice.fields.get(field).map_or(0, |f| f.default),
        }
    }

    /// The meaning of the group.
    pub fn values(&self, isa: &GroupIsa) -> Values {
        let mut values = Values::new(isa);
        values.present = self.present;
        let mut rest = self.present;
        while rest != 0 {
            let slot = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let (Some(s), Some(record)) = (isa.slots.get(slot), self.record(isa, slot)) else { continue };
            let Some(choice) = isa.choices.get(s.choice as usize) else { continue };
            let fields = values.fields.get_mut(s.fields as usize..).unwrap_or_default();
            let mut set = |field: u8, value: i64| {
                if let Some(place) = fields.get_mut(field as usize) {
                    *place = value;
                }
            };
            record.implies.iter().for_each(|(field, value)| set(*field, *value));
            let word = self.word(slot);
            for place in record.places {
                if let Some(field) = choice.fields.get(place.field as usize) {
                    set(place.field, field.encoding.value(place.bits.get(word, 0), place.bits.width()));
                }
            }
        }
        values
    }

    /// The choices that its encoder made.
    pub fn form(&self) -> Form {
        let mut form = Form::CANONICAL;
        for slot in (0..SLOTS).filter(|slot| self.has(*slot)) {
            form.records[slot] = self.records[slot];
        }
        form.length = self.len;
        form
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}
impl Eq for Group {}

impl core::hash::Hash for Group {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Group(")?;
        for (i, byte) in self.as_bytes().iter().enumerate() {
            write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
        }
        f.write_str(")")
    }
}

/// The meaning of a group: which slots are present, and the value of every field.
///
/// Derived fields of the header, such as the phases present and the length, need not be set; encoding computes them.
#[derive(Clone, PartialEq, Eq)]
pub struct Values {
    /// The slots that are present, as a bit set.
    pub present: u32,
    fields: [i64; FIELDS],
}

impl Values {
    /// No slots, and every field at its default.
    pub fn new(isa: &GroupIsa) -> Self {
        let mut values = Values { present: 0, fields: [0; FIELDS] };
        values.fields.iter_mut().zip(isa.defaults).for_each(|(field, default)| *field = *default);
        values
    }

    /// The value of a field.
    pub fn get(&self, isa: &GroupIsa, slot: usize, field: usize) -> i64 {
        let at = isa.slots.get(slot).map_or(usize::MAX, |s| s.fields as usize + field);
        self.fields.get(at).copied().unwrap_or(0)
    }

    /// Sets a field.
    pub fn set(&mut self, isa: &GroupIsa, slot: usize, field: usize, value: i64) {
        let at = isa.slots.get(slot).map_or(usize::MAX, |s| s.fields as usize + field);
        if let Some(place) = self.fields.get_mut(at) {
            *place = value;
        }
    }

    /// The fields of a slot.
    pub fn of(&self, isa: &GroupIsa, slot: usize) -> &[i64] {
        let Some(s) = isa.slots.get(slot) else { return &[] };
        let count = isa.choices.get(s.choice as usize).map_or(0, |c| c.fields.len());
        self.fields.get(s.fields as usize..s.fields as usize + count).unwrap_or_default()
    }

    /// Whether a slot is present.
    pub fn has(&self, slot: usize) -> bool {
        slot < SLOTS && self.present >> slot & 1 != 0
    }

    /// Adds a slot.
    pub fn insert(&mut self, slot: usize) {
        if slot < SLOTS {
            self.present |= 1 << slot;
        }
    }

    /// Adds the fillers that have a value other than a default. Encoding adds the other fillers, too.
    pub(super) fn insert_fillers(&mut self, isa: &GroupIsa) {
        for slot in (0..isa.slots.len()).filter(|slot| isa.fillers >> (slot & 31) & 1 != 0) {
            let fields =
                isa.slots.get(slot).and_then(|s| isa.choices.get(s.choice as usize)).map_or(&[][..], |c| c.fields);
            if fields.iter().zip(self.of(isa, slot)).any(|(field, value)| field.default != *value) {
                self.insert(slot);
            }
        }
    }

    /// Resets the fields without meaning, in the slots that are present, to their defaults.
    pub fn without_form(mut self, isa: &GroupIsa) -> Self {
        let present = self.present;
        for (slot, s) in isa.slots.iter().enumerate().filter(|(slot, _)| present >> (slot & 31) & 1 != 0) {
            let fields = isa.choices.get(s.choice as usize).map_or(&[][..], |c| c.fields);
            for (field, f) in fields.iter().enumerate().filter(|(_, f)| f.form) {
                self.set(isa, slot, field, f.default);
            }
        }
        self
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("present", &self.present).finish_non_exhaustive()
    }
}

/// The choices of an encoder that do not affect the meaning: the record of each slot, and the length of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The record of each slot: index into the records of its choice, or [`Form::FIRST`] for the first that fits.
    pub records: [u8; SLOTS],
    /// The length in bytes; 0 for the minimum.
    pub length: u8,
}

impl Form {
    /// Selects the first record that fits.
    pub const FIRST: u8 = 0xff;
    /// The first record that fits in every slot, and no more padding than needed.
    pub const CANONICAL: Form = Form { records: [Form::FIRST; SLOTS], length: 0 };
}

impl Default for Form {
    fn default() -> Self {
        Form::CANONICAL
    }
}

/// Whether a slot contains an operation.
pub fn is(isa: &GroupIsa, operation: &Operation, slot: usize, values: &Values) -> bool {
    operation.slots >> slot & 1 != 0
        && operation.is.iter().all(|(at, field, allowed)| {
            let at = if *at == Token::OWN { slot } else { *at as usize };
            allowed.contains(&values.get(isa, at, *field as usize))
        })
}

/// Whether a place names a register in this group.
pub(crate) fn there(isa: &GroupIsa, place: &RegisterPlace, values: &Values) -> bool {
    let slot = place.slot as usize;
    values.has(slot) && (place.count.0 == Slot::NEVER || values.get(isa, slot, place.count.0.into()) >= place.count.1)
}
