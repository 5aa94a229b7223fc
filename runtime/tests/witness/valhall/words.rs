//! The words under test: every form with its modifiers, generated from the tables.

use isaforge_core::bits::ones;
use isaforge_core::decode::decode;
use isaforge_core::encode::{Builder, list_lengths_in};
use isaforge_core::table::{Access, Field, Form, Isa, Modifier, Operand, Shape, Type};

use crate::random::Random;

/// A choice of a form: its bits, and the values that they may have.
#[derive(Clone, Debug)]
pub struct Choice {
    pub mask: u64,
    pub values: Vec<u64>,
}

/// The choices of a form: its modifiers and its operands' suffixes. Choices that all forms have at the same place are
/// in the second list: they determine when an instruction executes, rather than its effect.
pub fn choices(isa: &'static Isa, form: &'static Form) -> [Vec<Choice>; 2] {
    let everywhere = |modifier: &&Modifier| {
        let same = |other: &Modifier| other.name == modifier.name && other.bits == modifier.bits;
        isa.forms.iter().all(|form| form.modifiers.iter().any(same))
    };
    let choice = |modifier: &Modifier| Choice {
        mask: modifier.bits.mask(0),
        values: match modifier.ty {
            Type::Enum(index) => isa.enums[usize::from(index)].values.iter().map(|value| value.bits).collect(),
            _ => (0..=ones(modifier.bits.width())).collect(),
        },
    };
    let placed = |modifier: &Modifier| {
        let Choice { mask, values } = choice(modifier);
        Choice { mask, values: values.into_iter().map(|value| modifier.bits.set(0, 0, value)).collect() }
    };
    let own = form.modifiers.iter().filter(|modifier| !everywhere(modifier));
    let all = own.chain(form.operands.iter().flat_map(|operand| operand.suffixes));
    [all.map(placed).collect(), form.modifiers.iter().filter(everywhere).map(placed).collect()]
}

/// The number of combinations of choices.
pub fn combinations(choices: &[Choice]) -> u64 {
    choices.iter().fold(1, |all, choice| all.saturating_mul(choice.values.len() as u64))
}

/// Returns a combination by its number.
pub fn combination(choices: &[Choice], mut number: u64) -> Vec<usize> {
    let digit = |choice: &Choice| {
        let digit = number % choice.values.len() as u64;
        number /= choice.values.len() as u64;
        digit as usize
    };
    choices.iter().map(digit).collect()
}

/// Combinations in which every pair of values of two choices occurs, found by a greedy search.
pub fn pairs(choices: &[Choice], random: &mut Random) -> Vec<Vec<usize>> {
    let mut missing: Vec<(usize, usize, usize, usize)> = vec![];
    for (i, first) in choices.iter().enumerate() {
        for (j, second) in choices.iter().enumerate().skip(i + 1) {
            for a in 0..first.values.len() {
                missing.extend((0..second.values.len()).map(|b| (i, a, j, b)));
            }
        }
    }
    let mut rows = vec![];
    while let Some(&first) = missing.first() {
        let covered = |row: &[usize]| missing.iter().filter(|(i, a, j, b)| row[*i] == *a && row[*j] == *b).count();
        let mut draw = || {
            let mut row: Vec<usize> = choices.iter().map(|choice| random.below(choice.values.len())).collect();
            // Two pairs that are still missing, if they are compatible.
            let (i, a, j, b) = missing[random.below(missing.len())];
            (row[i], row[j]) = (a, b);
            let (i, a, j, b) = first;
            (row[i], row[j]) = (a, b);
            row
        };
        let tries: Vec<_> = (0..6).map(|_| draw()).collect();
        let best = tries.into_iter().max_by_key(|row| covered(row)).expect("there are several");
        missing.retain(|(i, a, j, b)| best[*i] != *a || best[*j] != *b);
        rows.push(best);
    }
    rows
}

/// Generates a word of a form with these choices and random operands. `None` when that is not an instruction.
pub fn word(isa: &'static Isa, opcode: u16, chosen: &[(u64, u64)], random: &mut Random) -> Option<u64> {
    let set = |word: u64| chosen.iter().fold(word, |word, (mask, value)| word & !mask | value);
    let mut builder = Builder::new(isa, opcode);
    let form = builder.form();
    // The lengths of register lists depend on modifiers.
    for modifier in form.modifiers.iter().chain(form.operands.iter().flat_map(|operand| operand.suffixes)) {
        let value = modifier.bits.get(set(builder.word()), 0);
        builder.set_bits(modifier.bits, value);
    }
    for (index, operand) in form.operands.iter().enumerate() {
        place(isa, &mut builder, index, operand, random);
    }
    let word = set(builder.word()) | random.next() & form.ignored;
    (decode(isa, word) == Ok(opcode)).then_some(word)
}

fn place(isa: &'static Isa, builder: &mut Builder, index: usize, operand: &Operand, random: &mut Random) {
    match &operand.shape {
        Shape::One { kind, .. } => {
            let alternatives = isa.kinds[usize::from(*kind)].alternatives;
            // Mostly registers. A reading may conflict with an earlier operand in a shared field.
            let is_register = |fields: &[Field]| fields.iter().any(|field| field.ty == Type::Register(0));
            for _ in 0..32 {
                let number = random.below(alternatives.len());
                if !is_register(alternatives[number].fields) && !random.one_in(3) {
                    continue;
                }
                let mut values: Vec<u64> =
                    alternatives[number].fields.iter().map(|field| field_value(isa, field, random)).collect();
                // A register pair usually begins at an even register, as in real programs.
                if operand.size > 32 && is_register(alternatives[number].fields) && !random.one_in(16) {
                    values.iter_mut().for_each(|value| *value &= !1);
                }
                if builder.set_operand(index, number, &values).is_ok() {
                    break;
                }
            }
        }
        Shape::List { .. } => {
            let (least, most) = list_lengths_in(operand, builder.word());
            for _ in 0..64 {
                let count = usize::from(least) + random.below(usize::from(most - least) + 1);
                if builder.set_list(index, random.below(64) as u64, count as u64).is_ok() {
                    break;
                }
            }
        }
        Shape::Number { bits, .. } => builder.set_bits(*bits, number(bits.width(), random)),
    }
}

fn field_value(isa: &'static Isa, field: &Field, random: &mut Random) -> u64 {
    let most = match field.ty {
        Type::Enum(index) => {
            let values = isa.enums[usize::from(index)].values;
            return values[random.below(values.len())].bits;
        }
        Type::Register(bank) => u64::from(isa.banks[usize::from(bank)].count),
        Type::Constant(table) => isa.constants[usize::from(table)].values.len() as u64,
        _ => ones(field.bits.width()).saturating_add(1),
    };
    random.below(most.clamp(1, 1 << 32) as usize) as u64
}

/// A number of this width: small, at a limit, or any.
fn number(width: u32, random: &mut Random) -> u64 {
    let small = random.below(9) as u64;
    let all = ones(width);
    all & match random.below(8) {
        0..3 => small,
        3 | 4 => small.wrapping_neg(),
        5 => random.pick(&[0, all, all >> 1, (all >> 1) + 1]),
        6 => u64::from(crate::values::Class::Mixed.draw(random)),
        _ => random.next(),
    }
}

/// Whether a form uses addresses or names: it has 64-bit sources or lists of registers.
pub fn is_message(form: &Form) -> bool {
    let wide = |operand: &Operand| operand.access == Access::Read && operand.size > 32;
    form.operands.iter().any(|operand| wide(operand) || matches!(operand.shape, Shape::List { .. }))
}
