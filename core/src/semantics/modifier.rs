//! Modifiers of a word.

use super::Modifier;
use crate::table::{Form, Isa, Shape};

impl Modifier {
    /// The bits of the modifier in a word.
    pub fn bits(self, isa: &Isa, form: &Form, word: u64) -> u64 {
        match self {
            Modifier::Form(i) => form.modifiers.get(usize::from(i)).map_or(0, |m| m.bits.get(word, 0)),
            Modifier::Suffix(k, j) => {
                let Some(operand) = form.operands.get(usize::from(k)) else { return 0 };
                let field = |index: usize| match operand.shape {
                    Shape::One { kind, at } => {
                        let first = isa.kinds.get(usize::from(kind)).and_then(|kind| kind.alternatives.first());
                        first.and_then(|first| first.fields.get(index)).map_or(0, |field| field.bits.get(word, at))
                    }
                    _ => 0,
                };
                match operand.suffixes.get(usize::from(j)) {
                    Some(suffix) => suffix.bits.get(word, 0),
                    None => field(usize::from(j) - operand.suffixes.len()),
                }
            }
            // Those of groups; words have none.
            Modifier::Field(..) | Modifier::Present(_) | Modifier::Repetition | Modifier::Repetitions => 0,
        }
    }
}
