//! The memory that the instructions of machine code access.

use std::marker::PhantomData;
use std::ops::Range;

use super::row::LANES;

/// The most windows of a function.
pub const WINDOWS: usize = 4;

/// The largest distance in bytes from one column to the next.
pub const FURTHEST: u32 = 1 << 16;

/// Memory that code accesses in a regular pattern, relative to the first word of the first lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Whether the lanes of a column access contiguous words. Otherwise all lanes access the same words.
    pub contiguous: bool,
    /// The bytes from one column to the next, at most [`FURTHEST`].
    pub column: u32,
    /// The first byte that a lane accesses, relative to its address.
    pub from: i32,
    /// The bytes from there to the end of the last access.
    pub span: u32,
    /// The bytes from one iteration to the next.
    pub stride: u32,
    /// Whether the window is written.
    pub writes: bool,
}

impl Window {
    /// Returns the bytes that some columns access in one iteration.
    pub fn bytes(&self, columns: usize) -> u64 {
        let lanes = if self.contiguous { 4 * (LANES as u64 - 1) } else { 0 };
        let further = (columns as u64).saturating_sub(1) * u64::from(self.column);
        further + lanes + u64::from(self.span)
    }

    /// Returns the range of bytes that some lanes of the columns access, relative to the start of the window.
    pub fn accessed(&self, lanes: &[u16]) -> Range<u64> {
        let lane = if self.contiguous { 4 } else { 0 };
        let place = |column: usize, at: u32| column as u64 * u64::from(self.column) + lane * u64::from(at);
        let busy = || lanes.iter().enumerate().filter(|(_, lanes)| **lanes != 0);
        let first = busy().map(|(column, lanes)| place(column, lanes.trailing_zeros())).min();
        let last = busy().map(|(column, lanes)| place(column, lanes.ilog2())).max();
        first.unwrap_or(0)..last.unwrap_or(0) + u64::from(self.span)
    }
}

/// Finds the memory for the windows of code.
pub trait Memory {
    /// Returns the bytes from the start of a window on, at least `bytes` of them, readable, and writable if it
    /// `writes`. `None` when the lanes access other addresses, or when there is no such memory.
    fn window(&mut self, index: usize, window: &Window, bytes: usize) -> Option<Bytes<'_>>;
}

/// The bytes of a window.
#[derive(Debug)]
pub enum Bytes<'a> {
    /// Bytes that code only reads.
    Read(&'a [u8]),
    /// Bytes that code also writes.
    Write(&'a mut [u8]),
}

/// No memory.
#[derive(Debug)]
pub struct Nowhere;

impl Memory for Nowhere {
    fn window(&mut self, _: usize, _: &Window, _: usize) -> Option<Bytes<'_>> {
        None
    }
}

/// Windows that were found, for as long as the memory is borrowed.
#[derive(Debug)]
pub struct Windows<'a> {
    places: [*mut u8; WINDOWS],
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Windows<'a> {
    /// No windows yet.
    pub const NONE: Self = Windows { places: [std::ptr::null_mut(); WINDOWS], memory: PhantomData };

    /// Finds the memory for rows of some columns. Returns the number of iterations for which it may be accessed, at
    /// most `most`. `None` when the lanes do not follow the pattern of the windows, or when there is no memory.
    /// Updates `self` in place, because copying what was just written would stall on store forwarding.
    #[inline(always)]
    pub fn find(&mut self, memory: &'a mut impl Memory, wanted: &[Window], columns: usize, most: u32) -> Option<u32> {
        let mut times = most;
        for (index, window) in wanted.iter().enumerate() {
            let bytes = window.bytes(columns);
            let (place, len) = match (memory.window(index, window, bytes as usize)?, window.writes) {
                (Bytes::Read(bytes), false) => (bytes.as_ptr().cast_mut(), bytes.len()),
                (Bytes::Write(bytes), _) => (bytes.as_mut_ptr(), bytes.len()),
                (Bytes::Read(_), true) => return None,
            };
            *self.places.get_mut(index)? = place;
            // Each further iteration takes one more stride.
            if let Some(more) = (len as u64).checked_sub(bytes)?.checked_div(window.stride.into()) {
                times = times.min(u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1));
            }
        }
        Some(times)
    }

    /// Moves each window up by a number of bytes.
    #[inline(always)]
    pub fn advance(&mut self, strides: [u32; WINDOWS]) {
        for (place, stride) in self.places.iter_mut().zip(strides) {
            *place = place.wrapping_add(stride as usize);
        }
    }

    /// Returns a pointer to the array of window pointers.
    pub fn as_ptr(&self) -> *const *mut u8 {
        self.places.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_lanes_access_begins_with_the_first_of_them_and_ends_with_the_last() {
        let lanes = [0, 0x8000, 0x0003, 0];
        for (contiguous, column, accessed) in
            [(true, 64, 124..136), (true, 0, 0..64), (true, 4, 8..68), (false, 64, 64..132), (false, 0, 0..4)]
        {
            let window = Window { contiguous, column, span: 4, ..Window::default() };
            assert_eq!(window.accessed(&lanes), accessed, "{contiguous} {column}");
        }
        assert_eq!(Window { span: 4, ..Window::default() }.accessed(&[0; 4]), 0..4);
    }
}
