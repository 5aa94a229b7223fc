//! The memory that an instruction accesses.

use std::ops::Range;

use crate::exec::jit::lanes::select;
use crate::valhall::fast::fields::Fields;

/// Returns the bytes of an access, relative to its address.
fn span(access: &select::Access) -> Range<i32> {
    access.offset..access.offset.saturating_add(access.bytes.into())
}

/// The most bytes that the accesses of one window may span.
const NEAR: i32 = 1 << 12;

/// Memory that instructions access near an address in two rows.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The operands of the handler that finds the pattern of the addresses.
    pub fields: Fields,
    /// The first accessed byte relative to the address, and the one after the last.
    pub from: i32,
    pub to: i32,
    /// Whether it is written.
    pub writes: bool,
}

impl Access {
    /// Creates the access of the instruction at `pc`.
    pub fn new(access: &select::Access, pc: u32) -> Self {
        let fields = Fields { sources: access.rows, pc, ..Fields::default() };
        let Range { start: from, end: to } = span(access);
        Access { fields, from, to, writes: access.writes }
    }

    /// Returns the rows of the address.
    pub fn rows(&self) -> [u32; 2] {
        self.fields.sources
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
}
