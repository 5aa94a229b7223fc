//! Reads the modifiers of an instruction on which its semantics depend.

use crate::decode::alternative_of;
use crate::semantics::Modifier;
use crate::stream::{Scope, Type};
use crate::table::{Form, Isa, Operand, Shape};

impl Modifier {
    /// The bits of the modifier in a word of a form; 0 where the word has no such modifier.
    pub fn bits(self, isa: &'static Isa, form: &'static Form, word: u64) -> u64 {
        let bits = match self {
            Modifier::Form(i) => form.modifiers.get(usize::from(i)).map(|m| m.bits.get(word, 0)),
            Modifier::Suffix(k, j) => {
                form.operands.get(usize::from(k)).and_then(|operand| suffix(isa, operand, j.into(), word))
            }
            // These belong to groups; words have none.
            Modifier::Field(..) | Modifier::Present(_) | Modifier::Repetition | Modifier::Repetitions => None,
        };
        bits.unwrap_or(0)
    }

    /// The bits of the modifier in an instruction of a stream; 0 where it has no such modifier.
    pub fn bits_in(self, scope: &Scope<'_>) -> u64 {
        match self {
            Modifier::Form(field) => scope.value(field),
            Modifier::Suffix(operand, field) => of_reading(scope, operand, field.into()).unwrap_or(0),
            // These belong to groups; streams have none.
            Modifier::Field(..) | Modifier::Present(_) | Modifier::Repetition | Modifier::Repetitions => 0,
        }
    }
}

/// A suffix of an operand. Numbers beyond the suffixes refer to the fields of the first reading of the operand's kind;
/// a word with another reading uses the field of the same name.
fn suffix(isa: &'static Isa, operand: &'static Operand, number: usize, word: u64) -> Option<u64> {
    if let Some(suffix) = operand.suffixes.get(number) {
        return Some(suffix.bits.get(word, 0));
    }
    let Shape::One { kind, at } = operand.shape else { return None };
    let alternatives = isa.kinds.get(usize::from(kind))?.alternatives;
    let name = alternatives.first()?.fields.get(number - operand.suffixes.len())?.name;
    let fields = alternative_of(isa, alternatives, at, word)?.fields;
    fields.iter().find(|field| field.name == name).map(|field| field.bits.get(word, at))
}

/// A field that all readings of an operand have, given by its number in the first reading.
fn of_reading(scope: &Scope<'_>, operand: u8, number: usize) -> Option<u64> {
    let field = scope.layout.fields.get(usize::from(operand))?;
    let Type::Set(set, arguments) = field.ty else { return None };
    let name = scope.engine.stream.layouts_of(set.into()).first()?.fields.get(number)?.name;
    let bits = scope.bits(field, operand);
    let inner = scope.reading(set, arguments, &bits)?;
    let found = inner.layout.fields.iter().position(|field| field.name == name)?;
    Some(inner.value(found as u8))
}
