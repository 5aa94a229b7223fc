//! A group of four threads.

use crate::exec::vector::{Family, Member, bits_of, mask_of};

/// The threads of a group.
pub const THREADS: usize = 4;
/// The most active groups of a core.
pub const ACTIVE: usize = 20;

/// The registers and flags of a group, as a host sets and reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// The components X, Y, Z, W of each thread's local registers.
    pub local: [[[u16; 4]; 16]; THREADS],
    /// The components X, Y, Z, W of the shared registers.
    pub shared: [[u16; 4]; 16],
    /// The flags of each thread, bit 0 for X up to bit 3 for W.
    pub flags: [u8; THREADS],
}

/// A row: four components of 16 bits for each thread, X in the low bits.
pub(crate) type Row = [u64; THREADS];

/// The rows of a group, by their number.
pub(crate) mod row {
    use std::ops::Range;

    /// The first of the 16 local registers.
    pub const LOCAL: u16 = 0;
    /// The result of a load or a fetch.
    pub const RESULT: u16 = 16;
    /// The flags, with a mask for each component.
    pub const FLAG: u16 = 17;
    /// Ones for the active threads.
    pub const ACTIVE: u16 = 18;
    /// The positions of the threads.
    pub const POSITION: u16 = 19;
    /// The first of the 16 shared registers, the same for all threads.
    pub const SHARED: u16 = 20;
    /// The first of the 32 registers of the group's bank; only those that the program reads are filled.
    pub const GLOBAL: u16 = 36;
    /// Constants of the program, the same in all slots of a row.
    pub const CONSTANTS: Range<u16> = 68..132;
    /// Values within an instruction.
    pub const TEMPORARIES: Range<u16> = 132..COUNT;
    /// The number of rows of a group.
    pub const COUNT: u16 = 160;
    /// For groups side by side: ones for the threads with a result pending.
    pub const PENDING: u16 = COUNT;
    /// For groups side by side: the bits in which the last compared words differ.
    pub const DIFFER: u16 = COUNT + 1;
    /// For groups side by side: the results of hoisted computations.
    pub const BEFORE: Range<u16> = COUNT + 2..ALL;
    /// The number of rows of groups side by side.
    pub const ALL: u16 = 224;
}

/// The rows, aligned for vectors of the host.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Rows([Row; row::COUNT as usize]);

/// For each mask of threads, a row with ones in their slots.
pub(crate) const SLOTS: [Row; 16] = {
    let mut all = [[0; THREADS]; 16];
    let mut mask = 0;
    while mask < 16 {
        let mut t = 0;
        while t < THREADS {
            all[mask][t] = if mask >> t & 1 == 1 { u64::MAX } else { 0 };
            t += 1;
        }
        mask += 1;
    }
    all
};

/// A running group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    rows: Rows,
    /// The number of the group on its core, in the order of their start.
    pub serial: u64,
    pub pc: u16,
    /// The threads that live, as bits.
    pub living: u8,
    /// The threads that are not masked, as bits.
    pub active: u8,
    pub x: u16,
    pub y: u16,
    /// The number of the bank that it reads.
    pub bank: u8,
    /// The bank that Allocate has reserved for the next launch.
    pub reserved: Option<u8>,
    /// The threads with a result pending.
    pub pending: u8,
    /// The cycle from which on the results are available.
    pub ready: u64,
    /// The number of instructions issued.
    pub steps: u64,
    /// Whether the current instruction has taken a branch.
    pub jumped: bool,
    /// Whether the host wants its final state.
    pub watched: bool,
    /// Whether its registers and states are zeros, whatever is in the rows.
    pub fresh: bool,
}

/// Packs the four components of a register into a word.
pub(crate) fn word(components: [u16; 4]) -> u64 {
    components.iter().rev().fold(0, |word, component| word << 16 | u64::from(*component))
}

/// Returns the four components of a register.
pub(crate) fn components(word: u64) -> [u16; 4] {
    [0, 16, 32, 48].map(|at| (word >> at) as u16)
}

impl Group {
    pub(crate) fn new(start: Start, serial: u64, constants: &[u64]) -> Box<Self> {
        let group = Box::new(Group {
            rows: Rows([[0; THREADS]; row::COUNT as usize]),
            serial,
            pc: 0,
            living: 0,
            active: 0,
            x: 0,
            y: 0,
            bank: 0,
            reserved: None,
            pending: 0,
            ready: 0,
            steps: 0,
            jumped: false,
            watched: false,
            fresh: false,
        });
        let mut group = group.restarted(start, serial);
        group.set_constants(constants);
        group
    }

    /// Starts another group in the same place, with the same constants.
    pub(crate) fn restarted(self: Box<Self>, start: Start, serial: u64) -> Box<Self> {
        let mut group = self;
        group.fresh = true;
        group.serial = serial;
        group.pc = start.entry & 1023;
        (group.living, group.active) = (start.living, start.living);
        (group.x, group.y, group.bank) = (start.x & !3, start.y, start.bank);
        (group.reserved, group.pending, group.ready, group.steps) = (None, 0, 0, 0);
        (group.jumped, group.watched) = (false, start.registers.is_some());
        let (x, y) = (group.x, group.y);
        *group.row_mut(row::POSITION) = std::array::from_fn(|t| u64::from(x | t as u16) | u64::from(y) << 16);
        if let Some(registers) = &start.registers {
            group.settle();
            for (t, thread) in registers.local.iter().enumerate() {
                for (index, value) in thread.iter().enumerate() {
                    group.row_mut(row::LOCAL + index as u16)[t] = word(*value);
                }
            }
            for (index, value) in registers.shared.iter().enumerate() {
                *group.row_mut(row::SHARED + index as u16) = [word(*value); THREADS];
            }
            *group.row_mut(row::FLAG) = registers.flags.map(|flags| mask_of(u64::from(flags & 15), 4, 64));
        }
        group
    }

    /// Clears the rows of a fresh group's registers and states.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if std::mem::take(&mut self.fresh) {
            for rows in [row::LOCAL..row::POSITION, row::SHARED..row::GLOBAL] {
                self.rows.0[usize::from(rows.start)..usize::from(rows.end)].fill([0; THREADS]);
            }
        }
    }

    /// Returns a row.
    #[inline(always)]
    pub(crate) fn row(&self, number: u16) -> &Row {
        &self.rows.0[usize::from(number.min(row::COUNT - 1))]
    }

    /// Returns a row for writing.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, number: u16) -> &mut Row {
        &mut self.rows.0[usize::from(number.min(row::COUNT - 1))]
    }

    /// Fills the rows of a program's constants.
    pub(crate) fn set_constants(&mut self, constants: &[u64]) {
        for (row, constant) in row::CONSTANTS.zip(constants) {
            *self.row_mut(row) = [*constant; THREADS];
        }
    }

    /// Sets the threads that execute the next instruction.
    #[inline(always)]
    pub(crate) fn set_active_row(&mut self, mask: u8) {
        *self.row_mut(row::ACTIVE) = SLOTS[usize::from(mask & 15)];
    }

    pub(crate) fn registers(&self) -> Registers {
        let thread = |t: usize| std::array::from_fn(|r| components(self.row(row::LOCAL + r as u16)[t]));
        Registers {
            local: std::array::from_fn(thread),
            shared: std::array::from_fn(|r| components(self.row(row::SHARED + r as u16)[0])),
            flags: self.flags_by_thread(),
        }
    }

    pub(crate) fn flags_by_thread(&self) -> [u8; THREADS] {
        self.row(row::FLAG).map(|mask| bits_of(mask, 4, 64) as u8)
    }
}

/// Groups as operations on rows access them.
#[derive(Debug)]
pub(crate) struct Groups;

impl Family<THREADS> for Groups {
    const SLOT: u32 = 64;
    const PARTS: usize = 1;
    type Member<'m> = Box<Group>;
}

impl Member<THREADS> for Box<Group> {
    #[inline(always)]
    fn part(&self, row: u16, _: usize) -> &Row {
        self.row(row)
    }

    #[inline(always)]
    fn part_mut(&mut self, row: u16, _: usize) -> &mut Row {
        self.row_mut(row)
    }

    /// There is only one set: the threads with a result pending.
    #[inline(always)]
    fn set(&self, _: u16) -> u64 {
        self.pending.into()
    }

    #[inline(always)]
    fn change_set(&mut self, _: u16, lanes: u64, of: u64) {
        self.pending = self.pending & !(of as u8) | (lanes & of) as u8;
    }
}

/// A group that waits to become active.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub entry: u16,
    pub x: u16,
    pub y: u16,
    pub living: u8,
    /// The bank, which is already held for the group.
    pub bank: u8,
    pub registers: Option<Box<Registers>>,
}
