//! Where each form of a set of words has its modifiers and its registers, so that a column takes shifts and look-ups alone.

use std::sync::Arc;

use isaforge_core::Isa;
use isaforge_core::bits::Bits;
use isaforge_core::registers;
use isaforge_core::table::{self, Form, Type};

use crate::registers::{Operands, Registers};
use crate::views::{Name, Names};

/// What columns need of a form.
#[derive(Debug)]
pub struct FormPlan {
    /// Bits of all modifiers …
    pub(crate) quiet_mask: u64,
    /// … and what they are when all are at their defaults; where one has none, a value that no word has.
    pub(crate) quiet_value: u64,
    pub(crate) modifiers: Vec<ModifierPlan>,
    pub(crate) reads: Arc<Operands>,
    pub(crate) writes: Arc<Operands>,
}

/// A modifier of a form or of one of its operands.
#[derive(Debug)]
pub(crate) struct ModifierPlan {
    /// Its name; with that of the operand before a dot where it belongs to one.
    pub name: String,
    pub bits: Bits,
    pub default: Option<u64>,
    /// Its values by bits: text, whether it is one.
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
        // No word has a bit outside of the mask that it is compared under.
        let quiet_value = quiet_value.unwrap_or(!quiet_mask);
        let [reads, writes] = [false, true].map(|write| known.operands(registers::fields(isa, form, write).collect()));
        FormPlan { quiet_mask, quiet_value, modifiers, reads, writes }
    }
}

/// A modifier that has more values than this has them named when they occur.
const MOST_VALUES: u32 = 12;

impl ModifierPlan {
    fn new(isa: &'static Isa, modifier: &'static table::Modifier, owner: &str, names: &mut Names) -> ModifierPlan {
        let count = 1u64 << modifier.bits.width().min(MOST_VALUES);
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

    /// Its text in a word; `None` where it is at its default.
    #[inline(always)]
    pub fn of(&self, word: u64) -> Option<(u64, Name)> {
        let value = self.bits.get(word, 0);
        if self.default == Some(value) {
            return None;
        }
        Some((value, self.values.get(value as usize).map_or(Name::EMPTY, |(name, _)| *name)))
    }
}
