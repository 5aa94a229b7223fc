//! The registers that instructions read and write.

use super::decode::{Decoded, Engine, Scope};
use super::table::{MAX_NESTING, Type};
use crate::registers::RegisterUse;
use crate::table::Access;

/// Reports the registers that an instruction reads (`write` false) or writes (`write` true), by operand. Banks are
/// those of [`Stream::banks`](super::Stream::banks).
pub fn registers(engine: Engine, decoded: &Decoded, write: bool, tell: &mut dyn FnMut(RegisterUse)) {
    let scope = engine.scope(decoded);
    for (index, operand) in scope.layout.operands.iter().enumerate() {
        let wanted = match operand.access {
            Access::None => false,
            Access::Read => !write,
            Access::Write => write,
            Access::ReadWrite => true,
        };
        let size = match operand.sized {
            Some(said) => u16::try_from(scope.value(said)).unwrap_or(u16::MAX),
            None => operand.size,
        };
        if wanted && (size > 0 || operand.sized.is_none()) {
            field(&scope, operand.field, size, index as u8, 0, tell);
        }
    }
}

fn field(scope: &Scope<'_>, index: u8, size: u16, operand: u8, depth: u8, tell: &mut dyn FnMut(RegisterUse)) {
    let Some(field_of) = scope.layout.fields.get(usize::from(index)) else { return };
    match field_of.ty {
        Type::Register(bank) => {
            let width = scope.engine.stream.banks.get(usize::from(bank)).map_or(1, |bank| bank.width.max(1));
            let first = scope.value(index) as u16;
            tell(RegisterUse { bank, first, count: size.div_ceil(width).max(1), operand });
        }
        Type::Set(set, arguments) if depth < MAX_NESTING => {
            let bits = scope.bits(field_of, index);
            if let Some(reading) = scope.reading(set, arguments, &bits) {
                for inner in 0..reading.layout.fields.len() as u8 {
                    field(&reading, inner, size, operand, depth + 1, tell);
                }
            }
        }
        _ => {}
    }
}
