//! The columns of a machine as rows of operations.
//!
//! The machine's own columns come first. Behind them are those of the engine: which lanes are active, their numbers,
//! values within an instruction, and constants.

use std::ops::Range;

use isaforge_core::machine::{Host, Running};
use isaforge_core::semantics::evaluate::Column;

use crate::exec::vector::effect;
use crate::exec::vector::{Family, Member};

/// The lanes of a part.
pub(super) const PART: usize = 8;
/// The parts of a row of the most lanes that a machine has.
const PARTS: usize = 64 / PART;
/// The number of columns for values within an instruction.
const TEMPORARIES: u16 = 64;
/// The maximum number of columns. Operations use larger numbers for values that have no column yet.
const MAX_COLUMNS: usize = 0x4000;

/// Machines with up to 64 lanes.
#[derive(Debug)]
pub(super) struct Warp;

impl Family<PART> for Warp {
    const SLOT: u32 = 64;
    const PARTS: usize = PARTS;
    const WARP: bool = true;
    type Member<'m> = Lanes<'m>;
}

/// The lanes of a machine.
#[derive(Debug)]
pub(super) struct Lanes<'m> {
    /// The parts of all columns.
    parts: &'m mut [[u64; PART]],
    /// The parts of a column.
    count: usize,
    active: u64,
}

impl<'m> Lanes<'m> {
    /// Creates them from columns, with the lanes for which operations are executed.
    #[inline(always)]
    pub fn new<const L: usize>(columns: &'m mut [Column<L>], active: u64) -> Self {
        let active = active & isaforge_core::bits::ones(L as u32);
        Lanes { parts: columns.as_flattened_mut().as_chunks_mut().0, count: L / PART, active }
    }
}

impl Member<PART> for Lanes<'_> {
    #[inline(always)]
    fn part(&self, row: u16, part: usize) -> &[u64; PART] {
        &self.parts[usize::from(row) * self.count + part]
    }

    #[inline(always)]
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; PART] {
        &mut self.parts[usize::from(row) * self.count + part]
    }

    #[inline(always)]
    fn is_busy(&self, part: usize) -> bool {
        self.active >> (PART * part) & 0xff != 0
    }

    /// There are no sets: all states are in columns.
    fn set(&self, _: u16) -> u64 {
        0
    }

    fn change_set(&mut self, _: u16, _: u64, _: u64) {}
}

impl<const L: usize, H: Host<L>> effect::Rows<L> for Running<'_, L, H> {
    const SLOT: u32 = 64;

    fn row(&self, row: u16) -> Column<L> {
        self.columns().get(usize::from(row)).copied().unwrap_or([0; L])
    }

    fn set_row(&mut self, row: u16, slots: &Column<L>) {
        if let Some(column) = self.columns_mut().get_mut(usize::from(row)) {
            *column = *slots;
        }
    }
}

/// The columns that operations use besides those of the machine.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The number of the machine's columns.
    machine: u16,
    /// The constants in use.
    constants: Vec<u64>,
}

impl Columns {
    /// Creates those of a machine with a number of columns. `None` if it has too many.
    pub fn new(columns: usize) -> Option<Self> {
        let machine = u16::try_from(columns).ok().filter(|_| columns < MAX_COLUMNS / 2)?;
        Some(Columns { machine, constants: Vec::new() })
    }

    /// The row with ones in the slots of active lanes.
    pub fn active(&self) -> u16 {
        self.machine
    }

    /// The row with the numbers of the lanes.
    pub fn lane(&self) -> u16 {
        self.machine + 1
    }

    /// The row for writes that are discarded.
    pub fn discarded(&self) -> u16 {
        self.machine + 2
    }

    /// The rows for values within an instruction.
    pub fn temporaries(&self) -> Range<u16> {
        self.machine + 3..self.machine + 3 + TEMPORARIES
    }

    /// Returns the row of a constant. `None` if there are too many constants.
    pub fn constant(&mut self, value: u64) -> Option<u16> {
        let at = match self.constants.iter().position(|known| *known == value) {
            Some(at) => at,
            None => {
                self.constants.push(value);
                self.constants.len() - 1
            }
        };
        let row = usize::from(self.temporaries().end) + at;
        (row < MAX_COLUMNS).then_some(row as u16)
    }

    /// Appends these columns, or those that are missing, to the machine's.
    pub fn append<const L: usize>(&self, columns: &mut Vec<Column<L>>) {
        if columns.len() < self.temporaries().end.into() {
            columns.resize(self.temporaries().end.into(), [0; L]);
            columns[usize::from(self.lane())] = std::array::from_fn(|lane| lane as u64);
        }
        let appended = columns.len() - usize::from(self.temporaries().end);
        columns.extend(self.constants.iter().skip(appended).map(|constant| [*constant; L]));
    }
}
