//! Facts about earlier instructions that later ones depend on.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::table::Says;

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    /// Integers: width in bits, and whether they are signed.
    Integer(u32, bool),
    /// Floats: width in bits.
    Float(u32),
}

/// What is known about identifiers.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    types: BTreeMap<u32, NumberType>,
    /// The type of each result.
    results: BTreeMap<u32, u32>,
    imports: BTreeMap<u32, String>,
    /// The greatest identifier so far.
    pub(super) greatest: u32,
}

/// The facts about an instruction's operands that matter to others.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub result: Option<u32>,
    pub result_type: Option<u32>,
    /// The first unit of every operand.
    pub firsts: alloc::vec::Vec<u32>,
    /// The greatest identifier among the operands.
    pub greatest: u32,
    /// The string among the operands.
    pub text: Option<String>,
}

impl Symbols {
    /// The type with an identifier.
    pub(super) fn number_type(&self, id: u32) -> Option<NumberType> {
        self.types.get(&id).copied()
    }

    /// The type of the value with an identifier.
    pub(super) fn type_of(&self, id: u32) -> Option<NumberType> {
        self.number_type(*self.results.get(&id)?)
    }

    /// The name of an imported set.
    pub(super) fn import(&self, id: u32) -> Option<&str> {
        self.imports.get(&id).map(String::as_str)
    }

    /// Records the facts about an instruction.
    pub(super) fn learn(&mut self, says: Says, facts: Facts) {
        self.greatest = self.greatest.max(facts.greatest);
        let Some(result) = facts.result else { return };
        if let Some(ty) = facts.result_type {
            self.results.insert(result, ty);
        }
        let operand = |at: u8| facts.firsts.get(usize::from(at)).copied().unwrap_or(0);
        match says {
            Says::Nothing => {}
            Says::Integers(width, signed) => {
                self.types.insert(result, NumberType::Integer(operand(width), operand(signed) != 0));
            }
            Says::Floats(width) => {
                self.types.insert(result, NumberType::Float(operand(width)));
            }
            Says::Imports(_) => {
                self.imports.insert(result, facts.text.unwrap_or_default());
            }
        }
    }
}
