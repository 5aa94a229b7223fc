//! What instructions have said about those behind them.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::table::Says;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    /// Integers: their width in bits, and whether they are signed.
    Integer(u32, bool),
    /// Floats: their width in bits.
    Float(u32),
}

/// What is known of identifiers.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    types: BTreeMap<u32, NumberType>,
    /// The type of each result.
    results: BTreeMap<u32, u32>,
    imports: BTreeMap<u32, String>,
    /// The greatest identifier.
    pub(super) greatest: u32,
}

/// What an instruction was found to be: its operands as far as they matter for others.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub result: Option<u32>,
    pub result_type: Option<u32>,
    /// The first unit of every operand.
    pub firsts: alloc::vec::Vec<u32>,
    /// The greatest identifier among them.
    pub greatest: u32,
    /// The text among the operands.
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

    /// The name of a set.
    pub(super) fn import(&self, id: u32) -> Option<&str> {
        self.imports.get(&id).map(String::as_str)
    }

    /// Takes note of an instruction.
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
