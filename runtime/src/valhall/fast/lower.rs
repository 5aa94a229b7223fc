//! Lowers words to operations on rows, from their semantics. Words that cannot be lowered are executed by the
//! reference.
//!
//! ```text
//! word ──Pattern (once): Shape ──▶ Template ──▶ rows of its operands ──▶ Op
//! ```
//!
//! - [`pattern`]: the common properties of words that differ only in numbers
//! - [`template`] covers a shape with operations that have open operands
//! - [`plain`] recognizes loads and stores of whole words, which have handlers
//! - [`slot`]: the operands of a template, and how the bits of a word determine their rows
//! - [`known`]: computes values that are known before a word is executed

use std::cell::RefCell;

use isaforge_core::decode::list_len;
use isaforge_core::semantics::{Node, Op as Pure, Special};
use isaforge_core::table::Form;

use super::access::Access;
use super::atomic::{self, Atomic};
use super::choose::Branch;
use super::constants::Constants;
use super::exit::Exit;
use super::fields::Fields;
use super::given::Given;
use super::handler::{Handler, handler};
use super::log::Record;
use super::memory::{Load, Store};
use super::message::{Kind, Message};
use super::op::Op;
use super::operands::{self, Location};
use super::row;
use crate::exec::vector::effect::{Effect, Value};
use crate::exec::vector::handler::{Exact, NO_ROW};
use crate::level::Level;
use crate::machine::AccessKind;
use crate::valhall::operation::Operand;
use crate::valhall::program::Decoder;
use known::{Known, state};
pub use pattern::Left;
use pattern::{Pattern, Patterns};
use plain::Plain;
use slot::{RowSource, Slot, Table};
use template::{Ending, Step, Template, When};
pub use template::{Order, changes};

mod known;
mod pattern;
mod plain;
mod slot;
mod template;

thread_local! {
    static TABLES: RefCell<Tables> =
        RefCell::new(Tables { patterns: [false, true].map(Patterns::new), table: Table::new() });
}

/// The operations so far.
#[derive(Debug)]
pub struct Lowering<'a> {
    level: Level,
    given: Given<'a>,
    words: u32,
    pc: u32,
    pub ops: Vec<Op>,
    pub constants: Constants,
    /// The registers that operations may read before they are written.
    pub registers: u64,
    /// Whether the order of warps is observable.
    pub order: Order,
    /// Whether all threads execute every word so far.
    straight: bool,
    /// The registers that such words have written.
    pub written: u64,
    /// The table that operations on rows look up.
    pub exact: Vec<Exact>,
    /// The rows of stores with many words.
    pub stored: Vec<u16>,
    /// The calls of intrinsics.
    pub messages: Vec<Message>,
    /// The rows of the current word's operands.
    rows: [u16; slot::MAX_SLOTS],
}

/// Calls `lower` with the tables that all words share.
pub fn with_tables<R>(lower: impl FnOnce(&mut Tables) -> R) -> R {
    TABLES.with_borrow_mut(|tables| {
        tables.table.forget();
        lower(tables)
    })
}

/// The tables that are kept between words and between programs.
#[derive(Debug)]
pub struct Tables {
    /// The patterns of words in fragment programs are the second ones.
    patterns: [Patterns; 2],
    table: Table,
}

impl<'a> Lowering<'a> {
    /// Starts a program of `words` words.
    pub fn new(level: Level, given: Given<'a>, words: u32) -> Self {
        Lowering {
            level,
            given,
            words,
            pc: 0,
            ops: Vec::with_capacity(words as usize),
            constants: Constants::default(),
            registers: 0,
            order: Order::Free,
            straight: true,
            written: 0,
            exact: Vec::new(),
            stored: Vec::new(),
            messages: Vec::new(),
            rows: [0; slot::MAX_SLOTS],
        }
    }

    /// Lowers a word. If that fails, nothing is left of it.
    ///
    /// # Errors
    /// When the reference has to execute the word, or when it is not executable.
    #[inline(always)]
    pub fn word(&mut self, tables: &mut Tables, pc: u32, word: u64) -> Result<Exit, Left> {
        self.pc = pc;
        let pattern = tables.patterns[usize::from(self.given.draws)].get(word, &mut tables.table)?;
        let (ops, exact, stored) = (self.ops.len(), self.exact.len(), self.stored.len());
        let messages = self.messages.len();
        let exit = match self.cover(&mut tables.table, pattern, word) {
            Some(Exit::Next) if pattern.ends => Some(Exit::End),
            Some(Exit::Branch(_) | Exit::Jump(_)) if pattern.ends => None,
            exit => exit,
        };
        let Some(exit) = exit else {
            self.ops.truncate(ops);
            self.exact.truncate(exact);
            self.stored.truncate(stored);
            self.messages.truncate(messages);
            let left = Decoder::get().decode(word);
            return Err(left.map_or(Left::Refused, |(instruction, after)| Left::Reference(instruction, after)));
        };
        self.straight &= matches!(exit, Exit::Next);
        Ok(exit)
    }

    /// Leaves a word to the reference.
    pub fn leave(&mut self) {
        self.straight = false;
    }

    #[inline(always)]
    fn cover(&mut self, table: &mut Table, pattern: &Pattern, word: u64) -> Option<Exit> {
        let template = &*pattern.template;
        let (mut read, mut written) = (0, 0);
        for (at, (place, (_, uses))) in pattern.places.iter().zip(&template.slots).enumerate() {
            let row = match *place {
                RowSource::Table { base, mask, at: bits, which } => match table.get(base, mask, bits, which, word) {
                    Some(row) => row,
                    None => self.find(table, template, at, word)?,
                },
                RowSource::Number(part) => self.constant(part.value(word) as u32)?,
                RowSource::Constant(word) => self.constant(word)?,
                RowSource::Unknown => return None,
            };
            let register = if u32::from(row) < row::REGISTERS { 1 << row } else { 0 };
            read |= register & uses.read;
            written |= register & uses.written;
            self.rows[at % slot::MAX_SLOTS] = row;
        }
        let exact = self.exact.len() as u64;
        if !template.exact.is_empty() {
            self.exact.extend_from_slice(&template.exact);
        }
        for step in &template.steps {
            let op = match step {
                Step::Rows(micro) => Op::Rows(micro.placed(exact, |row| slot::placed(row, &self.rows)), self.pc),
                Step::Plain(access) => {
                    let (op, registers) = self.plain(template, access, word)?;
                    if access.stores {
                        read |= registers;
                    } else {
                        written |= registers;
                    }
                    op
                }
                Step::Update(update) => {
                    let offset = self.known(template.form, &update.offset, word)?;
                    let offset = i32::try_from(offset as i64).ok()?;
                    let place = |row: u16| slot::placed(row, &self.rows).into();
                    Op::Update(handler::<atomic::Update>(self.level).with(Fields {
                        dest: place(update.value),
                        sources: update.address.map(place),
                        numbers: [update.op as u32 | u32::from(update.signed) << 8, offset as u32],
                        pc: self.pc,
                    }))
                }
                Step::Access(access, many) => {
                    let place = |row: u16| slot::placed(row, &self.rows);
                    let mut access = access.moved(place);
                    access.pc = self.pc;
                    if !many.is_empty() {
                        access.many = u16::try_from(self.stored.len()).ok()?;
                        self.stored.extend(many.iter().map(|row| place(*row)));
                    }
                    Op::Access(access)
                }
                Step::Atomic(atomic) => {
                    let mut atomic = atomic.moved(|row| slot::placed(row, &self.rows));
                    atomic.pc = self.pc;
                    if template.order != Order::Shown {
                        // Its result is not read.
                        atomic.to = None;
                    }
                    Op::Atomic(atomic)
                }
                Step::Function(function, rows) => {
                    Op::Function(*function, rows.map(|pair| pair.map(|row| slot::placed(row, &self.rows))), self.pc)
                }
                Step::Message(effect) => {
                    let message = self.message(template, effect, word);
                    read |= message.registers;
                    self.messages.push(message);
                    Op::Message(self.messages.len() as u32 - 1, self.pc)
                }
            };
            if self.given.logs {
                self.ops.extend(self.recorded(step, &op).map(Op::Record));
            }
            self.ops.push(op);
        }
        self.order = self.order.and(template.order);
        let exit = match &template.ending {
            Ending::Next => Exit::Next,
            Ending::Barrier => Exit::Barrier,
            Ending::Branch { target, when } => self.branch(template, target, when.as_ref(), word)?,
        };
        self.registers |= read & !self.written;
        if self.straight {
            self.written |= written;
        }
        Some(exit)
    }

    /// Returns a call of an intrinsic.
    fn message(&self, template: &Template, effect: &Effect, word: u64) -> Message {
        let place = |row: u16| slot::placed(row, &self.rows);
        let value = |value: &Value| {
            let high = if value.high == NO_ROW { NO_ROW } else { place(value.high) };
            Value { row: place(value.row), high, ..*value }
        };
        let operands: Box<[Operand]> =
            template.form.operands.iter().map(|operand| Operand::new(operand, word)).collect();
        let registers = operands.iter().fold(0, |all, operand| match operand {
            Operand::List(list) => list.iter().fold(all, |all, register| all | row::bit(register as u32)),
            _ => all,
        });
        Message {
            intrinsic: effect.numbers[0],
            kind: Kind::of(effect.numbers[0]),
            arguments: effect.values.iter().map(value).collect(),
            when: effect.when.map(place),
            to: effect.to.as_ref().map(value),
            operands,
            registers,
            pc: self.pc,
        }
    }

    /// Returns how the accesses of an operation are recorded, if it makes any.
    fn recorded(&self, step: &Step, op: &Op) -> Option<Record> {
        let accessed = |stores: bool| if stores { AccessKind::Store } else { AccessKind::Load };
        let pc = self.pc;
        Some(match (step, op) {
            (Step::Plain(access), Op::Call(op)) => {
                let Fields { sources, numbers: [offset, _], .. } = *op.fields();
                let (kind, size) = (accessed(access.stores), 4 * access.words);
                Record { kind, size, address: sources.map(|row| row as u16), offset: offset as i32, when: None, pc }
            }
            (Step::Update(_), Op::Update(op)) => {
                let Fields { sources, numbers: [_, offset], .. } = *op.fields();
                let address = sources.map(|row| row as u16);
                Record { kind: AccessKind::Atomic, size: 4, address, offset: offset as i32, when: None, pc }
            }
            (_, Op::Access(Access { stores, size, from, bytes, address, when, .. })) => {
                let (from, size) = if *stores { (0, *size) } else { (*from, *bytes) };
                let (kind, offset) = (accessed(*stores), from.into());
                Record { kind, size, address: *address, offset, when: *when, pc }
            }
            (_, Op::Atomic(Atomic { ty, address, offset, when, .. })) => {
                let (kind, size) = (AccessKind::Atomic, ty.size().div_ceil(8) as u8);
                Record { kind, size, address: *address, offset: *offset, when: *when, pc }
            }
            _ => return None,
        })
    }

    #[inline(always)]
    fn constant(&mut self, word: u32) -> Option<u16> {
        let row = self.constants.known(word).unwrap_or_else(|| self.constants.row(word));
        u16::try_from(row).ok()
    }

    /// Returns the row of a source that was not yet named in this program.
    #[inline(never)]
    fn find(&mut self, table: &mut Table, template: &Template, at: usize, word: u64) -> Option<u16> {
        let (Slot::Source(source, which), _) = template.slots.get(at)? else { return None };
        let which = usize::from(*which);
        let operand = Operand::new(source.operand, word);
        let [one, _] = operands::read(&self.given, self.pc as usize, operand, 0, false)?;
        let [low, high] = operands::read(&self.given, self.pc as usize, operand, 0, true)?;
        let mut rows = [0; 3];
        let places = [one, low, high];
        // Every word has its own counter, so it does not get a constant row.
        if slot::is_counter(operand) {
            return match places.get(which)? {
                Location::Number(number) if *number != 0 => {
                    self.ops.push(Op::Number(row::COUNTER as u16, *number, self.pc));
                    Some(row::COUNTER as u16)
                }
                _ => self.constant(0),
            };
        }
        for (row, place) in rows.iter_mut().zip(places) {
            *row = match place {
                Location::Row(row) => u16::try_from(row).ok()?,
                Location::Number(number) => self.constant(number)?,
            };
        }
        table.add(source, word, rows);
        rows.get(which).copied()
    }

    /// Returns a load or a store of whole words, and the registers of its data as bits. `None` if some of its
    /// registers do not exist.
    fn plain(&mut self, template: &Template, access: &Plain, word: u64) -> Option<(Op, u64)> {
        let first = u32::from(slot::placed(access.data, &self.rows));
        let count = u32::from(access.words);
        if first + count > row::REGISTERS || list_len(access.length, word) < count {
            return None;
        }
        let offset = self.known(template.form, &access.offset, word)?;
        let offset = i32::try_from(offset as i64).ok()?;
        let [low, high] = access.address.map(|row| slot::placed(row, &self.rows).into());
        let fields = Fields { dest: first, sources: [low, high], numbers: [offset as u32, 0], pc: self.pc };
        let registers = (1u64 << count).wrapping_sub(1) << first;
        Some((Op::Call(self.access(access)?.with(fields)), registers))
    }

    fn access(&self, access: &Plain) -> Option<Handler> {
        Some(match (access.stores, access.words) {
            (false, 1) => handler::<Load<1>>(self.level),
            (false, 2) => handler::<Load<2>>(self.level),
            (false, 3) => handler::<Load<3>>(self.level),
            (false, 4) => handler::<Load<4>>(self.level),
            (true, 1) => handler::<Store<1>>(self.level),
            (true, 2) => handler::<Store<2>>(self.level),
            (true, 3) => handler::<Store<3>>(self.level),
            (true, 4) => handler::<Store<4>>(self.level),
            _ => return None,
        })
    }

    /// Adds the branch of a word, after its operations.
    fn branch(&mut self, template: &Template, target: &Known, when: Option<&When>, word: u64) -> Option<Exit> {
        let form = template.form;
        let target = u32::try_from(self.known(form, target, word)?).ok().filter(|target| *target < self.words)?;
        let Some(when) = when else { return Some(Exit::Jump(target)) };
        // Whether everything that it reads is the same in all lanes.
        let is_fixed = |row: &u16| u32::from(*row) >= row::CONSTANTS || u32::from(*row) == row::ZERO;
        if self.rows.iter().take(template.slots.len()).all(is_fixed)
            && let Some(holds) = when.known.as_ref().and_then(|known| self.known(form, known, word))
        {
            return Some(if holds & 1 != 0 { Exit::Jump(target) } else { Exit::Next });
        }
        let source = slot::placed(when.row, &self.rows).into();
        let fields = Fields { dest: row::RESULT, sources: [source; 2], numbers: [target, 0], pc: self.pc };
        self.ops.push(Op::Call(handler::<Branch>(self.level).with(fields)));
        Some(Exit::Branch(target))
    }

    /// Returns a value that is known before the word is executed.
    #[inline]
    fn known(&self, form: &'static Form, known: &Known, word: u64) -> Option<u64> {
        known.value(word, |leaf: &Node| match leaf.op {
            Pure::Operand => {
                let operand = Operand::new(form.operands.get(usize::from(leaf.args[0]))?, word);
                let wide = leaf.ty.size() > 32;
                match operands::read(&self.given, self.pc as usize, operand, leaf.args[1].into(), wide)? {
                    [Location::Number(low), _] if !wide => Some(low.into()),
                    [Location::Number(low), Location::Number(high)] => Some(u64::from(high) << 32 | u64::from(low)),
                    _ => None,
                }
            }
            Pure::State => state(leaf.args[0], self.given.draws),
            Pure::Special if leaf.imm == Special::Next as u16 => Some(u64::from(self.pc) + 1),
            Pure::Special if leaf.imm == Special::Pc as u16 => Some(self.pc.into()),
            _ => None,
        })
    }
}
