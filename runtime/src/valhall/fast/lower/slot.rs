//! The operands of a template, and how the bits of a word say in which rows they are.

use std::sync::LazyLock;

use isaforge_core::bits::{Bits, ones, sign_extend};
use isaforge_core::decode::{alternative_of, list_len};
use isaforge_core::table::{self, Count, Shape, Type as Number};
use isaforge_valhall::{FauSpecialPage3, ISA, Source as Word};
use rustc_hash::FxHashMap;

use crate::exec::shape::reading;
use crate::valhall::fast::code::row;
use crate::valhall::operation::Operand;
use crate::valhall::program::REGISTERS;

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
    Source(Source, u8),
    /// A register.
    Register(Element),
    /// A register of a list, with a first register that is a multiple of a number.
    List(Element, &'static Count, u8),
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
            (Slot::List(a, count, _), Slot::List(b, other, _)) => a == b && std::ptr::eq(*count, *other),
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
    /// Whether it is of the list whose first register is said by bits from `at` on.
    pub fn is_at(&self, at: u8) -> bool {
        self.at == at
    }
}

/// A number in a word, or half of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    bits: &'static Bits,
    /// How many bits it has where the highest is its sign, or 0.
    signed: u32,
    mask: u64,
    shift: u32,
}

impl Part {
    /// The number that an operand always is, at a width in bits; `None` where it is something else.
    pub fn of(operand: &'static table::Operand, mask: u64, shift: u32) -> Option<Part> {
        let Shape::Number { bits, ty, .. } = &operand.shape else { return None };
        let signed = if *ty == Number::Signed { bits.width() } else { 0 };
        Some(Part { bits, signed, mask, shift })
    }

    /// Its value in a word.
    #[inline(always)]
    pub fn value(&self, word: u64) -> u64 {
        let number = self.bits.get(word, 0);
        let number = if self.signed > 0 { sign_extend(number, self.signed) as u64 } else { number };
        (number & self.mask) >> self.shift
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
            Shape::Number { .. } => Slot::Number(Part::of(operand, mask, 32 * u32::from(above))?),
            Shape::List { kind, at, count, align, .. } => {
                let bits = &ISA.kinds.get(usize::from(*kind))?.alternatives.first()?.fields.first()?.bits;
                Slot::List(Element { bits, at: *at, element: element + above, written }, count, *align)
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
                        Slot::Source(Source { operand, index }, half.map_or(0, |half| 1 + half as u8))
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

    /// Where the entries of words like this one begin: those with the same bits that are shared.
    fn place(&self, word: u64, which: u8) -> Place {
        let base = self.first + (self.shared.get(word) * (usize::from(self.own.mask) + 1)) as u32;
        Place::Table { base, mask: self.own.mask, at: self.own.at, which }
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

/// Where the row of a slot is, for words of a pattern.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In the table, at a base plus what some bits of the word say; one of the rows there.
    Table {
        base: u32,
        mask: u16,
        at: u8,
        which: u8,
    },
    /// Among the constants.
    Number(Part),
    Constant(u32),
    /// Nowhere: each word has to be looked at.
    Unknown,
}

/// Rows, as bits of words name them: those of registers, and of sources that words of a program have named.
#[derive(Debug)]
pub struct Table {
    entries: Vec<Entry>,
    /// What entries of this program are marked with.
    program: u16,
    /// Where the entries of the registers of a bank begin.
    elements: FxHashMap<Registers, u32>,
}

/// A register behind one that words name, or that one itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Registers {
    element: u16,
    written: bool,
    /// How many there are, and of how many the first is a multiple; of what is no list there is always one more.
    list: Option<(u32, u8)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    program: u16,
    rows: [u16; 3],
}

impl Entry {
    /// Of no program.
    const NONE: Entry = Entry { program: u16::MAX, rows: [0; 3] };
    /// Of all programs.
    const ALL: u16 = 0;
}

impl Table {
    pub fn new() -> Self {
        Table { entries: vec![Entry::NONE; KINDS.len as usize], program: Entry::ALL, elements: FxHashMap::default() }
    }

    /// Begins a program.
    pub fn forget(&mut self) {
        self.program += 1;
        if self.program == Entry::NONE.program {
            self.entries.iter_mut().filter(|entry| entry.program != Entry::ALL).for_each(|entry| *entry = Entry::NONE);
            self.program = 1;
        }
    }

    /// Where a slot is in all words that have the pattern of this one.
    pub fn place(&mut self, slot: &Slot, word: u64) -> Place {
        match *slot {
            Slot::Source(Source { operand, index }, which) => {
                let Shape::One { kind, at } = operand.shape else { return Place::Unknown };
                let reading = alternative_of(ISA, ISA.kinds[usize::from(kind)].alternatives, at, word);
                match reading.map(|reading| reading.fields) {
                    Some([only]) if only.ty == Number::Register(REGISTERS) => {
                        let element = u16::from(which == 2);
                        self.registers(Element { bits: &only.bits, at, element, written: false }, None)
                    }
                    _ => index.place(word, which),
                }
            }
            Slot::Register(element) => self.registers(element, None),
            Slot::List(element, count, align) => self.registers(element, Some((list_len(count, word), align))),
            Slot::Number(part) => Place::Number(part),
            Slot::Constant(word) => Place::Constant(word),
        }
    }

    fn registers(&mut self, Element { bits, at, element, written }: Element, list: Option<(u32, u8)>) -> Place {
        let Some(Run { at, mask }) = Run::of(bits.mask(at)) else { return Place::Unknown };
        let entry = |first: u32| {
            let (count, align) = list.unwrap_or((u32::MAX, 1));
            let register = first + u32::from(element);
            let beyond = if written { row::RESULT } else { row::ZERO };
            let row = if register < row::REGISTERS && u32::from(element) < count { register } else { beyond };
            // A word with other registers is no instruction.
            let valid = match count {
                u32::MAX | 1 => true,
                0 => first == 0,
                _ => first + count <= row::REGISTERS && first.is_multiple_of(align.max(1).into()),
            };
            if valid { Entry { program: Entry::ALL, rows: [row as u16; 3] } } else { Entry::NONE }
        };
        let entries = &mut self.entries;
        let base = *self.elements.entry(Registers { element, written, list }).or_insert_with(|| {
            let base = entries.len() as u32;
            entries.extend((0..row::REGISTERS).map(entry));
            base
        });
        if u32::from(mask) < row::REGISTERS { Place::Table { base, mask, at, which: 0 } } else { Place::Unknown }
    }

    /// The row at a place. `None` where no word of the program has named it.
    #[inline(always)]
    pub fn get(&self, base: u32, mask: u16, at: u8, which: u8, word: u64) -> Option<u16> {
        let entry = self.entries.get(base as usize + usize::from((word >> (at & 63)) as u16 & mask))?;
        let known = entry.program == Entry::ALL || entry.program == self.program;
        if known { entry.rows.get(usize::from(which)).copied() } else { None }
    }

    /// Adds the rows of a source.
    pub fn add(&mut self, source: &Source, word: u64, rows: [u16; 3]) {
        if let Place::Table { base, mask, at, .. } = source.index.place(word, 0)
            && let Some(entry) = self.entries.get_mut(base as usize + usize::from((word >> (at & 63)) as u16 & mask))
        {
            *entry = Entry { program: self.program, rows };
        }
    }
}
