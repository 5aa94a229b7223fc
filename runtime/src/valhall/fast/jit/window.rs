//! The memory that the instructions of machine code access.

use std::ops::Range;

use crate::exec::jit::lanes::select;
use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS, Window};
use crate::level::Level;
use crate::memory::Memory as Mapped;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::fields::Fields;
use crate::valhall::fast::handler::{Body, Op, handler};
use crate::valhall::fast::memory_view::{Located, MemoryView};
use crate::valhall::fast::pattern::Reached;
use crate::valhall::fast::reach::{self};

/// Returns the bytes of an access, relative to its address.
fn span(access: &select::Access) -> Range<i32> {
    access.offset..access.offset.saturating_add(access.bytes.into())
}

/// The most bytes that the accesses of one window may span.
const NEAR: i32 = 1 << 12;

/// Memory that instructions access near an address in two rows.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Finds the pattern of the addresses.
    reach: Op,
    /// The first accessed byte relative to the address, and the one after the last.
    from: i32,
    to: i32,
    /// Whether it is written.
    pub writes: bool,
}

impl Access {
    /// Creates the access of the instruction at `pc`.
    pub fn new(access: &select::Access, pc: u32, level: Level) -> Self {
        let fields = Fields { sources: access.rows, pc, ..Fields::default() };
        let Range { start: from, end: to } = span(access);
        Access { reach: handler::<Reach>(level).with(fields), from, to, writes: access.writes }
    }

    /// Returns the rows of the address.
    pub fn rows(&self) -> [u32; 2] {
        self.reach.fields().sources
    }

    /// Extends it by the access of another instruction. Returns `false` if that is elsewhere.
    pub fn includes(&mut self, access: &select::Access) -> bool {
        let Range { start, end } = span(access);
        let (first, last) = (self.from.min(start), self.to.max(end));
        let near = self.rows() == access.rows && last.checked_sub(first).is_some_and(|bytes| bytes <= NEAR);
        if near {
            (self.from, self.to, self.writes) = (first, last, self.writes | access.writes);
        }
        near
    }

    /// Returns the window for the current addresses of a bundle.
    pub fn window(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>, stride: u32) -> Option<Window> {
        let Reached { contiguous, column, .. } = self.reach(bundle, view)?;
        let span = u32::try_from(self.to.checked_sub(self.from)?).ok()?;
        Some(Window { contiguous, column, from: self.from, span, stride, writes: self.writes })
    }

    #[inline(always)]
    fn reach(&self, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> Option<Reached> {
        if let Some(reached) = bundle.patterns.get(self.rows()) {
            return Some(*reached);
        }
        self.reach.run(true, bundle, view);
        if let Some(reached) = bundle.reached {
            bundle.patterns.put(self.rows(), reached);
        }
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

/// The memory that a bundle accesses.
pub struct Memory<'m, 'w> {
    view: &'m mut MemoryView<'w>,
    accesses: &'m [Access],
    /// The location of the lanes in each access. These are not stored as [`Reached`], because copying one right after
    /// it was written would stall on store forwarding.
    starts: [u64; WINDOWS],
    patterns: [(bool, u32); WINDOWS],
    /// The active lanes, if not all are.
    active: Option<[u16; WARPS]>,
    /// The workgroup whose memory the bundle accesses, if there is only one.
    group: Option<usize>,
}

impl<'m, 'w> Memory<'m, 'w> {
    /// Creates it without any locations.
    #[inline(always)]
    pub fn of(view: &'m mut MemoryView<'w>, accesses: &'m [Access]) -> Self {
        let (starts, patterns) = ([0; WINDOWS], [(false, 0); WINDOWS]);
        Memory { view, accesses, starts, patterns, active: None, group: None }
    }

    /// Determines where a bundle accesses memory. `None` if the lanes follow no pattern.
    #[inline(always)]
    pub fn find(&mut self, bundle: &mut Bundle) -> Option<()> {
        for ((start, pattern), access) in self.starts.iter_mut().zip(&mut self.patterns).zip(self.accesses) {
            let Reached { start: first, contiguous, column } = access.reach(bundle, self.view)?;
            (*start, *pattern) = (first, (contiguous, column));
        }
        self.active = if bundle.is_full() { None } else { Some(bundle.active) };
        self.group = bundle.only_group;
        Some(())
    }

    /// Returns the locations for code with these windows.
    pub fn places(&self, windows: &[Window]) -> Option<Vec<Located>> {
        let places = windows.iter().enumerate().map(|(index, window)| self.place(index, window));
        places.collect()
    }

    /// Returns the location of a window.
    fn place(&self, index: usize, window: &Window) -> Option<Located> {
        let start = self.starts.get(index)?.wrapping_add_signed(window.from.into());
        // Inactive lanes may be in the margin.
        let accessed = self.active.as_ref().map_or(0, |active| window.accessed(active).start);
        if ![start, start.wrapping_add(accessed)].iter().any(|address| Mapped::RESERVED.contains(address)) {
            return Some(Located::Mapped(start));
        }
        self.view.place_of(self.group?, start).map(Located::Shared)
    }

    /// Returns where the lanes are in an access.
    pub fn reached(&self, index: usize) -> Option<Reached> {
        let (&start, &(contiguous, column)) = self.starts.get(index).zip(self.patterns.get(index))?;
        Some(Reached { start, contiguous, column })
    }

    /// Whether all accesses are to memory that all workgroups share.
    pub fn is_global(&self) -> bool {
        let mut starts = self.starts.iter().zip(self.accesses);
        starts.all(|(start, access)| !Mapped::RESERVED.contains(&start.wrapping_add_signed(access.from.into())))
    }
}

impl window::Memory for Memory<'_, '_> {
    #[inline(always)]
    fn window(&mut self, index: usize, window: &Window, bytes: usize) -> Option<Bytes<'_>> {
        if *self.patterns.get(index)? != (window.contiguous, window.column) {
            return None;
        }
        let start = self.starts[index].wrapping_add_signed(window.from.into());
        if let (Some(active), Some(group)) = (&self.active, self.group)
            && !self.view.is_own(start, bytes)
        {
            let accessed = window.accessed(active);
            let accessed = start.wrapping_add(accessed.start)..start.wrapping_add(accessed.end);
            if Mapped::RESERVED.contains(&accessed.start) {
                return self.view.own_mut(group, start, bytes, accessed).map(Bytes::Write);
            }
        }
        // The memories of several workgroups have the same addresses.
        let group = if Mapped::RESERVED.contains(&start) { self.group? } else { 0 };
        let pc = self.accesses.get(index)?.reach.pc();
        Some(if window.writes {
            let (base, found) = self.view.around_mut(pc, group, start, bytes)?;
            Bytes::Write(found.get_mut((start - base) as usize..)?)
        } else {
            let (base, found) = self.view.around(pc, group, start, bytes)?;
            Bytes::Read(found.get((start - base) as usize..)?)
        })
    }
}
