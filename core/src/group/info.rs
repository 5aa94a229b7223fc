//! The registers of a group, and the meaning of its bits.

use crate::bits::Bits;
use crate::group::table::{GroupIsa, OperandKind, Operation, SLOTS, Token};
use crate::group::value::{Group, Values, is, there};

/// A register that a group names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupRegister {
    /// The operand that names it: index into [`GroupIsa::operands`].
    pub operand: u8,
    /// Its bank.
    pub bank: i64,
    /// Its number in the bank, as encoded.
    pub number: i64,
}

/// The operations of a group in the order of its text, each with its slot. Remarks on wires are excluded.
pub fn operations<'i>(
    isa: &'i GroupIsa,
    group: &Group,
) -> impl Iterator<Item = (usize, usize, &'i Operation)> + use<'i> {
    operations_of(isa, group.values(isa))
}

/// Does the same for values, which need not have an encoding.
pub fn operations_of(isa: &GroupIsa, values: Values) -> impl Iterator<Item = (usize, usize, &Operation)> + use<'_> {
    let present = values.present;
    let slots = isa.order.iter().map(|s| *s as usize).filter(move |s| present >> (s & 31) & 1 != 0);
    slots.flat_map(move |slot| {
        let values = values.clone();
        let all = isa.operations.iter().enumerate();
        all.filter(move |(_, o)| !o.remark && slot != 0 && is(isa, o, slot, &values)).map(move |(i, o)| (slot, i, o))
    })
}

/// The registers that a group reads (`write` false) or writes (`write` true). Each is reported once, and repetitions
/// are not expanded.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::{decode, info::registers};
/// use isaforge_usc::ISA;
///
/// let (group, mut written) = (decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?, 0);
/// registers(ISA, &group, true, |register| {
///     println!("{} of bank {}", register.number, register.bank);
///     written += 1;
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn registers(isa: &GroupIsa, group: &Group, write: bool, mut found: impl FnMut(GroupRegister)) {
    let values = group.values(isa);
    let mut seen = 0u64;
    for slot in (0..SLOTS).filter(|s| values.has(*s)) {
        for operation in isa.operations.iter().filter(|o| is(isa, o, slot, &values)) {
            for token in operation.syntax {
                let index = match *token {
                    Token::Operand(index) => index,
                    Token::Role(role) => {
                        let roles = isa.slots.get(slot).map_or(&[][..], |s| s.roles);
                        match roles.iter().find(|(name, _)| *name == role) {
                            Some((_, index)) => *index,
                            None => continue,
                        }
                    }
                    _ => continue,
                };
                let as_destination = operation.writes >> (index & 63) & 1 != 0;
                let Some((index, results, register)) = resolve(isa, index, &values) else { continue };
                // A register with several possible places is a result.
                if (results || as_destination) == write && seen >> (index & 63) & 1 == 0 {
                    seen |= 1 << (index & 63);
                    found(register);
                }
            }
        }
    }
}

/// The register that an operand of a group refers to. `None` for wires, and for operands that the group does not have.
pub fn register_of(isa: &GroupIsa, values: &Values, operand: u8) -> Option<GroupRegister> {
    resolve(isa, operand, values).map(|(_, _, register)| register)
}

/// The register that an operand refers to, and whether it is a result.
fn resolve(isa: &GroupIsa, index: u8, values: &Values) -> Option<(u8, bool, GroupRegister)> {
    let mut index = index;
    for _ in 0..8 {
        match isa.operands.get(index as usize)?.kind {
            OperandKind::Wire(_) => return None,
            OperandKind::Register(places) => {
                let place = places.iter().find(|p| there(isa, p, values))?;
                let get = |field: u8| values.get(isa, place.slot.into(), field.into());
                let register = GroupRegister { operand: index, bank: get(place.bank), number: get(place.number) };
                return Some((index, places.len() > 1, register));
            }
            OperandKind::Select { slot, field, options, .. } => {
                let value = values.get(isa, slot.into(), field.into());
                index = options.iter().find(|(v, _)| *v == value)?.1;
            }
        }
    }
    None
}

/// Some bits of a group and their meaning.
#[derive(Clone, Copy, Debug)]
pub struct GroupBits {
    /// The slot; `None` for padding.
    pub slot: Option<u8>,
    /// The first byte of its record.
    pub start: u8,
    /// The length of the record in bytes.
    pub bytes: u8,
    /// The field: index into the fields of the choice; `None` for constant bits.
    pub field: Option<u8>,
    /// The bits, counted from the lowest bit of the first byte.
    pub bits: Bits,
    /// The value of the field, or of the constant bits.
    pub value: i64,
}

/// Reports the meaning of every bit of a group, in byte order, with fields before constant bits.
///
/// # Examples
///
/// ```
/// use isaforge_core::group::{decode, info::annotate};
/// use isaforge_usc::ISA;
///
/// annotate(ISA, &decode(ISA, &[0x64, 0x90, 0x40, 0x90, 0x00, 0x00, 0x00, 0x00])?, |bits| println!("{bits:?}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn annotate(isa: &GroupIsa, group: &Group, mut found: impl FnMut(GroupBits)) {
    let mut end = 0;
    for (slot, record) in (0..SLOTS).filter_map(|s| Some((s, group.record(isa, s)?))) {
        let (start, word) = (group.start(slot) as u8, group.word(slot));
        end = start + record.bytes;
        let note = |field: Option<u8>, bits: Bits, value: i64| GroupBits {
            slot: Some(slot as u8),
            start,
            bytes: record.bytes,
            field,
            bits,
            value,
        };
        for place in record.places {
            found(note(Some(place.field), place.bits, group.get(isa, slot, place.field.into())));
        }
        let mut rest = record.mask;
        while rest != 0 {
            let at = rest.trailing_zeros();
            let width = (rest >> at).trailing_ones();
            let bits = Bits::new(at as u8, width as u8);
            found(note(None, bits, bits.get(word, 0) as i64));
            rest &= !bits.mask(0);
        }
    }
    for at in end..group.len() as u8 {
        let value = group.as_bytes().get(at as usize).copied().unwrap_or(0);
        found(GroupBits { slot: None, start: at, bytes: 1, field: None, bits: Bits::new(0, 8), value: value.into() });
    }
}
