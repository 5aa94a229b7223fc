//! Where the memory of a planned dispatch is.

use super::terms::Sum;
use crate::exec::jit::lanes::window::{self, Bytes, WINDOWS};
use crate::valhall::fast::memory_view::{self, Container, Located, MemoryView};

/// Memory that steps access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Window {
    /// Its location in a workgroup whose sum is 0.
    pub base: Located,
    pub sum: Sum,
    pub bytes: usize,
}

/// Returns the end of the accessed part of the workgroups' memories; 0 if they are not accessed.
pub(super) fn shared_end(windows: &[Window]) -> usize {
    let ends = windows.iter().filter_map(|window| match window.base {
        Located::Shared(place) => place.checked_add(window.bytes),
        Located::Mapped(_) => None,
    });
    ends.max().unwrap_or(0)
}

/// The locations of windows in a dispatch.
#[derive(Debug)]
pub struct Places {
    pub(super) found: Vec<Found>,
    /// The regions that were found last.
    recent: Vec<memory_view::Window>,
    pub(super) terms: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Shared(usize),
    Mapped(Container, usize),
}

/// The memory of a step.
pub(super) struct Memory<'m, 'w> {
    pub view: &'m mut MemoryView<'w>,
    pub found: &'m [Found],
    pub windows: &'m [u16; WINDOWS],
}

impl window::Memory for Memory<'_, '_> {
    #[inline(always)]
    fn window(&mut self, index: usize, window: &window::Window, _: usize) -> Option<Bytes<'_>> {
        let found = *self.found.get(usize::from(*self.windows.get(index)?))?;
        found.bytes(self.view, window.writes)
    }
}

impl Places {
    /// Creates the locations of some windows, none of which is found yet.
    pub(super) fn new(windows: &[Window]) -> Self {
        let found = windows.iter().map(|window| match window.base {
            Located::Shared(place) => Found::Shared(place),
            Located::Mapped(_) => Found::Shared(0),
        });
        Places { found: found.collect(), recent: vec![Default::default(); windows.len()], terms: Vec::new() }
    }

    /// Finds one of the windows, given the terms of the workgroup. Returns `false` if it is missing.
    #[inline(always)]
    pub(super) fn find(&mut self, windows: &[Window], index: usize, view: &MemoryView<'_>) -> bool {
        let Places { found, recent, terms } = self;
        let (Some(window), Some(found)) = (windows.get(index), found.get_mut(index)) else { return false };
        match window.base {
            // Its location is fixed.
            Located::Shared(place) => view.shared.len().checked_sub(place).is_some_and(|len| len >= window.bytes),
            Located::Mapped(base) => {
                let address = base.wrapping_add(window.sum.value(terms));
                let place = view.find_mapped(&mut recent[index], address, window.bytes);
                place.map(|(place, offset)| *found = Found::Mapped(place, offset)).is_some()
            }
        }
    }

    /// Returns the bytes of mapped memory after a window that was found.
    pub(super) fn after(&self, windows: &[Window], index: usize, view: &MemoryView<'_>) -> Option<usize> {
        let Found::Mapped(place, offset) = *self.found.get(index)? else { return None };
        view.all(place)?.len().checked_sub(offset)?.checked_sub(windows.get(index)?.bytes)
    }

    /// Forgets the regions, which are those of another launch.
    pub fn forget(&mut self) {
        self.recent.fill(Default::default());
    }
}

impl Found {
    /// Returns the bytes from there on, writable or read-only.
    #[inline(always)]
    pub(super) fn bytes<'v>(self, view: &'v mut MemoryView<'_>, writes: bool) -> Option<Bytes<'v>> {
        match self {
            Found::Mapped(place, offset) if !writes => view.all(place)?.get(offset..).map(Bytes::Read),
            found => found.bytes_mut(view).map(Bytes::Write),
        }
    }

    /// Returns the bytes from there on for writing.
    #[inline(always)]
    pub(super) fn bytes_mut<'v>(self, view: &'v mut MemoryView<'_>) -> Option<&'v mut [u8]> {
        match self {
            Found::Shared(place) => view.shared.get_mut(place..),
            Found::Mapped(place, offset) => view.all_mut(place)?.get_mut(offset..),
        }
    }
}
