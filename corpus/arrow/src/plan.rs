//! Where each form of a set of words has its modifiers and its registers, so that a column takes shifts and look-ups alone.

use isaforge_core::Isa;
use isaforge_core::bits::Bits;
use isaforge_core::table::{self, Access, Alternative, Form, Shape, Type};

use crate::views::{Name, Names};

/// What columns need of a form.
#[derive(Debug)]
pub struct FormPlan {
    /// Bits of all modifiers …
    pub(crate) quiet_mask: u64,
    /// … and what they are when all are at their defaults; where one has none, a value that no word has.
    pub(crate) quiet_value: u64,
    pub(crate) modifiers: Vec<ModifierPlan>,
    pub(crate) reads: Vec<OperandPlan>,
    pub(crate) writes: Vec<OperandPlan>,
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

/// An operand that may be registers.
#[derive(Debug)]
pub(crate) struct OperandPlan {
    readings: Vec<Reading>,
}

/// A reading of an operand; the first that fits a word holds.
#[derive(Debug)]
struct Reading {
    mask: u64,
    value: u64,
    /// `None` where the reading is no register.
    registers: Option<Run>,
}

/// A run of registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub bank: u16,
    first: Bits,
    base: u8,
    plus: u32,
    count: Option<Bits>,
}

impl Run {
    #[inline(always)]
    pub fn first(&self, word: u64) -> usize {
        self.first.get(word, self.base) as usize
    }

    #[inline(always)]
    pub fn count(&self, word: u64) -> usize {
        (self.plus + self.count.map_or(0, |bits| bits.get(word, 0) as u32)) as usize
    }
}

impl OperandPlan {
    /// The registers of the operand in a valid word.
    #[inline(always)]
    pub fn registers(&self, word: u64) -> Option<&Run> {
        self.readings.iter().find(|reading| word & reading.mask == reading.value)?.registers.as_ref()
    }
}

impl FormPlan {
    pub(crate) fn new(isa: &'static Isa, form: &'static Form, names: &mut Names) -> FormPlan {
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
        let wanted = |write: bool| {
            let takes = move |access| match access {
                Access::None => false,
                Access::Read => !write,
                Access::Write => write,
                Access::ReadWrite => true,
            };
            let operands = form.operands.iter().filter(move |operand| takes(operand.access));
            operands.filter_map(|operand| OperandPlan::new(isa, operand)).collect()
        };
        FormPlan { quiet_mask, quiet_value, modifiers, reads: wanted(false), writes: wanted(true) }
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

impl OperandPlan {
    fn new(isa: &'static Isa, operand: &'static table::Operand) -> Option<OperandPlan> {
        let readings: Vec<Reading> = match &operand.shape {
            Shape::One { kind, at } => {
                let alternatives = isa.kinds[usize::from(*kind)].alternatives.iter();
                alternatives.map(|alternative| reading(isa, operand, alternative, *at)).collect()
            }
            Shape::List { kind, at, count, .. } => {
                let alternative = isa.kinds[usize::from(*kind)].alternatives.first()?;
                let (bank, first) = register(alternative)?;
                let registers = Some(Run { bank, first, base: *at, plus: count.plus.into(), count: count.bits });
                vec![Reading { mask: 0, value: 0, registers }]
            }
            Shape::Number { .. } => return None,
        };
        readings.iter().any(|reading| reading.registers.is_some()).then_some(OperandPlan { readings })
    }
}

fn register(alternative: &Alternative) -> Option<(u16, Bits)> {
    alternative.fields.iter().find_map(|field| match field.ty {
        Type::Register(bank) => Some((bank, field.bits)),
        _ => None,
    })
}

/// A reading with the shared fields that it depends on as bits of the word.
fn reading(isa: &'static Isa, operand: &table::Operand, alternative: &'static Alternative, at: u8) -> Reading {
    let (mut mask, mut value) = (alternative.mask << at, alternative.value << at);
    for (shared, wanted) in alternative.when {
        let bits = isa.shared[usize::from(*shared)].bits;
        mask |= bits.mask(0);
        value = bits.set(value, 0, *wanted);
    }
    let registers = register(alternative).map(|(bank, first)| {
        let width = isa.banks[usize::from(bank)].width.max(1);
        Run { bank, first, base: at, plus: operand.size.div_ceil(width).max(1).into(), count: None }
    });
    Reading { mask, value, registers }
}
