//! The bit positions of each form's modifiers and registers in a set of words, so that columns need only shifts and
//! look-ups.

use std::sync::Arc;

use isaforge_core::Isa;
use isaforge_core::bits::Bits;
use isaforge_core::registers;
use isaforge_core::table::{self, Form, Type};

use crate::registers::{Operands, Registers};
use crate::views::{Name, Names};

/// The data that columns need for a form.
#[derive(Debug)]
pub struct FormPlan {
    /// The mask of all modifiers.
    pub(crate) quiet_mask: u64,
    /// The value of those bits if all modifiers are at their defaults; an impossible value if some modifier has no
    /// default.
    pub(crate) quiet_value: u64,
    pub(crate) modifiers: Vec<ModifierPlan>,
    pub(crate) reads: Arc<Operands>,
    pub(crate) writes: Arc<Operands>,
}

/// A modifier of a form or of one of its operands.
#[derive(Debug)]
pub(crate) struct ModifierPlan {
    /// Its name; `operand.modifier` if it belongs to an operand.
    pub name: String,
    pub bits: Bits,
    pub default: Option<u64>,
    /// Its values by number: the text, and whether the value is valid.
    pub values: Vec<(Name, bool)>,
    pub texts: Vec<&'static str>,
}

impl FormPlan {
    pub(crate) fn new(isa: &'static Isa, form: &'static Form, names: &mut Names, known: &mut Registers) -> FormPlan {
        let own = form.modifiers.iter().map(|modifier| (modifier, String::new()));
        let suffixes = form
            .operands
            .iter()
            .flat_map(|operand| operand.suffixes.iter().map(|suffix| (suffix, format!("{}.", operand.name))));
        let modifiers: Vec<ModifierPlan> =
            own.chain(suffixes).map(|(modifier, owner)| ModifierPlan::new(isa, modifier, &owner, names)).collect();
        let quiet_mask = modifiers.iter().fold(0, |mask, modifier| mask | modifier.bits.mask(0));
        let quiet_value =
            modifiers.iter().try_fold(0, |word, modifier| Some(modifier.bits.set(word, 0, modifier.default?)));
        // No masked word has bits outside of the mask.
        let quiet_value = quiet_value.unwrap_or(!quiet_mask);
        let [reads, writes] = [false, true].map(|write| known.operands(registers::fields(isa, form, write).collect()));
        FormPlan { quiet_mask, quiet_value, modifiers, reads, writes }
    }
}

/// The maximum width of a modifier in bits for which all values are named in advance.
const MAX_VALUES: u32 = 12;

impl ModifierPlan {
    fn new(isa: &'static Isa, modifier: &'static table::Modifier, owner: &str, names: &mut Names) -> ModifierPlan {
        let count = 1u64 << modifier.bits.width().min(MAX_VALUES);
        let flag = modifier.flag.str.trim_start_matches('.');
        let text = |value: u64| match modifier.ty {
            Type::Enum(index) => isa.enums[usize::from(index)].value(value).map(|value| value.text),
            _ => Some(flag),
        };
        let texts: Vec<&'static str> = (0..count).map(|value| text(value).unwrap_or_default()).collect();
        let values = (0..count).map(|value| (names.intern(texts[value as usize]), text(value).is_some())).collect();
        let name = format!("{owner}{}", modifier.name);
        ModifierPlan { name, bits: modifier.bits, default: modifier.default, values, texts }
    }

    /// Its value and text in a word; `None` if it is at its default.
    #[inline(always)]
    pub fn of(&self, word: u64) -> Option<(u64, Name)> {
        let value = self.bits.get(word, 0);
        if self.default == Some(value) {
            return None;
        }
        Some((value, self.values.get(value as usize).map_or(Name::EMPTY, |(name, _)| *name)))
    }
}
