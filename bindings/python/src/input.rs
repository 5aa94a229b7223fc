//! Machine code in its Python forms: numbers, `bytes`, buffers such as numpy arrays, and Arrow arrays.
//!
//! A batch reads its input in place, copying a chunk at a time into its own buffer. The input is never copied as a
//! whole, and every word is read once. If another thread writes to an array meanwhile, a result may mix old and new
//! words, but nothing worse can happen.
#![allow(
    unsafe_code,
    reason = "memory that Python objects own, described by the buffer protocol and by Arrow's C data interface"
)]

use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyMemoryView, PyString, PyTuple};

use crate::arrow;
use crate::error;

/// The number of words read at a time.
pub const CHUNK: usize = 1024;

/// The object that keeps the memory alive.
enum Owner {
    Bytes(#[expect(dead_code, reason = "is held")] Py<PyBytes>),
    Buffer(#[expect(dead_code, reason = "is held")] PyUntypedBuffer),
    Arrow(#[expect(dead_code, reason = "is held")] ArrayData),
}

/// Items of the same size in memory owned by another object.
pub struct Items {
    first: *const u8,
    /// The number of items.
    pub len: usize,
    /// The size of an item in bytes, 1 to 8.
    size: usize,
    /// The distance between items in bytes.
    stride: isize,
    /// Which items are null.
    pub nulls: Option<NullBuffer>,
    _owner: Owner,
}

// SAFETY: The owner keeps the memory alive and is dropped only with the whole struct; its types may be sent to other
// threads, where pyo3 drops them correctly. The memory is only read, by copying bytes.
unsafe impl Send for Items {}
// SAFETY: As above; shared references do not allow changes.
unsafe impl Sync for Items {}

impl Items {
    /// The bytes of a program: `bytes`, a contiguous buffer of bytes or unsigned numbers, or, if instructions are words
    /// of `size` bytes, what [`Items::words`] takes. Bytes may end with an incomplete word.
    /// `also` names what the caller takes besides, in a list that continues.
    pub fn code(object: &Bound<'_, PyAny>, size: Option<usize>, also: &str) -> PyResult<Items> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Items::of_bytes(bytes, 1));
        }
        if let Some(data) = arrow::import(object)? {
            let items = Items::of_arrow(data, size.unwrap_or(1))?;
            if items.nulls.as_ref().is_some_and(|nulls| nulls.null_count() > 0) {
                return Err(PyValueError::new_err("a program has no null words"));
            }
            return Ok(items);
        }
        let buffer = open(object, also)?;
        match size {
            Some(size) if buffer.item_size() != 1 => Items::of_buffer(object.py(), buffer, size),
            _ => Items::of_buffer(object.py(), buffer, 1),
        }
    }

    /// Words of `size` bytes: `bytes` in memory order, a buffer of bytes or words, or an Arrow array of words.
    pub fn words(object: &Bound<'_, PyAny>, size: usize) -> PyResult<Items> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            whole(object.py(), bytes.as_bytes().len(), size)?;
            return Ok(Items::of_bytes(bytes, size));
        }
        if let Some(data) = arrow::import(object)? {
            return Items::of_arrow(data, size);
        }
        Items::of_buffer(object.py(), open(object, "")?, size)
    }

    fn of_bytes(bytes: &Bound<'_, PyBytes>, size: usize) -> Items {
        let all = bytes.as_bytes();
        let (first, len) = (all.as_ptr(), all.len() / size);
        Items { first, len, size, stride: size as isize, nulls: None, _owner: Owner::Bytes(bytes.clone().unbind()) }
    }

    fn of_buffer(py: Python<'_>, buffer: PyUntypedBuffer, size: usize) -> PyResult<Items> {
        let item = buffer.item_size();
        // For bytes, words of any size will do.
        if !unsigned(buffer.format().to_bytes()) || (item != size && item != 1 && size != 1) {
            let format = buffer.format().to_string_lossy().into_owned();
            let expected = match size {
                1 => "expected bytes, or unsigned numbers in native byte order".to_owned(),
                _ => format!("words have {} bits: expected unsigned numbers of as many, or bytes", 8 * size),
            };
            let nulls = "; a column with nulls becomes floats: pass it as an Arrow array (`to_arrow()`)";
            let help = if matches!(format.as_str(), "e" | "f" | "d") { nulls } else { "" };
            return Err(PyTypeError::new_err(format!("{expected}; not {format:?}{help}")));
        }
        let first = buffer.buf_ptr().cast::<u8>().cast_const();
        let strided = buffer.dimensions() == 1 && buffer.suboffsets().is_none() && item == size;
        let (len, stride) = if buffer.is_c_contiguous() {
            whole(py, buffer.len_bytes(), size)?;
            (buffer.len_bytes() / size, size as isize)
        } else if strided && let (Some(len), Some(stride)) = (buffer.shape().first(), buffer.strides().first()) {
            if stride.unsigned_abs() < size {
                // Overlapping words would allow any number of items in the memory of one.
                return Err(PyValueError::new_err("words must not overlap (numpy.ascontiguousarray copies)"));
            }
            (*len, *stride)
        } else {
            let message = "words must lie in one dimension, bytes be contiguous (numpy.ascontiguousarray copies)";
            return Err(PyValueError::new_err(message));
        };
        Ok(Items { first, len, size, stride, nulls: None, _owner: Owner::Buffer(buffer) })
    }

    fn of_arrow(data: ArrayData, size: usize) -> PyResult<Items> {
        let expected = match size {
            1 => DataType::UInt8,
            2 => DataType::UInt16,
            4 => DataType::UInt32,
            _ => DataType::UInt64,
        };
        if *data.data_type() != expected {
            let message = format!(
                "words have {} bits: expected an Arrow array of {expected}, not {}",
                8 * size,
                data.data_type()
            );
            return Err(PyTypeError::new_err(message));
        }
        let skipped = data.offset().saturating_mul(size);
        let Some(bytes) = data.buffers().first().and_then(|buffer| buffer.as_slice().get(skipped..)) else {
            return Err(PyValueError::new_err("the Arrow array has no buffer of values"));
        };
        if bytes.len() / size < data.len() {
            return Err(PyValueError::new_err("the Arrow array's buffer of values is shorter than the array"));
        }
        let (first, len, nulls) = (bytes.as_ptr(), data.len(), data.nulls().cloned());
        Ok(Items { first, len, size, stride: size as isize, nulls, _owner: Owner::Arrow(data) })
    }

    /// Copies items, starting at an index, as far as they exist and fit, and returns their number.
    pub fn read(&self, from: usize, into: &mut [u64]) -> usize {
        let count = into.len().min(self.len.saturating_sub(from));
        if self.size == 8 && self.stride == 8 && cfg!(target_endian = "little") {
            // SAFETY: The items from `from` to `from + count` are within the memory kept alive by the owner, eight
            // bytes each and contiguous; `into` has room for as many. Bytes need no alignment, and the two regions do
            // not overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(self.first.add(8 * from), into.as_mut_ptr().cast::<u8>(), 8 * count);
            }
            return count;
        }
        for (index, into) in into[..count].iter_mut().enumerate() {
            let mut bytes = [0u8; 8];
            let offset = (from + index) as isize * self.stride;
            // SAFETY: The item is within the memory kept alive by the owner: the index is less than `len`, and the
            // owner guarantees `len` items of `size` bytes at a distance of `stride` bytes. `size` is at most 8.
            unsafe {
                std::ptr::copy_nonoverlapping(self.first.offset(offset), bytes.as_mut_ptr(), self.size);
            }
            *into = u64::from_le_bytes(bytes);
        }
        count
    }

    /// Copies the bytes of all items.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len * self.size];
        if self.stride == self.size as isize {
            // SAFETY: `len` contiguous items of `size` bytes are within the memory kept alive by the owner; the vector
            // has room for them, and the two regions do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(self.first, bytes.as_mut_ptr(), bytes.len()) };
            return bytes;
        }
        for (index, into) in bytes.chunks_exact_mut(self.size).enumerate() {
            let offset = index as isize * self.stride;
            // SAFETY: The item is within the memory kept alive by the owner: the index is less than `len`, and the
            // owner guarantees `len` items of `size` bytes at a distance of `stride` bytes. `into` has `size` bytes.
            unsafe { std::ptr::copy_nonoverlapping(self.first.offset(offset), into.as_mut_ptr(), self.size) };
        }
        bytes
    }

    /// Whether an item is not null.
    pub fn is_valid(&self, index: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(index))
    }
}

/// Converts an object that represents a whole number, such as a numpy integer; arrays do not count.
pub fn number<'py>(code: &Bound<'py, PyAny>) -> Option<Bound<'py, PyInt>> {
    match code.cast::<PyInt>() {
        Ok(number) => Some(number.clone()),
        Err(_) if code.is_instance_of::<PyBytes>() => None,
        Err(_) => code.call_method0("__index__").ok()?.cast_into().ok(),
    }
}

/// The buffer of an object, if it has one.
pub fn buffer(object: &Bound<'_, PyAny>) -> Option<PyUntypedBuffer> {
    // A view has the shape and strides that some objects, such as arrays of ctypes, leave out.
    let viewed = || PyUntypedBuffer::get(PyMemoryView::from(object)?.as_any());
    PyUntypedBuffer::get(object).or_else(|_: PyErr| viewed()).ok()
}

/// Gets the buffer of an object with code, or of the numpy array that it converts itself to, as columns of data frames
/// do.
fn open(object: &Bound<'_, PyAny>, also: &str) -> PyResult<PyUntypedBuffer> {
    if object.hasattr("mask")? && object.hasattr("filled")? {
        return Err(PyTypeError::new_err("a masked array has words that are none (`filled` replaces them)"));
    }
    let converted = || buffer(&object.call_method0("__array__").ok()?);
    buffer(object).or_else(converted).ok_or_else(|| {
        let kind = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        let help = if object.is_instance_of::<PyString>() {
            " (`parse` and `assemble` read text)"
        } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            " (numpy.array makes a buffer of a list)"
        } else {
            ""
        };
        PyTypeError::new_err(format!("expected {also}bytes, a buffer or an Arrow array, not {kind}{help}"))
    })
}

/// Rejects an incomplete word at the end.
fn whole(py: Python<'_>, bytes: usize, size: usize) -> PyResult<()> {
    match bytes % size {
        0 => Ok(()),
        rest => {
            let message = format!("{rest} of {bytes} bytes are left over at the end: a word has {size}");
            Err(error::decode(py, &message, "", None))
        }
    }
}

/// Whether a format of the buffer protocol denotes unsigned integers in native byte order, or bytes, signed or not.
fn unsigned(format: &[u8]) -> bool {
    let native = if cfg!(target_endian = "little") { b'<' } else { b'>' };
    let code = match format {
        [order, code] if matches!(order, b'@' | b'=') || *order == native => *code,
        // Bytes have no byte order.
        [_, code @ (b'B' | b'b' | b'c')] => *code,
        [code] => *code,
        _ => return false,
    };
    matches!(code, b'B' | b'b' | b'c' | b'H' | b'I' | b'L' | b'Q' | b'N')
}
