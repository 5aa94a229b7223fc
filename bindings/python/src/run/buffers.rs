//! Python memory as memory of a program: copied in before a run and out after it, while the interpreter's lock is held.
#![allow(unsafe_code, reason = "memory that Python objects own, described by the buffer protocol")]

use isaforge_runtime::Memory;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error;
use crate::input::buffer;

/// The first address for arrays without a given address.
const FIRST: u64 = 0x10_0000;
/// The alignment of such arrays.
const PAGE: u64 = 0x1000;

/// Regions of memory: address and contents.
pub type Regions = Vec<(u64, Vec<u8>)>;

struct Region {
    base: u64,
    buffer: PyUntypedBuffer,
}

/// The arrays of a run.
#[derive(Default)]
pub struct Buffers {
    regions: Vec<Region>,
    total: usize,
}

impl Buffers {
    /// Adds an array, at the given address or at a free one. An array that was already added keeps its address.
    pub fn add(&mut self, object: &Bound<'_, PyAny>, base: Option<u64>) -> PyResult<u64> {
        let buffer = buffer(object).ok_or_else(|| {
            PyTypeError::new_err("memory of a program is a buffer, such as a numpy array or a bytearray")
        })?;
        let format = buffer.format().to_bytes();
        // Whatever a program writes must be a value: a reference to an object is none.
        if !is_plain(format) {
            let format = String::from_utf8_lossy(format);
            let message = format!("memory of a program is bytes, whole numbers or floats, not {format:?}");
            return Err(PyTypeError::new_err(message));
        }
        let len = buffer.len_bytes();
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("memory of a program must be contiguous"));
        }
        if len == 0 {
            return Err(PyValueError::new_err("memory of a program must not be empty"));
        }
        let place = buffer.buf_ptr() as usize;
        for known in &self.regions {
            let other = known.buffer.buf_ptr() as usize;
            if other == place && known.buffer.len_bytes() == len && base.is_none_or(|base| base == known.base) {
                return Ok(known.base);
            }
            if place < other + known.buffer.len_bytes() && other < place + len {
                return Err(PyValueError::new_err("two arrays share memory"));
            }
        }
        self.total = self.total.saturating_add(len);
        if self.total > Memory::MAX_BYTES {
            return Err(PyValueError::new_err(format!("all arrays together have at most {} bytes", Memory::MAX_BYTES)));
        }
        let base = match base {
            Some(base) => base,
            None => self.room(len as u64)?,
        };
        self.regions.push(Region { base, buffer });
        Ok(base)
    }

    /// Finds a free address with enough room.
    fn room(&self, len: u64) -> PyResult<u64> {
        let mut free = FIRST;
        loop {
            let end = |region: &Region| region.base.saturating_add(region.buffer.len_bytes() as u64);
            let last =
                free.checked_add(len).ok_or_else(|| PyValueError::new_err("there is no room for another array"))?;
            match self.regions.iter().find(|region| free < end(region) && region.base < last) {
                // Each iteration passes one of the overlapping arrays.
                Some(region) => free = end(region).saturating_add(PAGE - 1) & !(PAGE - 1),
                None => return Ok(free),
            }
        }
    }

    /// Copies the contents of all arrays.
    pub fn contents(&self) -> Regions {
        self.regions.iter().map(|region| (region.base, region.bytes())).collect()
    }

    /// Copies the program's memory back to the arrays.
    ///
    /// # Errors
    /// When the program changed a read-only array.
    pub fn write_back(&self, py: Python<'_>, regions: &Regions) -> PyResult<()> {
        for (region, (_, bytes)) in self.regions.iter().zip(regions) {
            let len = region.buffer.len_bytes();
            if bytes.len() != len {
                continue;
            }
            if region.buffer.readonly() {
                if region.bytes() != *bytes {
                    let message = format!("the program wrote to the array at {:#x}, which is read-only", region.base);
                    return Err(error::run(py, &message, "pass a writable array", None));
                }
                continue;
            }
            // SAFETY: The buffer is contiguous and writable, has `len` bytes, and is kept alive by `region`. The
            // interpreter's lock is held, and `bytes` is separate memory of the same length.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.buffer.buf_ptr().cast::<u8>(), len) };
        }
        Ok(())
    }
}

impl Region {
    fn bytes(&self) -> Vec<u8> {
        let len = self.buffer.len_bytes();
        let mut bytes = vec![0; len];
        // SAFETY: The buffer is contiguous, has `len` bytes, and is kept alive by `self`; the vector has room for them.
        unsafe { std::ptr::copy_nonoverlapping(self.buffer.buf_ptr().cast::<u8>(), bytes.as_mut_ptr(), len) };
        bytes
    }
}

/// Whether a format of the buffer protocol denotes bytes, whole numbers or floats, of any byte order.
fn is_plain(format: &[u8]) -> bool {
    let item = match format {
        [b'@' | b'=' | b'<' | b'>' | b'!', item @ ..] => item,
        item => item,
    };
    matches!(item, [code] if b"bBchHiIlLqQnNefd".contains(code))
}
