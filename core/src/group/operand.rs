//! Operands in text, and which sources they come from.

use crate::group::parse::{TextReason, fits};
use crate::group::scan::Scan;
use crate::group::table::{GroupIsa, OperandKind, RegisterPlace, Slot};
use crate::group::text::name_of;
use crate::group::value::Values;

/// The most registers that one group names.
const MOST: usize = 16;

/// What text has said about registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// Operands that are certain registers: operand, bank, number.
    named: [(u8, i64, i64); MOST],
    names: usize,
    /// Selectors that pass on certain registers: operand, bank, number.
    wanted: [(u8, i64, i64); MOST],
    wants: usize,
    /// How many were named before the part that is being read.
    before: usize,
}

impl Choices {
    /// What follows belongs to a new part.
    pub(super) fn start_part(&mut self) {
        self.before = self.names;
    }
}

impl Default for Choices {
    fn default() -> Self {
        Choices { named: [(0, 0, 0); MOST], names: 0, wanted: [(0, 0, 0); MOST], wants: 0, before: 0 }
    }
}

fn push(list: &mut [(u8, i64, i64); MOST], len: &mut usize, item: (u8, i64, i64)) -> Option<()> {
    *list.get_mut(*len)? = item;
    *len += 1;
    Some(())
}

/// Reads an operand. `None` when it is written otherwise.
pub(super) fn read_operand(
    isa: &GroupIsa,
    index: usize,
    scan: &mut Scan<'_>,
    values: &mut Values,
    choices: &mut Choices,
) -> Option<()> {
    read(isa, index, scan, values, choices, 8)
}

fn read(
    isa: &GroupIsa,
    index: usize,
    scan: &mut Scan<'_>,
    values: &mut Values,
    choices: &mut Choices,
    depth: u8,
) -> Option<()> {
    let operand = isa.operands.get(index)?;
    let depth = depth.checked_sub(1)?;
    match operand.kind {
        OperandKind::Wire("") => Some(()),
        OperandKind::Wire(wire) => scan.word(wire),
        OperandKind::Register(places) => {
            let Some((bank, number)) = scan.register(isa)? else { return Some(()) };
            let named = choices.named.get(..choices.names)?;
            match named.iter().enumerate().find(|(_, n)| n.0 as usize == index) {
                // A source may be written twice, as long as it is the same; a result, which lies in one of several places,
                // only in one part.
                Some((at, known)) => {
                    let again = places.len() == 1 || at >= choices.before;
                    (again && known.1 == bank && known.2 == number).then_some(())
                }
                None => push(&mut choices.named, &mut choices.names, (index as u8, bank, number)),
            }
        }
        OperandKind::Select { slot, field, options, sets } => {
            let registers =
                |o: &u8| matches!(isa.operands.get(*o as usize).map(|o| o.kind), Some(OperandKind::Register(_)));
            // Wires and further selectors first: they are told by their words.
            for (value, option) in options.iter().filter(|(_, o)| !registers(o)) {
                let (mut ahead, mut trial, mut tried) = (scan.clone(), values.clone(), *choices);
                if read(isa, (*option).into(), &mut ahead, &mut trial, &mut tried, depth).is_some() {
                    (*scan, *values, *choices) = (ahead, trial, tried);
                    if sets {
                        values.set(isa, slot.into(), field.into(), *value);
                    }
                    return Some(());
                }
            }
            if !options.iter().any(|(_, o)| registers(o)) {
                return None;
            }
            let register = scan.register(isa)?;
            if scan.literal("@").is_some() {
                // The source is named.
                let named = |o: &&(i64, u8)| {
                    isa.operands.get(o.1 as usize).is_some_and(|o| scan.clone().word(o.name).is_some())
                };
                let option = options.iter().find(named)?;
                scan.word(isa.operands.get(option.1 as usize)?.name)?;
                if sets {
                    values.set(isa, slot.into(), field.into(), option.0);
                }
                let Some((bank, number)) = register else { return Some(()) };
                let known = choices.named.get(..choices.names)?.iter().find(|n| n.0 == option.1);
                return match known {
                    Some(known) => (known.1 == bank && known.2 == number).then_some(()),
                    None => push(&mut choices.named, &mut choices.names, (option.1, bank, number)),
                };
            }
            // `_` leaves the selector as it is.
            let Some((bank, number)) = register else { return Some(()) };
            push(&mut choices.wanted, &mut choices.wants, (index as u8, bank, number))
        }
    }
}

/// Whether an operand can be a register: it may be read there, and some record has room for it.
fn can_hold(isa: &GroupIsa, operand: u8, bank: i64, number: i64) -> bool {
    let Some(OperandKind::Register(places)) = isa.operands.get(operand as usize).map(|o| o.kind) else { return false };
    let through = name_of(isa, bank, number).map_or(0, |name| name.through);
    if through != 0 && through >> (operand & 63) & 1 == 0 {
        return false;
    }
    let room = |p: &RegisterPlace| {
        fits(isa, p.slot.into(), p.bank.into(), bank) && fits(isa, p.slot.into(), p.number.into(), number)
    };
    places.iter().any(room)
}

impl Choices {
    fn named(&self) -> &[(u8, i64, i64)] {
        self.named.get(..self.names).unwrap_or_default()
    }

    /// Finds a place for every register.
    pub(super) fn settle(mut self, isa: &GroupIsa, values: &mut Values) -> Result<(), TextReason> {
        let mut decided: [(u8, i64, i64); MOST] = [(0, 0, 0); MOST];
        let mut count = 0;
        for want in self.wanted.iter().take(self.wants).copied().collect::<Fixed>().iter() {
            let Some(OperandKind::Select { slot, field, options, .. }) =
                isa.operands.get(want.0 as usize).map(|o| o.kind)
            else {
                continue;
            };
            if let Some(before) = decided.iter().take(count).find(|d| d.0 == want.0) {
                if (before.1, before.2) != (want.1, want.2) {
                    return Err(TextReason::Selector);
                }
                continue;
            }
            let holds = |o: u8| self.named().iter().find(|n| n.0 == o).map(|n| (n.1, n.2));
            let same = options.iter().find(|(_, o)| holds(*o) == Some((want.1, want.2)));
            let found = match same {
                Some(option) => *option,
                None => {
                    let can = |o: u8| holds(o).is_none() && can_hold(isa, o, want.1, want.2);
                    let free = options.iter().copied().find(|(_, o)| can(*o)).ok_or(TextReason::Sources)?;
                    push(&mut self.named, &mut self.names, (free.1, want.1, want.2)).ok_or(TextReason::Sources)?;
                    free
                }
            };
            values.set(isa, slot.into(), field.into(), found.0);
            push(&mut decided, &mut count, *want).ok_or(TextReason::Sources)?;
        }
        for (operand, bank, number) in self.named() {
            let Some(OperandKind::Register(places)) = isa.operands.get(*operand as usize).map(|o| o.kind) else {
                continue;
            };
            let Some(place) = self.place(isa, places) else { continue };
            let slot = place.slot as usize;
            values.insert(slot);
            values.set(isa, slot, place.bank.into(), *bank);
            values.set(isa, slot, place.number.into(), *number);
            if place.count.0 != Slot::NEVER {
                let now = values.get(isa, slot, place.count.0.into());
                values.set(isa, slot, place.count.0.into(), now.max(place.count.1));
            }
        }
        Ok(())
    }

    /// The place of a register: a slot all of whose registers are named, the fullest first.
    fn place(&self, isa: &GroupIsa, places: &'static [RegisterPlace]) -> Option<&'static RegisterPlace> {
        if let [only] = places {
            return Some(only);
        }
        let others = |slot: u8| {
            isa.operands.iter().enumerate().filter(move |(_, o)| match o.kind {
                OperandKind::Register(places) => places.iter().any(|p| p.slot == slot),
                _ => false,
            })
        };
        let named = |operand: usize| self.named().iter().any(|n| n.0 as usize == operand);
        // A slot of its own belongs to one register even if another could stand there, too.
        let full = |p: &&RegisterPlace| {
            let shared = others(p.slot).count() > 1;
            !shared || others(p.slot).all(|(i, _)| named(i))
        };
        places.iter().filter(full).max_by_key(|p| others(p.slot).count())
    }
}

/// A short list that is collected without allocation.
#[derive(Clone, Copy)]
struct Fixed {
    items: [(u8, i64, i64); MOST],
    len: usize,
}

impl Fixed {
    fn iter(&self) -> core::slice::Iter<'_, (u8, i64, i64)> {
        self.items.get(..self.len).unwrap_or_default().iter()
    }
}

impl FromIterator<(u8, i64, i64)> for Fixed {
    fn from_iter<I: IntoIterator<Item = (u8, i64, i64)>>(items: I) -> Self {
        let mut list = Fixed { items: [(0, 0, 0); MOST], len: 0 };
        for item in items.into_iter().take(MOST) {
            list.items[list.len] = item;
            list.len += 1;
        }
        list
    }
}
