//! The rows of groups side by side: each row has the slots of all groups, contiguously.

use crate::exec::jit::lanes::function::BlockFn;
use crate::exec::jit::lanes::window::Nowhere;
use crate::exec::vector::handler::Micro;
use crate::exec::vector::{Family, Member};
use crate::guarded::Guarded;
use crate::level::Level;
use crate::vpu::group::{self, ACTIVE, THREADS, row};

/// The words of a part of a row: as many as the widest vectors of a host have.
pub(crate) const PART: usize = 8;
/// The parts of a row, each of two groups.
const PARTS: usize = ACTIVE.div_ceil(PART / THREADS);

type Row = crate::exec::jit::lanes::row::Row<PARTS>;

/// Groups side by side as operations on rows access them.
#[derive(Debug)]
pub(crate) struct Groups;

impl Family<PART> for Groups {
    const SLOT: u32 = 64;
    const PARTS: usize = PARTS;
    type Member<'m> = Lanes;
}

/// The threads of groups side by side.
pub(crate) struct Lanes {
    rows: Guarded<Row>,
    /// The parts with groups that execute, as bits.
    busy: u32,
}

impl Member<PART> for Lanes {
    #[inline(always)]
    fn part(&self, row: u16, part: usize) -> &[u64; PART] {
        bytemuck::cast_ref(&self.row(row).0[part.min(PARTS - 1)])
    }

    #[inline(always)]
    fn part_mut(&mut self, row: u16, part: usize) -> &mut [u64; PART] {
        bytemuck::cast_mut(&mut self.row_mut(row).0[part.min(PARTS - 1)])
    }

    #[inline(always)]
    fn is_busy(&self, part: usize) -> bool {
        self.busy >> part & 1 != 0
    }

    /// There are no sets: the whole state of threads is in rows.
    fn set(&self, _: u16) -> u64 {
        0
    }

    fn change_set(&mut self, _: u16, _: u64, _: u64) {}
}

impl Lanes {
    /// Creates rows of zeros, except for the constants of a program.
    pub(crate) fn new(constants: &[u64]) -> Self {
        let mut lanes = Lanes { rows: Guarded::filled(Row::splat(0), row::ALL.into()), busy: 0 };
        row::CONSTANTS.zip(constants).for_each(|(row, constant)| lanes.fill(row, *constant));
        lanes
    }

    #[inline(always)]
    fn row(&self, number: u16) -> &Row {
        &self.rows[usize::from(number.min(row::ALL - 1))]
    }

    #[inline(always)]
    fn row_mut(&mut self, number: u16) -> &mut Row {
        &mut self.rows[usize::from(number.min(row::ALL - 1))]
    }

    /// Sets the groups that execute.
    pub(crate) fn choose(&mut self, set: u32) {
        let pair = |part: usize| u32::from(set >> (2 * part) & 3 != 0) << part;
        self.busy = (0..PARTS).fold(0, |busy, part| busy | pair(part));
    }

    /// Iterates over the parts that execute.
    fn parts(&self) -> impl Iterator<Item = usize> + use<> {
        let busy = self.busy;
        (0..PARTS).filter(move |part| busy >> part & 1 != 0)
    }

    /// Executes machine code for all groups.
    #[inline]
    pub(crate) fn execute(&mut self, machine: &BlockFn) {
        let _ = machine.run(&mut self.rows, &[0; PARTS], (1 << PARTS) - 1, &mut [0; PARTS], &mut Nowhere, 1);
    }

    /// Puts a word into the slots of all groups that execute, and of others in the same parts.
    pub(crate) fn splat(&mut self, number: u16, word: u64) {
        for part in self.parts() {
            *self.part_mut(number, part) = [word; PART];
        }
    }

    /// Puts a word into all slots.
    pub(crate) fn fill(&mut self, number: u16, word: u64) {
        (0..PARTS).for_each(|part| *self.part_mut(number, part) = [word; PART]);
    }

    /// Returns the word in the slots of all groups that execute; `None` if they differ, or may differ.
    pub(crate) fn same(&mut self, level: Level, number: u16) -> Option<u64> {
        let first = self.parts().next()?;
        Micro::<PART, Groups>::differ(number, row::DIFFER).run(level, &[], std::slice::from_mut(self));
        let differ = self.part(row::DIFFER, first).iter().fold(0, |all, word| all | word);
        (differ == 0).then_some(self.part(number, first)[0])
    }

    /// Returns the slots of all groups.
    #[inline]
    pub(crate) fn all(&self, number: u16) -> &[u64] {
        bytemuck::cast_slice(self.row(number).0.as_flattened())
    }

    /// Returns the slots of a group.
    #[inline]
    pub(crate) fn group(&self, number: u16, group: usize) -> &group::Row {
        &self.all(number).as_chunks::<THREADS>().0[group.min(ACTIVE - 1)]
    }

    /// Returns the slots of a group for writing.
    #[inline]
    pub(crate) fn group_mut(&mut self, number: u16, group: usize) -> &mut group::Row {
        let slots: &mut [u64] = bytemuck::cast_slice_mut(self.row_mut(number).0.as_flattened_mut());
        &mut slots.as_chunks_mut::<THREADS>().0[group.min(ACTIVE - 1)]
    }
}
