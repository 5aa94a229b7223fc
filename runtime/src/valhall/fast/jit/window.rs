//! Where machine code finds the memory that its instructions access.

use std::ops::Range;

use crate::exec::jit::lanes::select;
use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS, Window};
use crate::level::Level;
use crate::memory::Memory as Mapped;
use crate::valhall::fast::bundle::Bundle;
use crate::valhall::fast::handler::{Body, Fields, Op, handler};
use crate::valhall::fast::memory_view::MemoryView;
use crate::valhall::fast::reach::{self, Reached};

/// The bytes that an access has, from the address on.
fn span(access: &select::Access) -> Range<i32> {
    access.offset..access.offset.saturating_add(access.bytes.into())
}

/// Bytes between the accesses that one window serves, at most.
const NEAR: i32 = 1 << 12;

/// Memory that instructions access at an address in two rows, and near it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Finds the pattern of the addresses.
    reach: Op,
    /// The first byte that is accessed, from the address on, and the one after the last.
    from: i32,
    to: i32,
    /// Whether it is written.
    pub writes: bool,
}

impl Access {
    /// The access of an instruction, the one at `pc`.
    pub fn new(access: &select::Access, pc: u32, level: Level) -> Self {
        let fields = Fields { sources: access.rows, pc, ..Fields::default() };
        let Range { start: from, end: to } = span(access);
        Access { reach: handler::<Reach>(level).with(fields), from, to, writes: access.writes }
    }

    /// The rows of the address.
    pub fn rows(&self) -> [u32; 2] {
        self.reach.fields().sources
    }

    /// Also accesses what another instruction does. Returns `false` where that is elsewhere.
    pub fn includes(&mut self, access: &select::Access) -> bool {
        let Range { start, end } = span(access);
        let (first, last) = (self.from.min(start), self.to.max(end));
        let near = self.rows() == access.rows && last.checked_sub(first).is_some_and(|bytes| bytes <= NEAR);
        if near {
            (self.from, self.to, self.writes) = (first, last, self.writes | access.writes);
        }
        near
    }

    /// The window that serves a bundle as it is now.
    pub fn window(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, stride: u32) -> Option<Window> {
        let Reached { contiguous, column, .. } = self.reach(bundle, view)?;
        let span = u32::try_from(self.to.checked_sub(self.from)?).ok()?;
        Some(Window { contiguous, column, from: self.from, span, stride, writes: self.writes })
    }

    #[inline(always)]
    fn reach(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> Option<Reached> {
        self.reach.run(true, bundle, view);
        bundle.reached
    }
}

/// Finds the pattern of the addresses in two rows.
struct Reach;

impl Body for Reach {
    #[inline(always)]
    fn run<const WHOLE: bool>(bundle: &mut Bundle, _: &mut MemoryView<'_>, op: &Fields) -> bool {
        bundle.reached = reach::pattern(bundle, op.sources);
        true
    }
}

/// The memory that a full bundle accesses.
pub struct Memory<'m, 'w> {
    view: &'m mut MemoryView<'w>,
    /// For each access its instruction, and where lanes are.
    reached: [(u32, Reached); WINDOWS],
    /// The workgroup whose memory the bundle sees.
    group: usize,
    /// Whether all of it sees the same.
    is_one_group: bool,
}

impl<'m, 'w> Memory<'m, 'w> {
    /// Finds out where a full bundle accesses it. Returns `None` where lanes are anywhere.
    #[inline(always)]
    pub fn find(bundle: &mut Bundle, view: &'m mut MemoryView<'w>, accesses: &[Access]) -> Option<Self> {
        let mut reached = [(0, Reached::default()); WINDOWS];
        for (found, access) in reached.iter_mut().zip(accesses) {
            *found = (access.reach.pc(), access.reach(bundle, view)?);
        }
        let group = bundle.homes[0].group;
        let is_one_group = bundle.homes.iter().all(|home| home.group == group);
        Some(Memory { view, reached, group, is_one_group })
    }
}

impl window::Memory for Memory<'_, '_> {
    #[inline(always)]
    fn window(&mut self, index: usize, window: &Window, bytes: usize) -> Option<Bytes<'_>> {
        let (pc, reached) = *self.reached.get(index)?;
        if (reached.contiguous, reached.column) != (window.contiguous, window.column) {
            return None;
        }
        let start = reached.start.wrapping_add_signed(window.from.into());
        // The memories of several workgroups have the same addresses.
        if !self.is_one_group && Mapped::RESERVED.contains(&start) {
            return None;
        }
        Some(if window.writes {
            let (base, found) = self.view.around_mut(pc, self.group, start, bytes)?;
            Bytes::Write(found.get_mut((start - base) as usize..)?)
        } else {
            let (base, found) = self.view.around(pc, self.group, start, bytes)?;
            Bytes::Read(found.get((start - base) as usize..)?)
        })
    }
}
