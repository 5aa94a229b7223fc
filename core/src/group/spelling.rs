//! How registers and the values of fields are written.

use crate::group::table::{GroupIsa, RegisterName, Type};
use crate::text::Line;

/// Prints the value of a field.
pub(super) fn push_value(isa: &GroupIsa, slot: usize, field: usize, value: i64, out: &mut Line) {
    match isa.type_of(slot, field) {
        Type::Enum(index) => {
            let named = isa.enums.get(index as usize).and_then(|e| e.value(value as u64));
            match named {
                Some(named) => out.push_str(named.text),
                None => push_number(value, out),
            }
        }
        Type::Hex => out.push_hex(value as u64),
        _ => push_number(value, out),
    }
}

fn push_number(value: i64, out: &mut Line) {
    if value < 0 {
        out.push_str("-");
    }
    out.push_decimal(value.unsigned_abs());
}

/// The spelling of a register.
pub(super) fn name_of(isa: &GroupIsa, bank: i64, number: i64) -> Option<&'static RegisterName> {
    isa.registers.iter().find(|r| {
        let rest = number >> r.low.min(16);
        r.bank == bank && number & ((1 << r.low.min(16)) - 1) == r.is && (r.from..=r.to).contains(&rest)
    })
}

/// The index of a register's spelling, and the offset from the first register with that spelling.
#[cfg(feature = "alloc")]
pub(crate) fn numbered(isa: &GroupIsa, bank: i64, number: i64) -> Option<(usize, i64)> {
    let name = name_of(isa, bank, number)?;
    let index = isa.registers.iter().position(|known| core::ptr::eq(known, name))?;
    Some((index, (number >> name.low.min(16)) - name.from))
}

/// Prints a register.
pub fn register(isa: &GroupIsa, bank: i64, number: i64, out: &mut Line) {
    match name_of(isa, bank, number) {
        Some(name) => {
            out.push_str(name.before);
            push_number((number >> name.low.min(16)) - name.from + name.first, out);
            out.push_str(name.after);
        }
        None => {
            out.push_str("bank");
            push_number(bank, out);
            out.push_str(":");
            push_number(number, out);
        }
    }
}
