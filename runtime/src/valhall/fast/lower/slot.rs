//! The operands of a template, and how the bits of a word determine their rows.

use std::sync::LazyLock;

use isaforge_core::bits::{Bits, ones, sign_extend};
use isaforge_core::decode::{alternative_of, list_len};
use isaforge_core::table::{self, Count, Shape, Type as Number};
use isaforge_valhall::{FauSpecialPage3, ISA, Source as Word};
use rustc_hash::FxHashMap;

use crate::exec::shape::reading;
use crate::valhall::fast::row;
use crate::valhall::operation::Operand;
use crate::valhall::program::REGISTERS;

/// Rows from here on stand for the slots of a template.
pub const FIRST: u16 = 0xc000;
/// The maximum number of slots of a template.
pub const MAX_SLOTS: usize = 64;

/// Returns the actual row of a template's row, given the rows of its slots.
#[inline(always)]
pub fn placed(row: u16, rows: &[u16; MAX_SLOTS]) -> u16 {
    let slot = usize::from(row.wrapping_sub(FIRST));
    if slot < MAX_SLOTS { rows[slot % MAX_SLOTS] } else { row }
}

/// A row that depends on the word.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// The row of a source: 0 for a single word, 1 and 2 for the low and the high word of its pair.
    Source(Source, u8),
    /// A register.
    Register(Element),
    /// A register of a list, whose first register is a multiple of a number.
    List(Element, &'static Count, u8),
    /// A word of a number.
    Number(Part),
    /// A constant, the same in all words.
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

/// The slots of a template.
#[derive(Debug, Default)]
pub struct Rows(pub Vec<Slot>);

impl Rows {
    /// Returns the row that stands for a slot.
    pub fn add(&mut self, slot: Slot) -> u16 {
        let at = self.0.iter().position(|known| *known == slot).unwrap_or_else(|| {
            self.0.push(slot);
            self.0.len() - 1
        });
        FIRST + at as u16
    }
}

/// How a slot is used, as masks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    /// All ones if it is read.
    pub read: u64,
    /// All ones if it is written.
    pub written: u64,
}

/// A register that a word names, or one at an offset from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    bits: &'static Bits,
    at: u8,
    element: u16,
    /// Whether it is written: writes after the last register are dropped, reads return 0.
    written: bool,
}

impl Element {
    /// Whether it belongs to the list whose first register is encoded from bit `at` on.
    pub fn is_at(&self, at: u8) -> bool {
        self.at == at
    }
}

/// A number in a word, or one half of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    bits: &'static Bits,
    /// The width if the highest bit is a sign, or else 0.
    signed: u32,
    mask: u64,
    shift: u32,
}

impl Part {
    /// Returns the number that an operand always is, at a width in bits; `None` if it may be something else.
    pub fn of(operand: &'static table::Operand, mask: u64, shift: u32) -> Option<Part> {
        let Shape::Number { bits, ty, .. } = &operand.shape else { return None };
        let signed = if *ty == Number::Signed { bits.width() } else { 0 };
        Some(Part { bits, signed, mask, shift })
    }

    /// Returns its value in a word.
    #[inline(always)]
    pub fn value(&self, word: u64) -> u64 {
        let number = self.bits.get(word, 0);
        let number = if self.signed > 0 { sign_extend(number, self.signed) as u64 } else { number };
        (number & self.mask) >> self.shift
    }
}

/// An operand whose rows are in a table.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The operand.
    pub operand: &'static table::Operand,
    index: Index,
}

impl Slot {
    /// Returns the slot of an operand's row; `half` selects a word of a wider operand.
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

/// Whether a source is the program counter.
pub fn is_counter(operand: Operand) -> bool {
    matches!(operand, Operand::Source(Word::Special3 { name: FauSpecialPage3::ProgramCounter, .. }))
}

/// How the bits of an operand form an index into the table: its own bits, and above them those that it shares with
/// others.
#[derive(Clone, Copy, Debug)]
struct Index {
    first: u32,
    own: Run,
    shared: Run,
}

/// A contiguous run of bits.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    at: u8,
    mask: u16,
}

impl Run {
    /// Returns the run of a mask. `None` if the mask is not a single run of at most ten bits.
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
    /// `None` if the operand has more bits than a table supports.
    fn of(operand: &'static table::Operand) -> Option<Index> {
        let Shape::One { kind, at } = operand.shape else { return None };
        let [own, shared] = reading(ISA, operand);
        if own.count_ones() + shared.count_ones() > MAX_TABLE_BITS {
            return None;
        }
        let first = *KINDS.first.get(&(kind, own >> at, shared))?;
        Some(Index { first, own: Run::of(own)?, shared: Run::of(shared)? })
    }

    /// Returns where the entries begin for words that have the same shared bits.
    fn place(&self, word: u64, which: u8) -> RowSource {
        let base = self.first + (self.shared.get(word) * (usize::from(self.own.mask) + 1)) as u32;
        RowSource::Table { base, mask: self.own.mask, at: self.own.at, which }
    }
}

/// The maximum width in bits of an operand for which the table has entries.
const MAX_TABLE_BITS: u32 = 12;

/// The first entry of each kind of operand.
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
            len += 1 << (own.count_ones() + shared.count_ones()).min(MAX_TABLE_BITS);
            begin
        });
    }
    Kinds { first, len }
});

/// Where the row of a slot is found, for the words of a pattern.
#[derive(Clone, Copy, Debug)]
pub enum RowSource {
    /// In the table, at a base plus some bits of the word; `which` selects one of the rows there.
    Table {
        base: u32,
        mask: u16,
        at: u8,
        which: u8,
    },
    /// Among the constants.
    Number(Part),
    Constant(u32),
    /// Unknown, so each word has to be inspected.
    Unknown,
}

/// The rows of operands, indexed by bits of words: those of registers, and of the sources that words of the program
/// have named.
#[derive(Debug)]
pub struct Table {
    entries: Vec<Entry>,
    /// The marker of this program's entries.
    program: u16,
    /// The first entry of each set of registers.
    elements: FxHashMap<Registers, u32>,
}

/// A register at an offset from the one that words name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Registers {
    element: u16,
    written: bool,
    /// The length and the alignment of the list; without a list, the next register always exists.
    list: Option<(u32, u8)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    program: u16,
    rows: [u16; 3],
}

impl Entry {
    /// An unused entry.
    const NONE: Entry = Entry { program: u16::MAX, rows: [0; 3] };
    /// The marker of entries that are valid for all programs.
    const ALL: u16 = 0;
}

impl Table {
    pub fn new() -> Self {
        Table { entries: vec![Entry::NONE; KINDS.len as usize], program: Entry::ALL, elements: FxHashMap::default() }
    }

    /// Starts a new program.
    pub fn forget(&mut self) {
        self.program += 1;
        if self.program == Entry::NONE.program {
            self.entries.iter_mut().filter(|entry| entry.program != Entry::ALL).for_each(|entry| *entry = Entry::NONE);
            self.program = 1;
        }
    }

    /// Returns the place of a slot in all words that have the pattern of this one.
    pub fn place(&mut self, slot: &Slot, word: u64) -> RowSource {
        match *slot {
            Slot::Source(Source { operand, index }, which) => {
                let Shape::One { kind, at } = operand.shape else { return RowSource::Unknown };
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
            Slot::Number(part) => RowSource::Number(part),
            Slot::Constant(word) => RowSource::Constant(word),
        }
    }

    fn registers(&mut self, Element { bits, at, element, written }: Element, list: Option<(u32, u8)>) -> RowSource {
        let Some(Run { at, mask }) = Run::of(bits.mask(at)) else { return RowSource::Unknown };
        let entry = |first: u32| {
            let (count, align) = list.unwrap_or((u32::MAX, 1));
            let register = first + u32::from(element);
            let beyond = if written { row::RESULT } else { row::ZERO };
            let row = if register < row::REGISTERS && u32::from(element) < count { register } else { beyond };
            // A word with other registers is not a valid instruction.
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
        if u32::from(mask) < row::REGISTERS {
            RowSource::Table { base, mask, at, which: 0 }
        } else {
            RowSource::Unknown
        }
    }

    /// Returns the row at a place. `None` if no word of the program has named it.
    #[inline(always)]
    pub fn get(&self, base: u32, mask: u16, at: u8, which: u8, word: u64) -> Option<u16> {
        let entry = self.entries.get(base as usize + usize::from((word >> (at & 63)) as u16 & mask))?;
        let known = entry.program == Entry::ALL || entry.program == self.program;
        if known { entry.rows.get(usize::from(which)).copied() } else { None }
    }

    /// Adds the rows of a source.
    pub fn add(&mut self, source: &Source, word: u64, rows: [u16; 3]) {
        if let RowSource::Table { base, mask, at, .. } = source.index.place(word, 0)
            && let Some(entry) = self.entries.get_mut(base as usize + usize::from((word >> (at & 63)) as u16 & mask))
        {
            *entry = Entry { program: self.program, rows };
        }
    }
}
