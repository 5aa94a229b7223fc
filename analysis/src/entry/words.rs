//! Instructions that are one word each.

use std::collections::HashMap;

use isaforge_core::Isa;
use isaforge_core::bits::{sign_extend, word_of};
use isaforge_core::decode::{alternative_of, decode, list_len};
use isaforge_core::print::{Style, print, print_operand};
use isaforge_core::program::target;
use isaforge_core::registers::registers;
use isaforge_core::semantics::{Operation, Semantics, instantiate};
use isaforge_core::table::{self, Access, Form, Shape, Type};
use isaforge_core::text::Line;

use super::calls::{self, Place};
use super::instruction::{Entry, Flow, Instruction, List, Modifier, Operand};
use crate::access::{Found, Implied};
use crate::effects::{Effects, has_branch, overwritten};
use crate::registers::run;
use crate::set::Set;

pub(super) fn targets(
    isa: &'static Isa,
    (size, base): (usize, u64),
    bytes: &[u8],
) -> impl Iterator<Item = (usize, Option<(u64, bool)>)> {
    bytes.chunks(size).enumerate().map(move |(index, chunk)| {
        let (start, word) = (index * size, word_of(chunk));
        let opcode = decode(isa, word).ok().filter(|_| chunk.len() == size);
        (start, opcode.and_then(|opcode| Some((leads(isa, opcode, word, (base, start as u64))?, false))))
    })
}

/// The offset of the branch target of a word at an offset in a program at `base`.
fn leads(isa: &'static Isa, opcode: u16, word: u64, (base, at): (u64, u64)) -> Option<u64> {
    target(isa, opcode, word, base.wrapping_add(at)).map(|target| target.wrapping_sub(base))
}

pub(super) fn read(set: &Set, isa: &'static Isa, bytes: &[u8]) -> impl Iterator<Item = Entry> {
    let size = set.tables.unit();
    let mut known = Known::default();
    let entry = move |(index, chunk): (usize, &[u8])| {
        let start = index * size;
        let instruction = if chunk.len() == size {
            let word = word_of(chunk);
            decode(isa, word)
                .map(|opcode| instruction(set, isa, &mut known, opcode, word, start as u64))
                .map_err(|error| error.to_string())
        } else {
            Err(format!("a word has {size} bytes, but there are {}", chunk.len()))
        };
        Entry { bytes: start..start + chunk.len(), instruction }
    };
    bytes.chunks(size).enumerate().map(entry)
}

fn instruction(set: &Set, isa: &'static Isa, known: &mut Known, opcode: u16, word: u64, address: u64) -> Instruction {
    let semantics = set.semantics;
    let form: &'static Form = &isa.forms[usize::from(opcode)];
    let mut text = Line::new();
    print(isa, opcode, word, Style::Customary, &mut text);
    let effects = semantics.and_then(|semantics| known.effects(semantics, isa, opcode, word));
    let last_read = semantics.map_or("", |semantics| semantics.last_read);
    let is_last = |operand: &table::Operand| match operand.shape {
        Shape::One { kind, at } if !last_read.is_empty() => {
            let alternatives = isa.kinds[usize::from(kind)].alternatives;
            alternative_of(isa, alternatives, at, word).is_some_and(|found| found.name == last_read)
        }
        _ => false,
    };
    let (mut accessed, mut last) = (Found::default(), Vec::new());
    for found in registers(isa, opcode, word, false) {
        let operand = &form.operands[usize::from(found.operand)];
        let registers = run(found.bank, found.first, found.count);
        // The low word alone is read of a 64-bit source with a modifier that selects a part, and a list may be longer
        // than what is read.
        let width = u32::from(isa.banks[usize::from(found.bank)].width).max(1);
        let source = effects.filter(|_| operand.access == Access::Read);
        let bits = source.and_then(|effects| effects.source(found.operand.into()));
        let count = bits.map_or(usize::MAX, |bits| bits.div_ceil(width) as usize);
        registers.clone().take(count).for_each(|register| accessed.read(operand.name, register));
        if is_last(operand) {
            last.extend(registers);
        }
    }
    let (mut kept, mut lost) = (Vec::new(), false);
    for found in registers(isa, opcode, word, true) {
        let (operand, number) = (&form.operands[usize::from(found.operand)], u16::from(found.operand));
        // A modifier may say that nothing is written.
        if effects.is_some_and(|effects| !effects.may_write(number)) {
            continue;
        }
        if discards(set, isa, operand, word) {
            lost = true;
            continue;
        }
        let width = u32::from(isa.banks[usize::from(found.bank)].width).max(1);
        let written = effects.filter(|_| matches!(operand.shape, Shape::List { .. })).and_then(|e| e.source(number));
        let count = u32::from(found.count).min(written.map_or(u32::MAX, |bits| bits.div_ceil(width)));
        let bits = count * width;
        let (whole, needed) = overwritten(effects, number, operand.access, bits);
        if needed {
            run(found.bank, found.first, found.count).for_each(|register| accessed.read(operand.name, register));
        }
        for register in run(found.bank, found.first, found.count).take(count as usize) {
            kept.extend((!set.is_zero(register)).then_some(number));
            accessed.write(operand.name, register, whole);
        }
    }
    accessed.add_implied(set, effects);
    let lists = effects.map_or_else(Vec::new, |effects| lists(isa, form, word, effects));
    let place = Place { set, isa, word, address: set.address(address) };
    let link = semantics.and_then(|semantics| calls::link(&place, semantics, opcode, &accessed.writes));
    Instruction {
        mnemonic: form.name.str.to_owned(),
        text: text.as_str().to_owned(),
        modifiers: modifiers(isa, form, word),
        operands: form.operands.iter().map(|operand| self::operand(isa, operand, word)).collect(),
        reads: accessed.reads,
        last,
        writes: accessed.writes,
        named: accessed.named,
        flow: flow((semantics, opcode, form, word), leads(isa, opcode, word, (set.base, address)), effects, &kept),
        pure: !lost && effects.is_some_and(|effects| !effects.others && !effects.barrier),
        implied: Implied::of(effects),
        lists,
        stops: effects.is_some_and(|effects| set.stops(effects)),
        callee: semantics.and_then(|semantics| calls::callee(semantics, isa, form, word)),
        link,
        lane: effects.is_some_and(|effects| effects.lane),
        ..Instruction::default()
    }
}

/// The lists of registers whose length is not that of what the operation accesses.
fn lists(isa: &'static Isa, form: &'static Form, word: u64, effects: &Effects) -> Vec<List> {
    let list = |(index, operand): (usize, &'static table::Operand)| {
        let Shape::List { kind, count, .. } = &operand.shape else { return None };
        let fields = isa.kinds[usize::from(*kind)].alternatives.iter().flat_map(|alternative| alternative.fields);
        let width = fields.into_iter().find_map(|field| match field.ty {
            Type::Register(bank) => Some(u32::from(isa.banks[usize::from(bank)].width).max(1)),
            _ => None,
        })?;
        let (named, accessed) = (list_len(count, word), effects.extent(index as u16)?.div_ceil(width));
        (named != accessed).then_some(List { operand: operand.name, named, accessed })
    };
    form.operands.iter().enumerate().filter_map(list).collect()
}

/// The effects of the operations seen so far. The opcode, the modifiers and the constant operands determine them, and
/// programs use few combinations of these.
#[derive(Default)]
struct Known {
    effects: HashMap<Vec<Option<u64>>, Effects>,
    key: Vec<Option<u64>>,
}

/// The number of effects to keep, which limits the memory for programs of random words.
const KEPT: usize = 1 << 14;

impl Known {
    /// The effects of a word. `None` if its operation is unknown.
    fn effects(
        &mut self,
        semantics: &'static Semantics,
        isa: &'static Isa,
        opcode: u16,
        word: u64,
    ) -> Option<&Effects> {
        let form = &isa.forms[usize::from(opcode)];
        let operation: &'static Operation = semantics.operations.get(usize::from(opcode))?;
        if operation.text.is_empty() {
            return None;
        }
        let Known { effects, key } = self;
        key.clear();
        key.push(Some(u64::from(opcode)));
        key.extend(operation.modifiers.iter().map(|modifier| Some(modifier.bits(isa, form, word))));
        let constants = key.len();
        key.extend(form.operands.iter().map(|operand| constant(isa, operand, word)));
        if !effects.contains_key(key.as_slice()) {
            let (modifiers, constants) = key.split_at(constants);
            let shape = instantiate(semantics, operation, |index| {
                modifiers.get(usize::from(index) + 1).copied().flatten().unwrap_or(0)
            });
            let found = Effects::of(semantics, &shape, &|operand, element| {
                constants.get(usize::from(operand)).filter(|_| element == 0).copied().flatten()
            });
            if effects.len() == KEPT {
                effects.clear();
            }
            effects.insert(key.clone(), found);
        }
        effects.get(key.as_slice())
    }
}

/// Whether the machine discards what is written to an operand, as that of another program.
fn discards(set: &Set, isa: &'static Isa, operand: &table::Operand, word: u64) -> bool {
    let Shape::One { kind, at } = operand.shape else { return false };
    let found = alternative_of(isa, isa.kinds[usize::from(kind)].alternatives, at, word);
    found.is_some_and(|found| set.hardware.is_some_and(|hardware| hardware.discards(kind, found.name)))
}

/// The value of an operand if the word alone determines it, wherever it is.
pub(super) fn constant(isa: &'static Isa, operand: &'static table::Operand, word: u64) -> Option<u64> {
    match &operand.shape {
        Shape::Number { bits, ty, .. } => {
            let value = bits.get(word, 0);
            Some(if *ty == Type::Signed { sign_extend(value, bits.width()) as u64 } else { value })
        }
        Shape::One { kind, at } if operand.size <= 32 => {
            let found = alternative_of(isa, isa.kinds[usize::from(*kind)].alternatives, *at, word)?;
            let [field] = found.fields else { return None };
            let Type::Constant(table) = field.ty else { return None };
            Some(isa.constants[usize::from(table)].values.get(field.bits.get(word, *at) as usize)?.value)
        }
        _ => None,
    }
}

fn modifiers(isa: &'static Isa, form: &'static Form, word: u64) -> Vec<Modifier> {
    let of = |modifier: &'static table::Modifier, operand: &str| {
        let value = modifier.bits.get(word, 0);
        if modifier.default == Some(value) {
            return None;
        }
        let text = match modifier.ty {
            Type::Enum(e) => isa.enums[usize::from(e)].value(value).map_or(String::new(), |v| v.text.to_owned()),
            _ => modifier.flag.str.trim_start_matches('.').to_owned(),
        };
        let name = match operand {
            "" => modifier.name.to_owned(),
            operand => format!("{operand}.{}", modifier.name),
        };
        Some(Modifier { name, value, text })
    };
    let own = form.modifiers.iter().filter_map(|modifier| of(modifier, ""));
    let suffixes = form.operands.iter().flat_map(|operand| operand.suffixes.iter().map(|s| (s, operand.name)));
    own.chain(suffixes.filter_map(|(suffix, operand)| of(suffix, operand))).collect()
}

fn operand(isa: &'static Isa, operand: &'static table::Operand, word: u64) -> Operand {
    let mut text = Line::new();
    print_operand(isa, operand, word, Style::Customary, &mut text);
    let (kind, value) = match &operand.shape {
        Shape::Number { bits, ty, .. } => {
            let value = bits.get(word, 0);
            ("number", if *ty == Type::Signed { sign_extend(value, bits.width()) } else { value as i64 })
        }
        Shape::One { kind, at } => {
            let kind = &isa.kinds[usize::from(*kind)];
            match alternative_of(isa, kind.alternatives, *at, word) {
                Some(found) => {
                    let value = match found.fields {
                        [field] => match field.ty {
                            Type::Constant(table) => {
                                let index = field.bits.get(word, *at) as usize;
                                isa.constants[usize::from(table)].values.get(index).map_or(0, |c| c.value as i64)
                            }
                            Type::Signed => sign_extend(field.bits.get(word, *at), field.bits.width()),
                            _ => field.bits.get(word, *at) as i64,
                        },
                        _ => (word >> (at & 63) & kind.own_bits()) as i64,
                    };
                    (if found.name.is_empty() { kind.name } else { found.name }, value)
                }
                None => (kind.name, 0),
            }
        }
        Shape::List { kind, at, count, .. } => {
            let field = &isa.kinds[usize::from(*kind)].alternatives[0].fields[0];
            let first = if list_len(count, word) == 0 { -1 } else { field.bits.get(word, *at) as i64 };
            ("list", first)
        }
    };
    Operand { name: operand.name, kind, value, text: text.as_str().to_owned() }
}

/// `kept` are the operands that name a register which keeps what is written to it.
fn flow(
    (semantics, opcode, form, word): (Option<&'static Semantics>, u16, &'static Form, u64),
    target: Option<u64>,
    effects: Option<&Effects>,
    kept: &[u16],
) -> Flow {
    let mut flow = Flow::of(effects, target, || has_branch(semantics, opcode), |operand| kept.contains(&operand));
    let value = |name: &str| {
        let modifier = form.modifiers.iter().find(|modifier| modifier.name == name)?;
        Some(modifier.bits.get(word, 0))
    };
    flow.add_facts(semantics, form.name.str, value, effects.is_some_and(|effects| effects.leads));
    flow
}
