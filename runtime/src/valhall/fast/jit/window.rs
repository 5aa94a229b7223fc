//! The memory that the instructions of machine code access.

use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS, Window};
use crate::memory::Memory as Mapped;
use crate::valhall::fast::bundle::{Bundle, WARPS};
use crate::valhall::fast::compiled::access::Access;
use crate::valhall::fast::handler::Handler;
use crate::valhall::fast::memory_view::{Located, MemoryView};
use crate::valhall::fast::pattern::Reached;

impl Access {
    /// Returns the window for the current addresses of a bundle.
    pub fn window(
        &self,
        reach: Handler,
        bundle: &mut Bundle,
        view: &mut MemoryView<'_>,
        stride: u32,
    ) -> Option<Window> {
        let Reached { contiguous, column, .. } = self.reach(reach, bundle, view)?;
        let span = u32::try_from(self.to.checked_sub(self.from)?).ok()?;
        Some(Window { contiguous, column, from: self.from, span, stride, writes: self.writes })
    }

    /// Returns the pattern of the current addresses; `reach` finds it if it is not known.
    #[inline(always)]
    fn reach(&self, reach: Handler, bundle: &mut Bundle, view: &mut MemoryView<'_>) -> Option<Reached> {
        if let Some(reached) = bundle.patterns.get(self.rows()) {
            return Some(*reached);
        }
        reach.run(true, bundle, view, &self.fields);
        if let Some(reached) = bundle.reached {
            bundle.patterns.put(self.rows(), reached);
        }
        bundle.reached
    }
}

/// The memory that a bundle accesses.
pub struct Memory<'m, 'w> {
    view: &'m mut MemoryView<'w>,
    accesses: &'m [Access],
    /// Finds the pattern of addresses.
    reach: Handler,
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
    pub fn of(view: &'m mut MemoryView<'w>, accesses: &'m [Access], reach: Handler) -> Self {
        let (starts, patterns) = ([0; WINDOWS], [(false, 0); WINDOWS]);
        Memory { view, accesses, reach, starts, patterns, active: None, group: None }
    }

    /// Determines where a bundle accesses memory. `None` if the lanes follow no pattern.
    #[inline(always)]
    pub fn find(&mut self, bundle: &mut Bundle) -> Option<()> {
        for ((start, pattern), access) in self.starts.iter_mut().zip(&mut self.patterns).zip(self.accesses) {
            let Reached { start: first, contiguous, column } = access.reach(self.reach, bundle, self.view)?;
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
        let pc = self.accesses.get(index)?.fields.pc;
        Some(if window.writes {
            let (base, found) = self.view.around_mut(pc, group, start, bytes)?;
            Bytes::Write(found.get_mut((start - base) as usize..)?)
        } else {
            let (base, found) = self.view.around(pc, group, start, bytes)?;
            Bytes::Read(found.get((start - base) as usize..)?)
        })
    }
}
