//! Decodes words to instructions, strictly.

use crate::bits::ones;
use crate::error::DecodeError;
use crate::table::{Alternative, Count, Decoder, Form, Isa, Modifier, Operand, Shape, Type};
use crate::unknown::{UnknownOpcode, first_run};

/// Finds the instruction of a word and checks every bit.
///
/// Returns the opcode, an index into [`Isa::forms`]. A word that decodes encodes back to the same bits.
///
/// # Errors
/// Names the wrong bits and the value that they should have.
///
/// # Examples
///
/// ```
/// use isaforge_core::decode::decode;
/// use isaforge_vpu::ISA;
///
/// let opcode = decode(ISA, 0x2a00004000800000)?;
/// assert_eq!(ISA.forms[usize::from(opcode)].name.str, "MultiplyHiInt16u");
/// let error = decode(ISA, u64::MAX).unwrap_err();
/// assert_eq!(error.to_string(), "unknown opcode: no instruction has 0xff in bits 63..56");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode(isa: &'static Isa, word: u64) -> Result<u16, DecodeError> {
    let opcode = lookup(isa, word)?;
    validate(isa, opcode, word)?;
    Ok(opcode)
}

/// Finds the instruction whose distinguishing bits match a word, without checking the other bits.
///
/// # Errors
/// [`DecodeError::UnknownOpcode`] when there is none.
pub fn lookup(isa: &'static Isa, word: u64) -> Result<u16, DecodeError> {
    let mut node = 0;
    // The tree is finite and its branches only lead downwards; the bound guards against hand-made tables.
    for _ in 0..=isa.decoder.nodes.len() {
        let Some(n) = isa.decoder.nodes.get(node) else { break };
        let found = (word >> n.shift) & ones(n.width as u32);
        match isa.decoder.branches.get(n.first as usize + found as usize).copied().unwrap_or(Decoder::NONE) {
            Decoder::NONE => break,
            inner if inner & Decoder::INNER != 0 => node = (inner & !Decoder::INNER) as usize,
            opcode => {
                let form = &isa.forms[opcode as usize];
                if (word ^ form.match_value) & form.match_mask == 0 {
                    return Ok(opcode);
                }
                break;
            }
        }
    }
    Err(DecodeError::UnknownOpcode(UnknownOpcode { isa, word }))
}

/// Checks every bit of a word that is known to be the instruction `opcode`.
///
/// # Errors
/// The first error found: fixed bits are checked before fields, and fields before operands.
pub fn validate(isa: &'static Isa, opcode: u16, word: u64) -> Result<(), DecodeError> {
    let form = &isa.forms[opcode as usize];
    let name = form.name.str;
    let wrong = (word ^ form.fixed_value) & form.fixed_mask;
    if wrong != 0 {
        // Report only the wrong stretch of a run of fixed bits; correct neighbours would obscure it.
        let (bits, expected, found) = first_run(wrong_runs(form, wrong), wrong, form.fixed_value, word);
        return Err(DecodeError::Fixed { form: name, bits, expected, found });
    }
    for modifier in form.modifiers {
        check_modifier(isa, name, "", modifier, word)?;
    }
    let mut used = 0u32;
    for operand in form.operands {
        used |= check_operand(isa, form, operand, word)?;
        for suffix in operand.suffixes {
            check_modifier(isa, name, operand.name, suffix, word)?;
        }
    }
    for (i, shared) in isa.shared.iter().enumerate() {
        let found = shared.bits.get(word, 0);
        if !shared.printed
            && used & 1 << i == 0
            && found != shared.default
            && shared.bits.mask(0) & (form.fixed_mask | form.ignored) == 0
        {
            return Err(DecodeError::UnusedShared { form: name, field: shared.name, found, expected: shared.default });
        }
    }
    Ok(())
}

/// The fixed bits to report with the lowest wrong bit: all that must be zero, if it is one of them; otherwise all
/// outside the opcode.
fn wrong_runs(form: &Form, wrong: u64) -> u64 {
    let lowest = wrong & wrong.wrapping_neg();
    if form.fixed_value & lowest == 0 && form.match_mask & lowest == 0 {
        form.fixed_mask & !form.fixed_value & !form.match_mask
    } else {
        form.fixed_mask & !form.match_mask | lowest
    }
}

fn check_modifier(
    isa: &Isa,
    form: &'static str,
    operand: &'static str,
    modifier: &'static Modifier,
    word: u64,
) -> Result<(), DecodeError> {
    let found = modifier.bits.get(word, 0);
    match modifier.ty {
        Type::Enum(e) if !isa.enums[e as usize].defines(found) => {
            Err(DecodeError::Reserved { form, operand, field: modifier.name, found })
        }
        _ => Ok(()),
    }
}

/// Checks one operand; returns the shared fields it uses.
fn check_operand(
    isa: &'static Isa,
    form: &'static Form,
    operand: &'static Operand,
    word: u64,
) -> Result<u32, DecodeError> {
    let name = form.name.str;
    match &operand.shape {
        Shape::Number { .. } => Ok(0),
        Shape::One { kind, at } => {
            let (kind, at) = (&isa.kinds[*kind as usize], *at);
            let Some(alternative) = alternative_of(isa, kind.alternatives, at, word) else {
                let found = (word >> at) & ones(kind.width as u32);
                return Err(DecodeError::Operand { form: name, operand: operand.name, found });
            };
            check_fields(isa, name, operand.name, alternative, at, word)?;
            Ok(alternative.uses)
        }
        Shape::List { kind, at, count, align, .. } => {
            let alternative = &isa.kinds[*kind as usize].alternatives[0];
            let found = alternative.fields[0].bits.get(word, *at);
            let n = list_len(count, word);
            let banks = match alternative.fields[0].ty {
                Type::Register(bank) => isa.banks[bank as usize].count as u64,
                _ => 0,
            };
            if n == 0 && found != 0 {
                let field = alternative.fields[0].name;
                return Err(DecodeError::Reserved { form: name, operand: operand.name, field, found });
            }
            if n > 1 && !found.is_multiple_of(*align as u64) {
                return Err(DecodeError::Alignment { form: name, operand: operand.name, found, align: *align });
            }
            if n > 0 && found + n as u64 > banks {
                let last = found + n as u64 - 1;
                return Err(DecodeError::OutOfRange { form: name, operand: operand.name, found: last, count: banks });
            }
            Ok(alternative.uses)
        }
    }
}

/// Whether an operand is valid, regardless of the rest of the word.
pub fn operand_is_valid(isa: &'static Isa, form: &'static Form, operand: &'static Operand, word: u64) -> bool {
    check_operand(isa, form, operand, word).is_ok()
}

fn check_fields(
    isa: &Isa,
    form: &'static str,
    operand: &'static str,
    alternative: &'static Alternative,
    at: u8,
    word: u64,
) -> Result<(), DecodeError> {
    for field in alternative.fields {
        let found = field.bits.get(word, at);
        let count = match field.ty {
            Type::Enum(e) if !isa.enums[e as usize].defines(found) => {
                return Err(DecodeError::Reserved { form, operand, field: field.name, found });
            }
            Type::Constant(c) => isa.constants[c as usize].values.len() as u64,
            Type::Register(b) => isa.banks[b as usize].count as u64,
            _ => continue,
        };
        if found >= count {
            return Err(DecodeError::OutOfRange { form, operand, found, count });
        }
    }
    Ok(())
}

/// Returns the reading that fits an operand's bits.
#[inline]
pub fn alternative_of(
    isa: &'static Isa,
    alternatives: &'static [Alternative],
    at: u8,
    word: u64,
) -> Option<&'static Alternative> {
    alternatives.iter().find(|a| {
        (word >> at) & a.mask == a.value
            && a.when.iter().all(|&(shared, value)| isa.shared[shared as usize].bits.get(word, 0) == value)
    })
}

/// The number of registers in a list of this word.
#[inline]
pub fn list_len(count: &Count, word: u64) -> u32 {
    count.plus as u32 + count.bits.map_or(0, |bits| bits.get(word, 0) as u32)
}

/// A quick test that accepts only valid words of one instruction: the fast path of decoding.
///
/// The compiler derives it from the form. A word that fails goes to [`decode`], which is exact and reports the error.
#[derive(Clone, Copy, Debug)]
pub struct Quick {
    /// The bits to compare …
    pub mask: u64,
    /// … and their value.
    pub value: u64,
    /// The boxes that the word must lie outside …
    pub boxes: u64,
    /// … and the plane of [`Fast::planes`] that holds them.
    pub plane: u16,
}

/// Bytes per word.
pub const BYTES: usize = 8;

/// Up to 64 boxes. A box is a set of words: the product of a set of values for each byte. Each bit stands for a box,
/// and for each byte and each value of it, the plane lists the boxes that a word with this byte lies outside.
pub type Plane = [[u64; 256]; BYTES];

/// The fast path of decoding: a two-step table look-up and a [`Quick`] test.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    /// Lowest bit of the field that indexes the first look-up.
    pub shift: u8,
    /// Mask of that field, after the shift.
    pub mask: u64,
    /// For each value of the field: shift, mask (from bit 8) and base (from bit 32) of the second look-up.
    pub primary: &'static [u64],
    /// The forms that the second look-up finds; [`Decoder::NONE`] where there is none or where more bits must be
    /// tested.
    pub secondary: &'static [u16],
    /// The test of each form.
    pub quick: &'static [Quick],
    /// The boxes that the tests refer to.
    pub planes: &'static [Plane],
    /// The whole tree, if the two look-ups cannot reach every form; otherwise empty.
    pub deep: Decoder,
}

impl Fast {
    /// The opcode of a word that is known to be valid. `None` means that the word must be decoded by [`decode`].
    #[inline(always)]
    pub fn opcode(&self, word: u64) -> Option<u16> {
        let p = *self.primary.get(((word >> (self.shift & 63)) & self.mask) as usize)?;
        let index = (p >> 32) as usize + ((word >> (p & 63)) & (p >> 8 & 0xff_ffff)) as usize;
        let mut opcode = *self.secondary.get(index)?;
        let quick = match self.quick.get(opcode as usize) {
            Some(quick) => quick,
            None => {
                opcode = self.deep(word)?;
                self.quick.get(opcode as usize)?
            }
        };
        let bytes = word.to_le_bytes();
        let plane = self.planes.get(quick.plane as usize)?;
        let outside = plane.iter().zip(bytes).fold(0, |boxes, (row, byte)| boxes | row[byte as usize]);
        let wrong = word & quick.mask ^ quick.value | quick.boxes & !outside;
        (wrong == 0).then_some(opcode)
    }

    /// Walks the tree, for forms whose bits lie too far apart for the two look-ups.
    #[inline(never)]
    fn deep(&self, word: u64) -> Option<u16> {
        let mut node = self.deep.nodes.first()?;
        // As in `lookup`: branches only lead downwards.
        for _ in 0..self.deep.nodes.len() {
            let found = (word >> (node.shift & 63)) & ones(node.width as u32);
            match *self.deep.branches.get(node.first as usize + found as usize)? {
                Decoder::NONE => return None,
                inner if inner & Decoder::INNER != 0 => {
                    node = self.deep.nodes.get((inner & !Decoder::INNER) as usize)?;
                }
                opcode => return Some(opcode),
            }
        }
        None
    }
}
