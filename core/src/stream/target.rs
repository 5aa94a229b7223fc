//! Branch targets of instructions.

use super::decode::{Decoded, Engine, Scope};
use super::table::{MAX_NESTING, Type};

/// The address in bytes of the first branch target of an instruction at the address `at`. `None` when it has none.
pub fn target(engine: Engine, decoded: &Decoded, at: u64) -> Option<u64> {
    branch(engine, decoded, at).map(|(address, _)| address)
}

/// The first branch target of an instruction, as [`target`], and whether it is a function.
pub fn branch(engine: Engine, decoded: &Decoded, at: u64) -> Option<(u64, bool)> {
    of_scope(&engine.scope(decoded), (at, at.wrapping_add(decoded.len.into())), 0)
}

fn of_scope(scope: &Scope<'_>, (this, next): (u64, u64), depth: u8) -> Option<(u64, bool)> {
    scope.layout.fields.iter().zip(0u8..).find_map(|(field, index)| match field.ty {
        Type::Number(notation) => {
            Some((notation.target?.address(scope.value(index) as i64, this, next), notation.call))
        }
        Type::Set(set, arguments) if depth < MAX_NESTING => {
            let bits = scope.bits(field, index);
            of_scope(&scope.reading(set, arguments, &bits)?, (this, next), depth + 1)
        }
        _ => None,
    })
}
