//! Where machine code finds the memory that its instructions access.

use std::marker::PhantomData;

use super::row::COLUMN;

/// Windows that code may have.
pub const WINDOWS: usize = 4;

/// Memory that a machine finds for code, a window for each access.
pub trait Memory {
    /// The bytes from an access on that may be read, and written where it `writes`. `None` where its lanes are not
    /// contiguous, or there is no such memory.
    fn window(&mut self, access: usize, writes: bool) -> Option<Bytes<'_>>;
}

/// Bytes of a window.
#[derive(Debug)]
pub enum Bytes<'a> {
    /// Code only reads them.
    Read(&'a [u8]),
    /// It writes them, too.
    Write(&'a mut [u8]),
}

/// The windows of some accesses: a word for each lane of a row, and as many for each time they move further, for as long as
/// the memory is borrowed.
#[derive(Debug)]
pub struct Windows<'a> {
    places: [*mut u8; WINDOWS],
    len: usize,
    /// How often they may be accessed.
    times: u32,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Windows<'a> {
    /// No memory.
    pub const NONE: Self = Windows { places: [std::ptr::null_mut(); WINDOWS], len: 0, times: 1, memory: PhantomData };

    /// Finds the memory of accesses, which `writes` says to be written or not, for rows of some columns; `times` is how
    /// often it may be accessed at most when each time is a stride further than the one before. Returns `None` where lanes
    /// are not contiguous, or there is no memory.
    #[inline(always)]
    pub fn find(
        memory: &'a mut impl Memory,
        writes: impl IntoIterator<Item = bool>,
        columns: usize,
        strides: &[u32],
        times: u32,
    ) -> Option<Self> {
        let mut windows = Windows { times, ..Windows::NONE };
        for (index, writes) in writes.into_iter().enumerate() {
            let (place, len) = match (memory.window(index, writes)?, writes) {
                (Bytes::Read(bytes), false) => (bytes.as_ptr().cast_mut(), bytes.len()),
                (Bytes::Write(bytes), _) => (bytes.as_mut_ptr(), bytes.len()),
                (Bytes::Read(_), true) => return None,
            };
            *windows.places.get_mut(index)? = place;
            windows.len = index + 1;
            let stride = strides.get(index).copied().unwrap_or(0) as usize;
            if let Some(more) = len.checked_sub(COLUMN * columns)?.checked_div(stride) {
                windows.times = windows.times.min(u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1));
            }
        }
        Some(windows)
    }

    /// How often they may be accessed.
    pub fn times(&self) -> u32 {
        self.times
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Pointers to them, contiguous.
    pub fn as_ptr(&self) -> *const *mut u8 {
        self.places.as_ptr()
    }
}
