//! Puts values into a word and keeps it a valid instruction.

use crate::bits::{fits_signed, ones};
use crate::decode::{alternative_of, list_len};
use crate::error::EncodeError;
use crate::table::{Alternative, Form, Isa, Operand, Shape, Shared, Type};

/// A word under construction.
///
/// # Examples
///
/// ```
/// use isaforge_core::encode::Builder;
/// use isaforge_vpu::{ISA, MultiplyHiInt16u};
///
/// // Every operand at zero and every modifier at its default; generated types fill in the rest.
/// let builder = Builder::new(ISA, MultiplyHiInt16u::OPCODE as u16);
/// assert_eq!(isaforge_core::decode::lookup(ISA, builder.word())?, MultiplyHiInt16u::OPCODE as u16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    isa: &'static Isa,
    opcode: u16,
    word: u64,
    /// Shared fields whose value is decided.
    used: u32,
    /// Shared fields whose value an operand has decided.
    needed: u32,
}

impl Builder {
    /// Starts a word with every modifier at its default (0 where it has none) and all operand bits clear.
    pub fn new(isa: &'static Isa, opcode: u16) -> Self {
        let form = &isa.forms[opcode as usize];
        // Where the instruction fixes a shared field, operands must agree with that value.
        let fixed = |shared: &Shared| shared.bits.mask(0) & form.fixed_mask != 0;
        let used =
            isa.shared.iter().enumerate().filter(|(_, shared)| fixed(shared)).fold(0, |used, (i, _)| used | 1 << i);
        Builder { isa, opcode, word: form.initial, used, needed: used }
    }

    /// Starts from a valid word whose operand `index` will be replaced. The other operands keep their values of shared
    /// fields.
    pub fn replacing(isa: &'static Isa, opcode: u16, word: u64, index: usize) -> Self {
        let form = &isa.forms[opcode as usize];
        let mut builder = Builder { isa, opcode, word, used: 0, needed: 0 };
        for (i, operand) in form.operands.iter().enumerate() {
            if let (true, Shape::One { kind, at }) = (i != index, &operand.shape) {
                let alternatives = isa.kinds[*kind as usize].alternatives;
                builder.used |= alternative_of(isa, alternatives, *at, word).map_or(0, |a| a.uses);
            }
        }
        let fixed = isa.shared.iter().enumerate().filter(|(_, s)| s.bits.mask(0) & form.fixed_mask != 0);
        builder.used |= fixed.fold(0, |set, (i, _)| set | 1 << i);
        for (i, shared) in isa.shared.iter().enumerate() {
            if !shared.printed && builder.used & 1 << i == 0 && shared.bits.mask(0) & form.fixed_mask == 0 {
                builder.word = shared.bits.set(builder.word, 0, shared.default);
            }
        }
        builder
    }

    /// Fixes the current values of the shared fields that print as modifiers: operands set later must agree with them.
    pub fn pin_printed(&mut self) {
        for (i, _) in self.isa.shared.iter().enumerate().filter(|(_, s)| s.printed) {
            self.used |= 1 << i;
        }
    }

    /// Fixes the value of a shared field: operands set later must agree with it.
    ///
    /// # Errors
    /// When the field already has another fixed value.
    pub fn pin(&mut self, shared: usize, value: u64) -> Result<(), EncodeError> {
        let Some(field) = self.isa.shared.get(shared) else { return Ok(()) };
        let settled = field.bits.get(self.word, 0);
        if self.used & 1 << shared != 0 && settled != value {
            return Err(EncodeError::Conflict { field: field.name, first: settled, second: value });
        }
        self.used |= 1 << shared;
        self.word = field.bits.set(self.word, 0, value);
        Ok(())
    }

    /// Checks that every pinned shared field that no operand uses has its default.
    ///
    /// # Errors
    /// The first field that does not.
    pub fn check_pins(&self) -> Result<(), EncodeError> {
        let unneeded = |i: usize| (self.used & !self.needed) & 1 << i != 0;
        for (_, field) in self.isa.shared.iter().enumerate().filter(|(i, field)| unneeded(*i) && !field.printed) {
            let (first, second) = (field.bits.get(self.word, 0), field.default);
            if first != second {
                return Err(EncodeError::Conflict { field: field.name, first, second });
            }
        }
        Ok(())
    }

    /// The form being built.
    pub fn form(&self) -> &'static Form {
        &self.isa.forms[self.opcode as usize]
    }

    /// The word so far.
    pub fn word(&self) -> u64 {
        self.word
    }

    /// Sets a field of the word to raw bits.
    pub fn set_bits(&mut self, bits: crate::bits::Bits, value: u64) {
        self.word = bits.set(self.word, 0, value);
    }

    /// Sets an operand to the reading `alternative` of its kind with these field values, in the order of its fields.
    ///
    /// # Errors
    /// When a value does not fit, or another operand needs another value of a shared field.
    pub fn set_operand(&mut self, index: usize, alternative: usize, values: &[u64]) -> Result<(), EncodeError> {
        let operand = self.form().operands.get(index).ok_or(EncodeError::NoSuchOperand)?;
        let Shape::One { kind, at } = &operand.shape else { return Err(EncodeError::NoSuchOperand) };
        let kind = &self.isa.kinds[*kind as usize];
        let chosen = kind.alternatives.get(alternative).ok_or(EncodeError::NoSuchOperand)?;
        let before = self.word;
        let word = place(self.isa, chosen, *at, before, values)?;
        for (i, shared) in self.isa.shared.iter().enumerate() {
            if chosen.uses & self.used & 1 << i != 0 {
                let (first, second) = (shared.bits.get(before, 0), shared.bits.get(word, 0));
                if first != second {
                    return Err(EncodeError::Conflict { field: shared.name, first, second });
                }
            }
        }
        self.used |= chosen.uses;
        self.needed |= chosen.uses;
        self.word = word;
        Ok(())
    }

    /// Sets a list operand to `count` registers from `first`.
    ///
    /// # Errors
    /// When the count, the last register or the alignment is invalid.
    pub fn set_list(&mut self, index: usize, first: u64, count: u64) -> Result<(), EncodeError> {
        let operand = self.form().operands.get(index).ok_or(EncodeError::NoSuchOperand)?;
        self.word = place_list(self.isa, operand, self.word, first, count)?;
        Ok(())
    }

    /// Sets a number operand.
    ///
    /// # Errors
    /// When the value does not fit.
    pub fn set_number(&mut self, index: usize, value: i64) -> Result<(), EncodeError> {
        let operand = self.form().operands.get(index).ok_or(EncodeError::NoSuchOperand)?;
        let Shape::Number { bits, ty, .. } = &operand.shape else { return Err(EncodeError::NoSuchOperand) };
        let (least, greatest) = number_range(*ty, bits.width());
        if value < least || value > greatest {
            return Err(EncodeError::OutOfRange { field: operand.name, least, greatest });
        }
        self.word = bits.set(self.word, 0, value as u64);
        Ok(())
    }

    /// Sets a number operand of 64 bits.
    ///
    /// # Errors
    /// When there is no such operand.
    pub fn set_whole(&mut self, index: usize, value: u64) -> Result<(), EncodeError> {
        let operand = self.form().operands.get(index).ok_or(EncodeError::NoSuchOperand)?;
        let Shape::Number { bits, .. } = &operand.shape else { return Err(EncodeError::NoSuchOperand) };
        self.word = bits.set(self.word, 0, value);
        Ok(())
    }

    /// Checks the rules of [`Isa::limits`], which apply to assembly and builders but not to decoding.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn check_limits(&self) -> Result<(), EncodeError> {
        check_limits(self.isa, self.form(), self.word)
    }
}

/// Puts an operand, in the given reading and with these field values, into a word.
pub(crate) fn place(isa: &Isa, chosen: &Alternative, at: u8, word: u64, values: &[u64]) -> Result<u64, EncodeError> {
    let mut word = (word & !(chosen.mask << at)) | (chosen.value << at);
    for &(shared, value) in chosen.when {
        word = isa.shared[shared as usize].bits.set(word, 0, value);
    }
    for (field, &value) in chosen.fields.iter().zip(values) {
        let width = field.bits.width();
        let greatest = greatest(isa, field.ty, width);
        if value > greatest {
            let (least, greatest) = match field.ty {
                Type::Signed => number_range(field.ty, width),
                _ => (0, greatest as i64),
            };
            return Err(EncodeError::OutOfRange { field: field.name, least, greatest });
        }
        word = field.bits.set(word, at, value);
    }
    Ok(word)
}

/// Puts a list of registers into a word.
pub(crate) fn place_list(isa: &Isa, operand: &Operand, word: u64, first: u64, count: u64) -> Result<u64, EncodeError> {
    let Shape::List { kind, at, count: c, align, .. } = &operand.shape else {
        return Err(EncodeError::NoSuchOperand);
    };
    let field = &isa.kinds[*kind as usize].alternatives[0].fields[0];
    let (least, greatest) = list_lengths_in(operand, word);
    if count < least as u64 || count > greatest as u64 {
        let field = if c.is_given() { operand.name } else { c.name };
        return Err(EncodeError::OutOfRange { field, least: least as i64, greatest: greatest as i64 });
    }
    if count > 1 && !first.is_multiple_of(*align as u64) {
        return Err(EncodeError::Alignment { field: operand.name, align: *align });
    }
    let last = greatest_register(isa, field.ty);
    if count > 0 && first + count - 1 > last {
        return Err(EncodeError::OutOfRange { field: operand.name, least: 0, greatest: last as i64 });
    }
    let word = field.bits.set(word, *at, if count == 0 { 0 } else { first });
    let counter = c.bits.filter(|_| !c.is_given());
    Ok(counter.map_or(word, |bits| bits.set(word, 0, count - c.plus as u64)))
}

/// Checks the rules of [`Isa::limits`].
pub(crate) fn check_limits(isa: &Isa, form: &Form, word: u64) -> Result<(), EncodeError> {
    // The operands that a rule may count: their kinds, readings (as a bit) and bits.
    let mut kinds = [0u16; 16];
    let mut readings = [0u32; 16];
    let mut values = [0u64; 16];
    let mut count = 0;
    for operand in form.operands {
        let Shape::One { kind: index, at } = operand.shape else { continue };
        let kind = &isa.kinds[index as usize];
        let raw = (word >> at) & ones(kind.width as u32);
        if raw & kind.limited_mask != kind.limited_value || count == values.len() {
            continue;
        }
        if let Some(reading) = kind.alternatives.iter().position(|a| {
            raw & a.mask == a.value && a.when.iter().all(|&(s, v)| isa.shared[s as usize].bits.get(word, 0) == v)
        }) {
            (kinds[count], readings[count], values[count]) = (index, 1 << reading, raw);
            count += 1;
        }
    }
    for (limit, &at_most) in isa.limits.iter().zip(form.limits) {
        let counts = |i: &usize| kinds[*i] == limit.kind && readings[*i] & limit.alternatives != 0;
        let same = |i: usize, j: usize| values[i] >> limit.drop == values[j] >> limit.drop;
        let is_new = |i: &usize| counts(i) && !(0..*i).any(|j| counts(&j) && same(*i, j));
        if count > at_most as usize && (0..count).filter(is_new).count() > at_most as usize {
            return Err(EncodeError::Limit { name: limit.name, at_most });
        }
    }
    Ok(())
}

/// The greatest raw value of a field of this type.
pub(crate) fn greatest(isa: &Isa, ty: Type, width: u32) -> u64 {
    match ty {
        Type::Register(_) => greatest_register(isa, ty).min(ones(width)),
        Type::Constant(c) => (isa.constants[c as usize].values.len() as u64).saturating_sub(1).min(ones(width)),
        _ => ones(width),
    }
}

fn greatest_register(isa: &Isa, ty: Type) -> u64 {
    match ty {
        Type::Register(bank) => (isa.banks[bank as usize].count as u64).saturating_sub(1),
        _ => u64::MAX,
    }
}

/// The least and greatest value of a number operand.
pub fn number_range(ty: Type, width: u32) -> (i64, i64) {
    match ty {
        Type::Signed => (-1i64 << (width - 1), (ones(width) >> 1) as i64),
        _ => (0, ones(width.min(63)) as i64),
    }
}

/// The least and greatest length of a list operand.
pub fn list_lengths(operand: &Operand) -> (u8, u8) {
    match &operand.shape {
        Shape::List { count, .. } => {
            let most = count.bits.map_or(0, |bits| ones(bits.width().min(6)) as u8);
            (count.plus, count.plus + most)
        }
        _ => (1, 1),
    }
}

/// The least and greatest length that a list operand can have in a word whose modifiers are already set.
pub fn list_lengths_in(operand: &Operand, word: u64) -> (u8, u8) {
    match &operand.shape {
        Shape::List { count, .. } if count.is_given() => {
            let length = list_len(count, word).min(u8::MAX as u32) as u8;
            (length, length)
        }
        _ => list_lengths(operand),
    }
}

/// Whether `value` fits in `width` bits, as a signed or an unsigned number according to `ty`.
pub fn fits(ty: Type, value: i64, width: u32) -> bool {
    match ty {
        Type::Signed => fits_signed(value, width),
        _ => value >= 0 && (width >= 63 || value as u64 <= ones(width)),
    }
}
