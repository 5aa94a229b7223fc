//! Operands in text, and the sources that they select.

use crate::group::error::TextReason;
use crate::group::record::fits;
use crate::group::scan::Scan;
use crate::group::spelling::name_of;
use crate::group::table::{GroupIsa, OperandKind, RegisterPlace, Slot};
use crate::group::value::Values;

/// The maximum number of registers that a group names.
const MAX_REGISTERS: usize = 16;

/// The registers named so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// Operands that name a register: operand, bank, number.
    named: [(u8, i64, i64); MAX_REGISTERS],
    names: usize,
    /// Selectors that must select a register: operand, bank, number.
    wanted: [(u8, i64, i64); MAX_REGISTERS],
    wants: usize,
    /// Results named before this index may not be named again.
    before: usize,
}

impl Choices {
    /// Names a register. If the operand already has one, it must be the same.
    fn name(&mut self, operand: u8, bank: i64, number: i64, result: bool) -> Option<()> {
        let known = self.named().iter().position(|n| n.0 == operand);
        match known.and_then(|at| Some((at, self.named.get(at)?))) {
            Some((at, known)) => {
                let again = !result || at >= self.before;
                (again && known.1 == bank && known.2 == number).then_some(())
            }
            None => push(&mut self.named, &mut self.names, (operand, bank, number)),
        }
    }
}

impl Default for Choices {
    fn default() -> Self {
        Choices { named: [(0, 0, 0); MAX_REGISTERS], names: 0, wanted: [(0, 0, 0); MAX_REGISTERS], wants: 0, before: 0 }
    }
}

fn push(list: &mut [(u8, i64, i64); MAX_REGISTERS], len: &mut usize, item: (u8, i64, i64)) -> Option<()> {
    *list.get_mut(*len)? = item;
    *len += 1;
    Some(())
}

/// The source of an operand: text being parsed, or the output of the printer.
pub(super) trait Written: Clone {
    /// Consumes a word.
    fn word(&mut self, word: &str) -> Option<()>;
    /// Consumes a register (bank, number). The inner `None` is `_`.
    fn register(&mut self, isa: &GroupIsa) -> Option<Option<(i64, i64)>>;
    /// Consumes the mark that precedes the name of a register's source.
    fn is_hinted(&mut self) -> bool;
}

impl Written for Scan<'_> {
    fn word(&mut self, word: &str) -> Option<()> {
        Scan::word(self, word)
    }

    fn register(&mut self, isa: &GroupIsa) -> Option<Option<(i64, i64)>> {
        Scan::register(self, isa)
    }

    fn is_hinted(&mut self) -> bool {
        self.literal("@").is_some()
    }
}

/// A printed operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Printed {
    /// A wire.
    Wire(&'static str),
    /// A register (bank, number) or `_`, and the source that is named with it.
    Register(Option<(i64, i64)>, Option<&'static str>),
}

impl Written for Printed {
    fn word(&mut self, word: &str) -> Option<()> {
        let same = match self {
            Printed::Wire(wire) => *wire == word,
            Printed::Register(_, source) => *source == Some(word),
        };
        same.then_some(())
    }

    fn register(&mut self, _: &GroupIsa) -> Option<Option<(i64, i64)>> {
        match *self {
            Printed::Wire(_) => None,
            Printed::Register(register, _) => Some(register),
        }
    }

    fn is_hinted(&mut self) -> bool {
        matches!(self, Printed::Register(_, Some(_)))
    }
}

/// The maximum number of fields that a part sets.
const MAX_FIELDS_SET: usize = 96;

/// Values under construction, with a log to undo the changes of a part that turns out to be a different operation.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) values: Values,
    pub(super) choices: Choices,
    log: [(u8, u8, i64); MAX_FIELDS_SET],
    logged: usize,
}

/// A state that a [`Draft`] can return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    logged: usize,
    names: usize,
    wants: usize,
}

impl Draft {
    pub(super) fn new(isa: &GroupIsa) -> Self {
        Draft { values: Values::new(isa), choices: Choices::default(), log: [(0, 0, 0); MAX_FIELDS_SET], logged: 0 }
    }

    /// Starts a new part.
    pub(super) fn start_part(&mut self) {
        self.logged = 0;
    }

    /// Tries the part as an operation, or as a remark on what drives a result. Operations may write a result that
    /// another one names too; a remark on such a result would be about the other result.
    pub(super) fn start_operation(&mut self, remark: bool) {
        self.choices.before = if remark { self.choices.names } else { 0 };
    }

    pub(super) fn get(&self, isa: &GroupIsa, slot: usize, field: u8) -> i64 {
        self.values.get(isa, slot, field.into())
    }

    /// Sets a field. `None` when the part sets more fields than any part does.
    pub(super) fn set(&mut self, isa: &GroupIsa, slot: usize, field: u8, value: i64) -> Option<()> {
        let old = self.get(isa, slot, field);
        if old != value {
            *self.log.get_mut(self.logged)? = (slot as u8, field, old);
            self.logged += 1;
            self.values.set(isa, slot, field.into(), value);
        }
        Some(())
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { logged: self.logged, names: self.choices.names, wants: self.choices.wants }
    }

    pub(super) fn back_to(&mut self, isa: &GroupIsa, checkpoint: Checkpoint) {
        while self.logged > checkpoint.logged {
            self.logged -= 1;
            if let Some((slot, field, old)) = self.log.get(self.logged).copied() {
                self.values.set(isa, slot.into(), field.into(), old);
            }
        }
        self.choices.names = checkpoint.names;
        self.choices.wants = checkpoint.wants;
    }

    /// Finds a source for every register.
    pub(super) fn settle(&mut self, isa: &GroupIsa) -> Result<(), TextReason> {
        self.choices.settle(isa, &mut self.values)
    }

    /// Reads an operand. `None` when the text does not match; the draft is then unchanged.
    pub(super) fn operand(&mut self, isa: &GroupIsa, index: usize, written: &mut impl Written) -> Option<()> {
        self.read(isa, index, written, 8)
    }

    fn read(&mut self, isa: &GroupIsa, index: usize, written: &mut impl Written, depth: u8) -> Option<()> {
        let operand = isa.operands.get(index)?;
        let depth = depth.checked_sub(1)?;
        match operand.kind {
            OperandKind::Wire("") => Some(()),
            OperandKind::Wire(wire) => written.word(wire),
            OperandKind::Register(places) => {
                let Some((bank, number)) = written.register(isa)? else { return Some(()) };
                // A register with several possible places is a result.
                self.choices.name(index as u8, bank, number, places.len() > 1)
            }
            OperandKind::Select { slot, field, options, sets } => {
                let is_register =
                    |o: &u8| matches!(isa.operands.get(*o as usize).map(|o| o.kind), Some(OperandKind::Register(_)));
                // Try wires and nested selectors first: they are identified by their words.
                for (value, option) in options.iter().filter(|(_, o)| !is_register(o)) {
                    let (mut ahead, checkpoint) = (written.clone(), self.checkpoint());
                    if self.read(isa, (*option).into(), &mut ahead, depth).is_some() {
                        *written = ahead;
                        return if sets { self.set(isa, slot.into(), field, *value) } else { Some(()) };
                    }
                    self.back_to(isa, checkpoint);
                }
                if !options.iter().any(|(_, o)| is_register(o)) {
                    return None;
                }
                let register = written.register(isa)?;
                if written.is_hinted() {
                    // The source is named explicitly.
                    let mut named = options.iter().filter_map(|o| Some((o, isa.operands.get(o.1 as usize)?.name)));
                    let (option, _) = named.find(|(_, name)| written.word(name).is_some())?;
                    if sets {
                        self.set(isa, slot.into(), field, option.0)?;
                    }
                    let Some((bank, number)) = register else { return Some(()) };
                    return self.choices.name(option.1, bank, number, false);
                }
                // `_` leaves the selector unchanged.
                let Some((bank, number)) = register else { return Some(()) };
                push(&mut self.choices.wanted, &mut self.choices.wants, (index as u8, bank, number))
            }
        }
    }
}

/// Whether an operand can be this register: the operand may read it, and some record has room for it.
fn can_hold(isa: &GroupIsa, operand: u8, bank: i64, number: i64) -> bool {
    let Some(OperandKind::Register(places)) = isa.operands.get(operand as usize).map(|o| o.kind) else { return false };
    let through = name_of(isa, bank, number).map_or(0, |name| name.through);
    if through != 0 && through >> (operand & 63) & 1 == 0 {
        return false;
    }
    has_room(isa, places, bank, number)
}

/// Whether some record has room for a register in one of these places.
fn has_room(isa: &GroupIsa, places: &[RegisterPlace], bank: i64, number: i64) -> bool {
    let room = |p: &RegisterPlace| {
        fits(isa, p.slot.into(), p.bank.into(), bank) && fits(isa, p.slot.into(), p.number.into(), number)
    };
    places.iter().any(room)
}

/// Whether an operand, or one that it selects, can be this register.
pub(super) fn can_be(isa: &GroupIsa, operand: u16, bank: i64, number: i64, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let kind = |operand: u16| isa.operands.get(usize::from(operand)).map(|operand| operand.kind);
    match kind(operand) {
        Some(OperandKind::Register(places)) => has_room(isa, places, bank, number),
        Some(OperandKind::Select { options, .. }) => options.iter().any(|(_, option)| match kind((*option).into()) {
            Some(OperandKind::Register(_)) => can_hold(isa, *option, bank, number),
            _ => can_be(isa, (*option).into(), bank, number, depth),
        }),
        Some(OperandKind::Wire(_)) | None => false,
    }
}

impl Choices {
    fn named(&self) -> &[(u8, i64, i64)] {
        self.named.get(..self.names).unwrap_or_default()
    }

    /// Finds a source for every register.
    fn settle(&mut self, isa: &GroupIsa, values: &mut Values) -> Result<(), TextReason> {
        let mut decided: [(u8, i64, i64); MAX_REGISTERS] = [(0, 0, 0); MAX_REGISTERS];
        let mut count = 0;
        let wanted = self.wanted;
        for want in wanted.iter().take(self.wants) {
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

    /// The place of a register: a slot whose registers are all named, preferring the one with the most registers.
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
        // A slot with a single register can hold it even if another place is possible too.
        let full = |p: &&RegisterPlace| {
            let shared = others(p.slot).count() > 1;
            !shared || others(p.slot).all(|(i, _)| named(i))
        };
        places.iter().filter(full).max_by_key(|p| others(p.slot).count())
    }
}
