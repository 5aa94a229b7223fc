//! The operands of a template, and how the bits of a word say in which rows they are.

use std::sync::LazyLock;

use isaforge_core::bits::{Bits, ones, sign_extend};
use isaforge_core::table::{self, Count, Shape, Type as Number};
use isaforge_valhall::{FauSpecialPage3, ISA, Source as Word};
use rustc_hash::FxHashMap;

use super::super::super::operation::Operand;
use super::super::code::row;
use crate::exec::shape::reading;

/// The slots of a template stand for rows from here on.
pub const FIRST: u16 = 0xc000;
/// How many slots a template may have.
pub const MOST: usize = 64;

/// The row of a template's row, once the rows of its slots are known.
#[inline(always)]
pub fn placed(row: u16, rows: &[u16; MOST]) -> u16 {
    let slot = usize::from(row.wrapping_sub(FIRST));
    if slot < MOST { rows[slot % MOST] } else { row }
}

/// A row that only a word knows.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// That of a source: 0 for its word, 1 and 2 for the low and the high word of its pair.
    Source(Source, usize),
    /// A register.
    Register(Element),
    /// A register of a list.
    List(Element, &'static Count),
    /// A word of a number.
    Number(Part),
    /// The same in all words.
    Constant(u32),
}

impl PartialEq for Slot {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Slot::Source(a, which), Slot::Source(b, other)) => std::ptr::eq(a.operand, b.operand) && which == other,
            (Slot::Register(a), Slot::Register(b)) => a == b,
            (Slot::List(a, count), Slot::List(b, other)) => a == b && std::ptr::eq(*count, *other),
            (Slot::Number(a), Slot::Number(b)) => a == b,
            (Slot::Constant(a), Slot::Constant(b)) => a == b,
            _ => false,
        }
    }
}

/// How a slot is used, as masks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    /// Ones if it is read.
    pub read: u64,
    /// Ones if it is written.
    pub written: u64,
}

/// A register that a word names, or one behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    bits: &'static Bits,
    at: u8,
    element: u16,
    /// Whether it is written: what is beyond the last register is not, and reads 0.
    written: bool,
}

impl Element {
    /// Its row; `count` is how many there are.
    #[inline(always)]
    pub fn row(&self, word: u64, count: u32) -> u16 {
        let register = self.bits.get(word, self.at) as u32 + u32::from(self.element);
        let beyond = if self.written { row::RESULT } else { row::ZERO };
        let there = register < row::REGISTERS && u32::from(self.element) < count;
        (if there { register } else { beyond }) as u16
    }
}

/// Half of a number in a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    bits: &'static Bits,
    signed: bool,
    mask: u64,
    shift: u32,
}

impl Part {
    #[inline(always)]
    pub fn value(&self, word: u64) -> u32 {
        let number = self.bits.get(word, 0);
        let number = if self.signed { sign_extend(number, self.bits.width()) as u64 } else { number };
        ((number & self.mask) >> self.shift) as u32
    }
}

/// An operand that a table has the rows of.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The operand.
    pub operand: &'static table::Operand,
    index: Index,
}

impl Slot {
    /// The slot of a row of an operand; `half` chooses a word of what is wider than one.
    pub fn of(
        operand: &'static table::Operand,
        element: u16,
        half: Option<u16>,
        mask: u64,
        written: bool,
    ) -> Option<Slot> {
        let above = half.unwrap_or(0);
        Some(match &operand.shape {
            Shape::Number { bits, ty, .. } => {
                let signed = *ty == Number::Signed;
                Slot::Number(Part { bits, signed, mask, shift: 32 * u32::from(above) })
            }
            Shape::List { kind, at, count, .. } => {
                let bits = &ISA.kinds.get(usize::from(*kind))?.alternatives.first()?.fields.first()?.bits;
                Slot::List(Element { bits, at: *at, element: element + above, written }, count)
            }
            Shape::One { kind, at } => {
                let alternatives = ISA.kinds.get(usize::from(*kind))?.alternatives;
                match alternatives {
                    [only] if only.fields.first().is_some_and(|field| matches!(field.ty, Number::Register(_))) => {
                        let bits = &only.fields.first()?.bits;
                        Slot::Register(Element { bits, at: *at, element: element + above, written })
                    }
                    _ if written => return None,
                    _ => {
                        let index = Index::of(operand)?;
                        Slot::Source(Source { operand, index }, half.map_or(0, |half| 1 + usize::from(half)))
                    }
                }
            }
        })
    }
}

/// Whether a source is where the word itself stands.
pub fn is_counter(operand: Operand) -> bool {
    matches!(operand, Operand::Source(Word::Special3 { name: FauSpecialPage3::ProgramCounter, .. }))
}

/// Where the bits of an operand lead to in the table: its own, and above them those that it shares with others.
#[derive(Clone, Copy, Debug)]
struct Index {
    first: u32,
    own: Run,
    shared: Run,
}

/// Bits that lie together.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    at: u8,
    mask: u16,
}

impl Run {
    /// The run of a mask. `None` where it is no single one, or a long one.
    fn of(mask: u64) -> Option<Run> {
        let (at, width) = (mask.trailing_zeros(), mask.count_ones());
        if mask == 0 {
            return Some(Run::default());
        }
        (mask >> at == ones(width) && width <= 10).then_some(Run { at: at as u8, mask: ones(width) as u16 })
    }

    #[inline(always)]
    fn get(self, word: u64) -> usize {
        usize::from((word >> self.at) as u16 & self.mask)
    }
}

impl Index {
    /// `None` where the bits of an operand are more than a table can have.
    fn of(operand: &'static table::Operand) -> Option<Index> {
        let Shape::One { kind, at } = operand.shape else { return None };
        let [own, shared] = reading(ISA, operand);
        if own.count_ones() + shared.count_ones() > WIDEST {
            return None;
        }
        let first = *KINDS.first.get(&(kind, own >> at, shared))?;
        Some(Index { first, own: Run::of(own)?, shared: Run::of(shared)? })
    }

    #[inline(always)]
    fn get(&self, word: u64) -> usize {
        self.first as usize + self.own.get(word) + self.shared.get(word) * (usize::from(self.own.mask) + 1)
    }
}

/// Bits of an operand that the table has entries for, at most.
const WIDEST: u32 = 12;

/// Where the rows of each kind of operands begin.
struct Kinds {
    first: FxHashMap<(u16, u64, u64), u32>,
    len: u32,
}

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let (mut first, mut len) = (FxHashMap::default(), 0);
    for operand in ISA.forms.iter().flat_map(|form| form.operands) {
        let Shape::One { kind, at } = operand.shape else { continue };
        let [own, shared] = reading(ISA, operand);
        first.entry((kind, own >> at, shared)).or_insert_with(|| {
            let begin = len;
            len += 1 << (own.count_ones() + shared.count_ones()).min(WIDEST);
            begin
        });
    }
    Kinds { first, len }
});

/// The rows of sources that words of a program have named.
#[derive(Debug)]
pub struct Table {
    entries: Vec<Entry>,
    /// What entries of this program are marked with.
    program: u16,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    program: u16,
    rows: [u16; 3],
}

impl Table {
    pub fn new() -> Self {
        Table { entries: vec![Entry::default(); KINDS.len as usize], program: 0 }
    }

    /// Begins a program.
    pub fn forget(&mut self) {
        self.program = self.program.checked_add(1).unwrap_or_else(|| {
            self.entries.fill(Entry::default());
            1
        });
    }

    /// The row of a source, if a word of the program has named it.
    #[inline(always)]
    pub fn get(&self, source: &Source, which: usize, word: u64) -> Option<u16> {
        let entry = self.entries.get(source.index.get(word))?;
        if entry.program == self.program { entry.rows.get(which).copied() } else { None }
    }

    /// Adds the rows of a source.
    pub fn add(&mut self, source: &Source, word: u64, rows: [u16; 3]) {
        if let Some(entry) = self.entries.get_mut(source.index.get(word)) {
            *entry = Entry { program: self.program, rows };
        }
    }
}
